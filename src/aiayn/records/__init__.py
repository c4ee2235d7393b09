"""The files that one stage leaves for another: the shape of each kind, its writer and its reader."""
