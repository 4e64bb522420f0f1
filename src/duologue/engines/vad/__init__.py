"""Voice activity detectors: Silero and an energy threshold."""
