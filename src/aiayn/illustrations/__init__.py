"""Data of the figures that explain the model, computed by the model's own code and weights."""
