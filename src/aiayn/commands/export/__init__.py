"""Export of a trained run to CTranslate2, Hugging Face's transformers and ONNX."""
