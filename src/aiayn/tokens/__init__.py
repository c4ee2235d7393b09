"""Text as arrays of piece ids, and the batches drawn from them."""
