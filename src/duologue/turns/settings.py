"""What a call's turn machine is told once, at its beginning: how this client plays, and how patient everybody is.

Owns the figures and why they are what they are. Durations are samples heard (16 kHz). Knows no rule.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.call_events import CallSetup

Overheard = Literal["keep", "discard"]


def seconds(duration: float) -> int:
    """So many samples heard."""
    return round(duration * HEARD_RATE)


class TurnSettings(Struct, frozen=True):
    """How turns are taken in one call. `of` makes it from the call's setup."""

    language: str = "en"
    pauses: bool = False
    """The client holds and resumes playback when told."""
    marks: bool = False
    """The client tells what it has played."""
    interruptible: bool = True
    """Replies may be talked over. The button and typed text end them in any case."""
    listens: bool = True
    """False: hold to talk."""
    overheard: Overheard = "keep"
    """What becomes of speech during a reply that may not be interrupted: the next turn, or nothing."""

    pre_roll: int = seconds(0.3)
    """Sound before an onset that belongs to it: a word's first consonants are no speech to the detector."""

    soft_end: int = seconds(0.224)
    """Silence after which a reply may be begun for nothing."""
    lead: int = seconds(0.8)
    """How long before a turn is sure its reply is begun: later words seldom come, and most replies sound by then."""
    reopen: int = seconds(2.0)
    """Speech so soon after a turn's end, over a reply's first syllables, goes on with that turn."""
    unanswered: int = seconds(7.0)
    """The same while nothing of the reply was heard."""
    syllables: int = round(0.6 * SPOKEN_RATE)
    """Samples (24 kHz) of a reply that are its first syllables: one or two words."""
    turn_limit: int = seconds(120)
    """A turn that ends in no silence, such as a television's, ends here."""

    lull: int = seconds(0.192)
    """Silence after which the sound that may be an interruption is over, and judged by its words."""
    overlap: int = seconds(0.85)
    """Speech over a reply that is no backchannel any more."""
    overlap_unpaused: int = seconds(1.0)
    """The same without a word, while the reply sounds on: it may be its echo."""
    hold_limit: int = seconds(2.0)
    """A reply is not held longer for somebody who may be interrupting."""

    settle: int = seconds(0.25)
    """How long the client's last played mark is waited for after a cut."""
    final_limit: int = seconds(3.0)
    """The final words of a turn are not waited for longer; what was told so far stands."""
    filler: int = seconds(1.5)
    slow: int = seconds(8.0)
    give_up: int = seconds(20.0)
    wait_limit: int = seconds(180)
    """A tool or a person is not waited for longer."""
    unplayed: int = seconds(2.0)
    """A reply whose sound was all sent counts as heard so long after it should have been."""
    foresee_every: int = seconds(0.5)

    @classmethod
    def of(cls, setup: CallSetup) -> TurnSettings:
        """The settings of a call that begins like this."""
        return cls(
            language=setup.language or "en",
            pauses=setup.pauses,
            marks=setup.marks,
            interruptible=setup.interruptible,
            listens=setup.listens,
        )
