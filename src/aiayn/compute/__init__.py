"""Where a model computes: the device, its number formats, the processes that share the work."""
