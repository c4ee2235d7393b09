"""What the same graph does beyond the paper: a module for each use, with its tables and figures."""
