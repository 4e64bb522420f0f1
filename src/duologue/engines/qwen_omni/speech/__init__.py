"""A reply of a Qwen omni model, spoken while it is written: talker, vocoder, voices."""
