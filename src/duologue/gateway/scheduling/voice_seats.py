"""What calls and speech share about the voice worker: the name its seats are leased under, and the refusal without one."""

SEAT = "voice"
"""The name under which a voice worker's seats are asked for."""
NO_VOICE = (
    "This server has no voice. Install it with `pip install 'duologue[voice]'` and start the server again; "
    "`voice.enabled` switches it on and off."
)
