"""What sections are made of: tables, figures, verdicts."""
