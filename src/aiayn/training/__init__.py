"""Training (section 5): loss, schedule, checkpoints, the loop."""
