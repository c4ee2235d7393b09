"""A scale tried before its night: its graph in small, what the true one takes, what this machine
lacks for it."""
