"""Publishing a reproduction: its README.md, and the pages about all reproductions."""
