"""Data: downloading and cleaning text, and encoding it as piece ids."""
