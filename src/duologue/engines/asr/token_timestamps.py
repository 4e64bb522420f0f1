"""Words with timestamps from a recogniser's tokens with timestamps.

Called by `sherpa`. Owns where one word ends and the next begins: a token that begins a word begins with a space or with
SentencePiece's sign for one; a letter of a script without spaces is a word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.speech.word_spans import SPACELESS
from duologue.values.speech import TimedWord

LAST = 0.24
"""Seconds a word lasts at most when only its beginning is known: about a syllable."""
_SPACE = "▁"
_SPACELESS = re.compile(rf"[{SPACELESS}]")


def words_of(
    tokens: Sequence[str], starts: Sequence[float], durations: Sequence[float] = (), *, end: float
) -> tuple[TimedWord, ...]:
    """The words that `tokens` spell, beginning at `starts` seconds; some models know `durations`. `end` is the sound's.
    Empty where the numbers of tokens and times differ."""
    if len(tokens) != len(starts) or (durations and len(durations) != len(tokens)):
        return ()
    words: list[TimedWord] = []
    text, begin, last = "", 0.0, 0.0
    for number, (token, start) in enumerate(zip(tokens, starts, strict=True)):
        spelt = token.replace(_SPACE, " ")
        begins = spelt.startswith(" ") or bool(_SPACELESS.match(spelt) or _SPACELESS.match(text[-1:]))
        if begins and text.strip():
            words.append(_word(text, begin, min(last, start)))
            text = ""
        if not text.strip():
            text, begin = "", start
        text += spelt
        after = starts[number + 1] if number + 1 < len(starts) else end
        last = start + durations[number] if durations else min(after, start + LAST)
    if text.strip():
        words.append(_word(text, begin, min(last, end)))
    return tuple(words)


def _word(text: str, start: float, end: float) -> TimedWord:
    return TimedWord(text.strip(), round(float(start), 3), round(float(max(start, end)), 3))
