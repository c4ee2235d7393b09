"""What may differ between two identical runs: when, where, how fast. It watches, never steers."""
