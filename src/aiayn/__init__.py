"""The experiments of "Attention Is All You Need" (Vaswani et al., 2017), re-run and re-measured."""
