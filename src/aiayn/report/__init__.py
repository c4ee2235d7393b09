"""The paper's printed numbers, ours beside them, and the page that shows both."""
