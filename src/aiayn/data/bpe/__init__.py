"""Byte-pair encoding (section 5.1): learning a vocabulary, encoding text."""
