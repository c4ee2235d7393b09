"""`aiayn verify`: compares a scale's results with a published reproduction."""
