"""The thinker of an omni model: a sequence, the steps that read and write it, and the choice of tokens."""
