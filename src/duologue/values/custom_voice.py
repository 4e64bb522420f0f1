"""A voice of one's own: a recording that a cloning speaker imitates, and what its owner agreed to.

Stored by `store.sound.custom_voices`, named by its id wherever a request names a voice.
"""

from __future__ import annotations

from msgspec import Struct

PREFIX = "voice_"
"""What every id begins with; no voice of an engine does."""


class CustomVoice(Struct, frozen=True):
    """A recording and its description. `duration` is in ms; `text`: what is said in it, "" where nobody wrote it down; `shared`:
    everyone on the server may speak with it; `statement`: what its owner, `user`, agreed to at `agreed`. Times in ms since 1970."""

    id: str
    user: str
    name: str
    duration: int
    statement: str
    text: str = ""
    shared: bool = False
    agreed: int = 0
    created: int = 0


def is_custom(voice: str) -> bool:
    """Whether a voice of a request is the id of a custom one."""
    return voice.startswith(PREFIX)
