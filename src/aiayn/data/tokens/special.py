"""The pieces that stand for no text: their ids in every vocabulary."""

PAD, UNK, START, END = range(4)
