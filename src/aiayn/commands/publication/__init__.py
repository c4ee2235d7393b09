"""Publishing a reproduction: its page README.md, and the table of all reproductions."""
