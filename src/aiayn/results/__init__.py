"""The files that one stage leaves for another: each kind's shape, its writer and its reader.

Reading is without tolerance: a key that is missing or unknown is an error that names file and key.
"""
