"""Sentences as arrays of piece ids."""
