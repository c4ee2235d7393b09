"""Training (section 5): loss, schedule, checkpoints, processes, the loop."""
