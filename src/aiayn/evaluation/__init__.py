"""Text in, numbers with signatures out."""
