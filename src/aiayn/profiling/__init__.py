"""The cost of layers and models, counted and measured; path lengths between positions."""
