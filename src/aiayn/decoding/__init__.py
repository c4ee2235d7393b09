"""Decoding (section 6.1): beam search with a length penalty."""
