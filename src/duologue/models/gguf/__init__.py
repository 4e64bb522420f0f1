"""Reading GGUF files: their header and the shapes of their tensors."""
