"""What replaces parts of the model and the loss on a GPU, and computes the same by fewer kernels
(docs/decisions/gpu-speed.md)."""
