"""Phrase-structure trees: reading, linearizing, and restoring a tree from a model's output."""
