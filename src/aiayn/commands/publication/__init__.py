"""What lets others use a reproduction's folder: a page to begin with, and metadata for programs."""
