"""What replaces parts of the model and the loss on a GPU, and computes the same in fewer kernels and
bytes (docs/decisions/gpu-speed.md)."""
