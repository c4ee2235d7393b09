"""The ids of the special pieces, in every vocabulary."""

PAD, UNK, START, END = range(4)
