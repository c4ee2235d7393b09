"""Table 2: BLEU and training cost."""
