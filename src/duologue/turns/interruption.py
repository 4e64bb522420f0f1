"""Whether sound over a reply takes the turn, from all that is known of it so far.

The reply is already held when this is asked, so a moment more costs little; a reply that ends for a cough costs much.
Pure: the evidence goes in, a verdict comes out. Knows no frame and no reply.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.turns.backchannel import begins_a_question, is_backchannel, says_nothing, takes_the_turn
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.echo import is_echo
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.words import words_of

Verdict = Literal["confirm", "noise", "echo", "backchannel", "not_understood"] | None
"""`confirm`, or why it is no interruption; None while that is open."""

OPENS = seconds(0.25)
"""Speech from which words are believed that stop somebody or begin a question. Whatever else a recogniser makes of the first
half second may as well be an "uh-huh"."""
STEADY = seconds(0.12)
"""So much more must have been listened to since a short word was the first one: "no" may be half of "now", or an "oh";"""
SETTLED = seconds(0.09)
"""and since the first word of a question was."""
SHORT = 3
"""Letters of a short word."""
THREE_WORDS = seconds(0.75)
"""Speech from which any three words are a turn: an acknowledgement as long has fewer."""
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
    steady: int = 0
    """How much was listened to since its first word was the same."""
    murmur: bool = False
    """It is a hum, whatever words were made of it."""
    faint: bool = False
    """It is so quiet, and nothing of it outlasted our own sound, that it may be the echo of it."""
    own: tuple[str, ...] = ()
    """What the reply said around then."""
    asked: bool = False
    """The caller was asked something: a word that only acknowledges is an answer then."""


def judge(evidence: Evidence, settings: TurnSettings) -> Verdict:
    """What the sound is."""
    if evidence.final:
        return _judge_final(evidence, settings)
    words = words_of(evidence.text)
    if not words:
        return _judge_sound(evidence, settings)
    if evidence.murmur or evidence.faint or _is_ours(evidence, settings.language):
        return None
    if is_backchannel(evidence.text, settings.language) and not evidence.asked:
        return "confirm" if evidence.spoken >= ACKNOWLEDGING else None
    if evidence.spoken >= OPENS and _speaks_up(evidence, settings.language):
        return "confirm"
    least = THREE_WORDS if len(words) > 2 else settings.overlap
    return "confirm" if evidence.spoken >= least else None


def _is_ours(evidence: Evidence, language: str) -> bool:
    """Whether these are our own words. One that stops us must be the very same: "wait" is none of "waited"."""
    if takes_the_turn(evidence.text, language):
        first = words_of(evidence.text)[0]
        if first not in words_of(" ".join(evidence.own)):
            return False
    return is_echo(evidence.text, evidence.own)


def _speaks_up(evidence: Evidence, language: str) -> bool:
    """Whether its first words are such as nobody says to let the other go on."""
    stops = takes_the_turn(evidence.text, language)
    if stops:
        return len(words_of(evidence.text)[0]) > SHORT or evidence.steady >= STEADY
    return begins_a_question(evidence.text, language) and evidence.steady >= SETTLED


def _judge_sound(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if evidence.silence >= settings.lull and evidence.spoken <= BURST:
        return "noise"
    if evidence.murmur or evidence.faint:
        return None
    # A client that plays on may hear itself: its echo is as long as the reply.
    long = settings.overlap if settings.pauses else settings.overlap_unpaused
    return "confirm" if evidence.spoken >= long else None


def _judge_final(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if not evidence.understood:
        return "not_understood"
    if not words_of(evidence.text) or (
        evidence.murmur and not takes_the_turn(evidence.text, settings.language)
    ):
        return "noise"
    quietly = evidence.faint and not takes_the_turn(evidence.text, settings.language)
    if quietly or _is_ours(evidence, settings.language):
        return "echo"
    if evidence.spoken < ACKNOWLEDGING and says_nothing(evidence.text, settings.language):
        return "noise"
    acknowledges = is_backchannel(evidence.text, settings.language) and not evidence.asked
    if acknowledges and evidence.spoken < ACKNOWLEDGING:
        return "backchannel"
    return "confirm"


def goes_on(turn: CallerTurn, earlier: CallerTurn, *, waiting: bool, settings: TurnSettings) -> bool:
    """Whether a turn that ends a reply only goes on with the turn that the reply answers, because next to nothing was heard
    of it. `waiting`: it waits for a tool or a person, which the caller knows."""
    if earlier.kept or earlier.typed:
        return False
    since = turn.began - earlier.ended
    if turn.heard_before == 0 and not waiting:
        return since <= settings.unanswered
    quick = turn.heard_before < settings.syllables and since <= settings.reopen
    return quick and not takes_the_turn(turn.text, settings.language)
