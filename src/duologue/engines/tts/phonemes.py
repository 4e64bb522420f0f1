"""Text as the phonemes that speech models were trained on: espeak-ng's, with the text's own punctuation between them.

Called by `sherpa_speaker`. espeak-ng pronounces a stretch without marks at a time; a model needs the marks for its pauses
and its melody. Pure: the pronouncing is a function that is passed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_MARKS = re.compile(r"([.,;:!?\u2026\u2014]+)")
_SWITCH = re.compile(r"\([a-z]{2,3}(?:-[a-z]+)*\)")
"""espeak-ng's note that it pronounces a word as in another language."""


def phonemes_of(text: str, pronounce: Callable[[str], str], *, decompose: bool = False) -> str:
    """The phonemes of a text, with its marks; "" where there is nothing to say. `decompose`: a letter and its accent are two
    signs, as Piper's models have them."""
    parts: list[str] = []
    for number, part in enumerate(_MARKS.split(text)):
        if number % 2:
            # Several marks are one pause; the last decides: "...", "?!".
            if parts and not _MARKS.match(parts[-1][-1]):
                parts[-1] += part[-1]
        elif any(map(str.isalnum, part)):
            spoken = " ".join(_SWITCH.sub("", pronounce(part.strip())).split())
            if spoken:
                parts.append(spoken)
    whole = " ".join(parts)
    return unicodedata.normalize("NFD", whole) if decompose else whole
