"""What layers and models cost, counted and measured; how far a signal travels in them."""
