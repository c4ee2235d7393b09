"""A trained run in the formats of other engines: CTranslate2, and Hugging Face's transformers."""
