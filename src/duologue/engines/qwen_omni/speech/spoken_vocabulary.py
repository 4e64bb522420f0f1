"""Which tokens a model does not write while it speaks: what nobody would read aloud. Pure.

Used by `reply_speech`. Found by the text of each token, so that it holds for every tokenizer: Markdown, symbols of code, brackets,
pictographs and control characters. A talker would stumble over them, and a model that cannot write them says things in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

SYMBOLS = frozenset("*#`~_|<>\\^=@$&/")
"""Of Markdown, code, formulas and addresses."""
QUOTES = frozenset("‚„")
"""Opening quotation marks, which Unicode takes for brackets."""
SPOKEN_SIGNS = frozenset("°")
"""Pictographs that have a word in every language."""
RUNS = re.compile(r"--|::|\.\.\.\.| {3}|[\t\r]")
"""Rules and options, paths of names, rows of dots, indentation."""


def unspeakable(text: str) -> bool:
    """Whether a token of this text has no place in speech."""
    return RUNS.search(text) is not None or any(map(_unspeakable, text))


def unspeakable_tokens(
    texts: Sequence[str], *, control: Collection[int], ends: Collection[int], size: int
) -> frozenset[int]:
    """The ids, of a model with `size` of them, that are not written while speaking. `texts` are those of the tokens from 0 on; ids
    beyond have none. `control` tokens are never written, but the `ends` of a reply always may be."""
    found = {number for number, text in enumerate(texts) if unspeakable(text)}
    return frozenset(found.union(control, range(len(texts), size)).difference(ends))


def _unspeakable(character: str) -> bool:
    if character.isalnum() or character in " \n":
        return False
    if character in SYMBOLS:
        return True
    kind = unicodedata.category(character)
    if kind in ("Ps", "Pe"):
        return character not in QUOTES
    # An incomplete character is U+FFFD, a pictograph by its kind: much of Chinese is written with such tokens.
    if kind == "So":
        return character not in SPOKEN_SIGNS and character != "\ufffd"
    return kind in ("Cc", "Co")
