"""Constraints as GBNF, the grammars that llama.cpp reads: JSON schemas, regular expressions, and what a grammar may cost the engine."""
