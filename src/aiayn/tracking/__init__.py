"""MLflow at the edge: files are the truth, MLflow mirrors them, and no failure of it stops work."""
