"""Phrase-structure trees: read, written as a line of symbols, and restored from any such line."""
