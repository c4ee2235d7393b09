"""The files between stages: the schema, the writer and the reader of each kind.

Reading is strict: a missing or unknown key is an error that names the file and the key.

Each kind has a FORMAT, which is repeated in the docstring of the stages that write it. Increase it
in both places if a writer changes its output or a reader no longer accepts old files: these stages,
and all stages downstream, then run again. Run metadata may only grow, by fields with a default,
because no training is repeated for it.
"""
