"""Decoding: beam search with a length penalty (section 6.1), and classification."""
