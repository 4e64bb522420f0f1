"""Settings of a call's turn machine: what the client can do, and the time limits with their reasons.

Fixed for the length of a call. Durations are samples (16 kHz).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.call_events import CallSetup

Overheard = Literal["keep", "discard"]


def seconds(duration: float) -> int:
    """Samples in this many seconds."""
    return round(duration * HEARD_RATE)


class TurnSettings(Struct, frozen=True):
    """How turns are taken in one call. `of` makes it from the call's setup."""

    language: str = "en"
    pauses: bool = False
    """The client can hold and resume playback."""
    marks: bool = False
    """The client reports what it has played."""
    interruptible: bool = True
    """Replies end when the caller talks over them. The button and typed text end them in any case."""
    listens: bool = True
    """False: push to talk."""
    by_sound: bool = False
    """The voice can estimate from the sound whether a turn is complete."""
    spots_stop_words: bool = False
    """The recogniser spots words that ask to stop, in however short a sound: a burst is judged by its final transcript, which comes
    at once."""
    overheard: Overheard = "keep"
    """What speech during an uninterruptible reply becomes: the next turn, or nothing."""

    pre_roll: int = seconds(0.3)
    """Sound before an onset that belongs to it: the detector does not take a word's first consonants for speech."""

    soft_end: int = seconds(0.224)
    """Silence after which a reply may be started, possibly in vain."""
    lead: int = seconds(0.8)
    """How long before a turn is certainly over its reply is started: more words seldom follow, and most replies are ready
    to play by then."""
    reopen: int = seconds(2.0)
    """Speech this soon after a turn's end, over a reply's first syllables, continues that turn."""
    unanswered: int = seconds(7.0)
    """The same while none of the reply was heard."""
    syllables: int = round(0.6 * SPOKEN_RATE)
    """Samples (24 kHz) of a reply that count as its first syllables: one or two words."""
    turn_limit: int = seconds(120)
    """Length at which a turn is ended without silence: a television never pauses."""

    lull: int = seconds(0.192)
    """Silence after which a possible interruption is over and judged by its words."""
    overlap: int = seconds(0.85)
    """Speech over a reply that is too long for a backchannel."""
    overlap_unpaused: int = seconds(1.0)
    """The same without a word, for a client that cannot pause: it may be the reply's echo."""
    hold_limit: int = seconds(2.0)
    """How long a reply stays on hold for a possible interruption."""

    settle: int = seconds(0.25)
    """How long to wait for the client's last mark after a cut."""
    final_limit: int = seconds(3.0)
    """How long to wait for a final transcript; the partial one stands in for it after that."""
    filler: int = seconds(1.5)
    slow: int = seconds(8.0)
    give_up: int = seconds(20.0)
    wait_limit: int = seconds(180)
    """How long to wait for a tool or a person."""
    unplayed: int = seconds(2.0)
    """A reply that was sent completely counts as heard this long after it should have been."""
    preview_every: int = seconds(0.5)

    @classmethod
    def of(cls, setup: CallSetup) -> TurnSettings:
        """The settings for a call with this setup."""
        return cls(
            language=setup.language or "en",
            pauses=setup.pauses,
            marks=setup.marks,
            interruptible=setup.interruptible,
            listens=setup.listens,
        )
