"""Changes of a word, a line or a list, and questions about them. Used by the skill `rewriting`."""
