"""Any language model that transformers can load from a folder, its replies written together in one batch."""
