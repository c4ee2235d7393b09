"""The demo grammar: abstract sentences, realized in English, German and French."""
