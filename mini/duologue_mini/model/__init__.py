"""The network and its files: tokenizer, chat template, checkpoints, GGUF."""
