"""One turn of the caller, from the first sound to the reply that answers it.

A record; `machine.py` and `reply_state.py` decide what happens to it.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.turns.facts import FinalTranscript
from duologue.turns.words import words_of


class CallerTurn(Struct):
    """A turn. Times are samples received (16 kHz)."""

    number: int
    """Number in the conversation."""
    transcript: int
    """Number in the recogniser: a different one when this turn continues the turn before."""
    start: int = 0
    end: int = 0
    """Last frame of speech so far."""
    earlier_text: str = ""
    """The words of the turn that this one continues."""
    text: str = ""
    stable_for: int = 0
    """Samples recognised since its first word last changed."""
    first_word_at: int = 0
    revision: int = 0
    """How many replies to it were requested and taken back."""
    final: bool = False
    understood: bool = True
    stop_word: str = ""
    """A word that asks to stop, spotted in its sound."""
    cutoff: int | None = None
    """The sample its transcript ends at; None while it is still being transcribed."""
    cutoff_at: int = 0
    """When that was decided."""
    doubtful: bool = False
    """It began over a reply and may not be a turn: the reply is on hold until that is decided."""
    noticed_at: int = 0
    """When it became doubtful."""
    over_reply: bool = False
    """It began over a reply and has not been judged since."""
    played_at_start: int = 0
    """Samples (24 kHz) of the reply that had been heard when it began."""
    overlapped_reply: int = 0
    """The reply that was audible when it began,"""
    overlapped_position: int = 0
    """and how far that had played (24 kHz)."""
    answer_cancelled: bool = False
    """The caller wants no answer to it."""
    pressed: bool = False
    """The push-to-talk button is down."""
    forced: bool = False
    """It ends now, whether or not there is silence."""
    typed: bool = False
    committed: bool = False
    """It is part of the conversation."""
    previewed_text: str = ""
    previewed_at: int = 0

    @property
    def full_text(self) -> str:
        """All its words, including those of the turn it continues."""
        return f"{self.earlier_text} {self.text}".strip() if self.earlier_text else self.text.strip()

    def update_text(self, text: str, until: int) -> None:
        """Replace its words; the recogniser has processed its sound up to sample `until`."""
        if words_of(text)[:1] != words_of(self.text)[:1]:
            self.first_word_at = until
        self.text = text
        self.stable_for = until - self.first_word_at

    def finalize(self, transcript: FinalTranscript) -> None:
        """These are its words; they will not change unless it is reopened."""
        self.text, self.understood, self.final = transcript.text, transcript.understood, True
        self.stop_word = transcript.stop_word

    def believe_stop_word(self) -> None:
        """It was the word that was spotted, not its text."""
        self.text, self.understood = self.stop_word.capitalize(), True

    def reopen(self) -> None:
        """The caller continued after the turn's apparent end."""
        self.cutoff = None
        self.final = False
        self.understood = True
        self.stop_word = ""
        self.answer_cancelled = False

    def continue_from(self, earlier: CallerTurn) -> None:
        """Make it the rest of that turn: same number, next revision."""
        self.number = earlier.number
        self.revision = earlier.revision + 1
        self.earlier_text = earlier.full_text
