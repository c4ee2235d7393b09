"""What the same graph does beyond the paper: a module a use, each with its tables and figures."""
