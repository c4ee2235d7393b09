"""The page, and what stands on it around the sections."""
