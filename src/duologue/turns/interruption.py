"""Whether sound over a reply takes the turn, from all that is known of it so far.

The reply is already held when this is asked, so a moment more costs little; a reply that ends for a cough costs much.
Pure: the evidence goes in, a verdict comes out. Knows no frame and no reply.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.turns.backchannel import is_backchannel, takes_the_turn
from duologue.turns.echo import is_echo
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.turn import Turn
from duologue.turns.words import words_of

Verdict = Literal["confirm", "noise", "echo", "backchannel", "not_understood"] | None
"""`confirm`, or why it is no interruption; None while that is open."""

TWO_WORDS = seconds(0.25)
"""Speech from which two words of somebody else's are believed,"""
ONE_WORD = seconds(0.4)
"""and from which a single one is: a recogniser makes a word of many a cough."""
BURST = seconds(0.25)
"""Sound of no more than this, without a word, is a cough or a click."""
ACKNOWLEDGING = seconds(1.2)
"""Speech over a reply is no acknowledgement any more, whatever its words."""


class Evidence(Struct, frozen=True):
    """What is known of sound that began while a reply sounded. Durations in samples heard."""

    spoken: int
    """From its beginning to its last frame of speech."""
    silence: int
    """Since then."""
    text: str = ""
    final: bool = False
    """The text is all there will be."""
    understood: bool = True
    own: tuple[str, ...] = ()
    """What the reply said around then."""


def judge(evidence: Evidence, settings: TurnSettings) -> Verdict:
    """What the sound is."""
    if evidence.final:
        return _judge_final(evidence, settings)
    words = words_of(evidence.text)
    if not words:
        return _judge_sound(evidence, settings)
    if is_echo(evidence.text, evidence.own):
        return None
    if is_backchannel(evidence.text, settings.language):
        return "confirm" if evidence.spoken >= ACKNOWLEDGING else None
    if takes_the_turn(evidence.text, settings.language):
        return "confirm"
    least = TWO_WORDS if len(words) > 1 else ONE_WORD
    return "confirm" if evidence.spoken >= least else None


def _judge_sound(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if evidence.silence >= settings.lull and evidence.spoken <= BURST:
        return "noise"
    # A client that plays on may hear itself: its echo is as long as the reply.
    long = settings.overlap if settings.pauses else settings.overlap_unpaused
    return "confirm" if evidence.spoken >= long else None


def _judge_final(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if not evidence.understood:
        return "not_understood"
    if not words_of(evidence.text):
        return "noise"
    if is_echo(evidence.text, evidence.own):
        return "echo"
    if is_backchannel(evidence.text, settings.language) and evidence.spoken < ACKNOWLEDGING:
        return "backchannel"
    return "confirm"


def goes_on(turn: Turn, earlier: Turn, *, waiting: bool, settings: TurnSettings) -> bool:
    """Whether a turn that ends a reply only goes on with the turn that the reply answers, because next to nothing was heard
    of it. `waiting`: it waits for a tool or a person, which the caller knows."""
    if earlier.kept or earlier.typed:
        return False
    since = turn.began - earlier.ended
    if turn.heard_before == 0 and not waiting:
        return since <= settings.unanswered
    quick = turn.heard_before < settings.syllables and since <= settings.reopen
    return quick and not takes_the_turn(turn.text, settings.language)
