"""Where text comes from, how it is cleaned, and how it becomes piece ids."""
