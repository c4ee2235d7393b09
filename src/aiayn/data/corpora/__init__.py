"""Sources of text: downloads, archives, treebanks, cleaning, the demo grammar."""
