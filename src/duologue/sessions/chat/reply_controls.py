"""What a client may still tell a reply that runs: that it has thought enough.

The worker's connection makes one for each reply; `chat.py` looks at it after each piece.
"""

from __future__ import annotations


class ReplyControls:
    """The controls of one reply."""

    def __init__(self) -> None:
        self._end_thought = False

    def end_thought(self) -> None:
        """The open thought is to be closed, or the one that begins the reply as soon as it is there."""
        self._end_thought = True

    @property
    def thought_must_end(self) -> bool:
        """Whether the thought that is open now has to be closed."""
        return self._end_thought

    def forget(self) -> None:
        """The thought was closed, or the answer has begun: what was said of it does not hold for the next one."""
        self._end_thought = False
