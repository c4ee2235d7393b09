"""The demo grammar: one abstract clause, written out in English, German and French."""
