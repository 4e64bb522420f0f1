"""One turn of the caller, from its first sound to the reply that answers it.

Owns what is known of it. Decides nothing; `conversation.py` does.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.turns.words import words_of


class CallerTurn(Struct):
    """A turn. Times are samples heard."""

    number: int
    """As the conversation counts it,"""
    ear: int
    """and as it is listened to: another number where it goes on with the turn before."""
    began: int = 0
    ended: int = 0
    """The end of its speech, as far as that is known."""
    before: str = ""
    """The words of the turn it goes on with."""
    text: str = ""
    steady: int = 0
    """Samples listened to in which its first word stayed the one it is."""
    first_at: int = 0
    revision: int = 0
    """How often a reply was asked for and taken back."""
    final: bool = False
    understood: bool = True
    concluded: int | None = None
    """Up to which sample it is written down; None while it is listened to."""
    concluded_at: int = 0
    doubtful: bool = False
    """It began over a reply and may be nobody's turn."""
    noticed: int = 0
    """When it was, for doubt."""
    over: bool = False
    """It began over a reply, and nobody has judged since whether it is one."""
    heard_before: int = 0
    """Samples (24 kHz) of the reply that had been heard when it began."""
    during: int = 0
    """The reply that sounded when it began,"""
    during_at: int = 0
    """and how far (24 kHz)."""
    unwanted: bool = False
    """The caller wants no answer to it."""
    pressed: bool = False
    """The button is down."""
    forced: bool = False
    """It is at its end, whatever is heard."""
    typed: bool = False
    kept: bool = False
    foreseen: str = ""
    foreseen_at: int = 0

    @property
    def said(self) -> str:
        """All its words."""
        return f"{self.before} {self.text}".strip() if self.before else self.text.strip()

    def hear(self, text: str, until: int) -> None:
        """These are its words as far as it was listened to, which is up to this sample."""
        if words_of(text)[:1] != words_of(self.text)[:1]:
            self.first_at = until
        self.text = text
        self.steady = until - self.first_at

    def reopen(self) -> None:
        """It goes on."""
        self.concluded = None
        self.final = False
        self.understood = True
        self.unwanted = False

    def go_on_with(self, earlier: CallerTurn) -> None:
        """It is no turn of its own, but the rest of that one."""
        self.number = earlier.number
        self.revision = earlier.revision + 1
        self.before = earlier.said
