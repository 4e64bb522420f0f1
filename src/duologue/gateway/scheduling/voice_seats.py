"""What calls and speech share about the voice pool: the model name for its seats, and the refusal if there is none."""

SEAT = "voice"
"""The model name to lease a seat of the voice worker."""
NO_VOICE = (
    "This server has no voice. Install it with `pip install 'duologue[voice]'` and restart the server; "
    "`voice.enabled` switches it on and off."
)
