"""The numbers in the figures that explain the model, from the model's own code and weights."""
