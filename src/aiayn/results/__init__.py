"""The files between stages: the schema, the writer and the reader of each kind.

Reading is strict: a missing or unknown key is an error that names the file and the key.
"""
