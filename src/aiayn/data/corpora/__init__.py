"""Where text comes from: the catalogue, fetching, archives, cleaning, the demo grammar."""
