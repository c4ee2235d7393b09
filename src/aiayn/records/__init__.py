"""The files that one stage leaves for another: each kind's shape, its writer and its reader."""
