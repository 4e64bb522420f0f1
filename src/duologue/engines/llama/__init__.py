"""The embedded default language engine: llama.cpp through xllamacpp."""
