"""The Transformer of section 3. Shapes are written as suffixes; transformer.py has the legend."""
