"""Table 1: what a layer costs and how far a signal travels in it."""
