"""`aiayn verify`: compares the results of a project with a published reproduction."""
