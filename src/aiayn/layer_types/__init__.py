"""The layers that table 1 compares self-attention with (section 4)."""
