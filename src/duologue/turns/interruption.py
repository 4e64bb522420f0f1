"""Whether sound over a reply takes the turn, from everything known about it so far.

`machine.py` asks on every fact while a turn is doubtful. The reply is already on hold by then, so a moment more costs
little, while ending a reply for a cough costs much. Pure functions of the evidence.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from duologue.turns.backchannel import begins_question, is_backchannel, is_stray_word, takes_turn
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.echo import is_echo
from duologue.turns.settings import TurnSettings, seconds
from duologue.turns.words import words_of

Verdict = Literal["confirm", "noise", "echo", "backchannel", "not_understood"] | None
"""`confirm`, or why it is not an interruption; None while undecided."""

OPENS = seconds(0.25)
"""Speech needed before words that stop us or begin a question are believed. Other words in the first half second may
well be a misrecognised "uh-huh"."""
STEADY = seconds(0.12)
"""How long a short first word must be stable, in recognised sound: "no" may become "now", or may have been an "oh"."""
SETTLED = seconds(0.09)
"""The same for the first word of a question."""
SHORT = 3
"""Letters of a short word."""
THREE_WORDS = seconds(0.75)
"""Speech after which any three words are a turn: a backchannel of that length has fewer."""
BURST = seconds(0.25)
"""Sound up to this length without a word is a cough or a click, unless a word that asks to stop was spotted in it: of a "stop" of half a
second the detector may take 0.2 s for speech."""
SPOTTED = seconds(0.15)
"""Speech needed before such a word is believed. None was spotted in 80 coughs and hums (`engines/sphinx/stop_words.py`)."""
ACKNOWLEDGING = seconds(1.2)
"""Speech longer than this is not a backchannel, whatever its words."""


class Evidence(Struct, frozen=True):
    """What is known about sound that began while a reply was playing. Durations in samples (16 kHz)."""

    spoken: int
    """From its beginning to its last frame of speech."""
    silence: int
    """Silence since then."""
    text: str = ""
    final: bool = False
    """The text will not change."""
    understood: bool = True
    stop_word: str = ""
    """A word that asks to stop, spotted in the sound whatever its text is; known once the text is final."""
    stable_for: int = 0
    """Samples recognised since the first word last changed."""
    murmur: bool = False
    """It sounds like a hum, whatever words were recognised in it."""
    faint: bool = False
    """It is quiet enough to be the echo of our own sound, and none of it has outlasted that sound."""
    own: tuple[str, ...] = ()
    """The words the reply was saying around then."""
    question_pending: bool = False
    """The caller was asked a question, so "okay" is an answer and not a backchannel."""


def judge(evidence: Evidence, settings: TurnSettings) -> Verdict:
    """The verdict on the sound."""
    if evidence.final:
        return _judge_final(evidence, settings)
    words = words_of(evidence.text)
    if not words:
        return _judge_sound(evidence, settings)
    if evidence.murmur or evidence.faint or _is_ours(evidence, settings.language):
        return None
    if is_backchannel(evidence.text, settings.language) and not evidence.question_pending:
        return "confirm" if evidence.spoken >= ACKNOWLEDGING else None
    if evidence.spoken >= OPENS and _speaks_up(evidence, settings.language):
        return "confirm"
    least = THREE_WORDS if len(words) > 2 else settings.overlap
    return "confirm" if evidence.spoken >= least else None


def judge_late(evidence: Evidence, settings: TurnSettings) -> Verdict:
    """The verdict on what is known although it may still change; None where no word is."""
    return judge(structs.replace(evidence, final=True), settings) if words_of(evidence.text) else None


def _is_ours(evidence: Evidence, language: str) -> bool:
    """Whether these are our own words. A word that stops us must match exactly: "wait" does not match "waited"."""
    if takes_turn(evidence.text, language):
        first = words_of(evidence.text)[0]
        if first not in words_of(" ".join(evidence.own)):
            return False
    return is_echo(evidence.text, evidence.own)


def _speaks_up(evidence: Evidence, language: str) -> bool:
    """Whether its first words are ones nobody uses as a backchannel."""
    stops = takes_turn(evidence.text, language)
    if stops:
        return len(words_of(evidence.text)[0]) > SHORT or evidence.stable_for >= STEADY
    return begins_question(evidence.text, language) and evidence.stable_for >= SETTLED


def _judge_sound(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if evidence.silence >= settings.lull and evidence.spoken <= BURST:
        return None if settings.spots_stop_words else "noise"
    if evidence.murmur or evidence.faint:
        return None
    # A client that cannot pause may hear itself, and its echo lasts as long as the reply.
    long = settings.overlap if settings.pauses else settings.overlap_unpaused
    return "confirm" if evidence.spoken >= long else None


def _judge_final(evidence: Evidence, settings: TurnSettings) -> Verdict:
    if asks_to_stop(evidence, settings.language):
        return "confirm"
    if not evidence.understood:
        return "not_understood"
    if settings.spots_stop_words and _is_burst(evidence, settings.language):
        return "noise"
    if not words_of(evidence.text) or (evidence.murmur and not takes_turn(evidence.text, settings.language)):
        return "noise"
    quietly = evidence.faint and not takes_turn(evidence.text, settings.language)
    if quietly or _is_ours(evidence, settings.language):
        return "echo"
    if evidence.spoken < ACKNOWLEDGING and is_stray_word(evidence.text, settings.language):
        return "noise"
    acknowledges = is_backchannel(evidence.text, settings.language) and not evidence.question_pending
    if acknowledges and evidence.spoken < ACKNOWLEDGING:
        return "backchannel"
    return "confirm"


def _is_burst(evidence: Evidence, language: str) -> bool:
    """Whether it is as short as a cough, so that other words than those that stop us are a misrecognised one."""
    short = evidence.spoken <= BURST and not evidence.question_pending
    return short and not takes_turn(evidence.text, language)


def asks_to_stop(evidence: Evidence, language: str) -> bool:
    """Whether a word that asks to stop was spotted, and the text says nothing against it: a recogniser that expects sentences
    takes "stop" for an "ah", or understands nothing. Two words are believed, because "no" is in "no way" and in "i know"."""
    if not evidence.stop_word or evidence.spoken < SPOTTED or evidence.murmur or evidence.faint:
        return False
    words = words_of(evidence.text)
    says_little = len(words) == 1 and (
        is_backchannel(evidence.text, language) or is_stray_word(evidence.text, language)
    )
    is_ours = evidence.stop_word in words_of(" ".join(evidence.own))
    return not is_ours and (says_little or not evidence.understood or not words)


def continues(turn: CallerTurn, earlier: CallerTurn, *, waiting: bool, settings: TurnSettings) -> bool:
    """Whether a turn that ends a reply is the rest of the turn that the reply answers, because next to nothing was heard of
    it. `waiting`: the reply waits for a tool or a person; the caller knows that it is being worked on."""
    if earlier.committed or earlier.typed:
        return False
    since = turn.start - earlier.end
    if turn.played_at_start == 0 and not waiting:
        return since <= settings.unanswered
    quick = turn.played_at_start < settings.syllables and since <= settings.reopen
    return quick and not takes_turn(turn.text, settings.language)
