"""Is what was made here what others published? A project beside a reproduction, cell by cell."""
