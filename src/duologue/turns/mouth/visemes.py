"""What the mouth does for a sound of speech: the shape it goes to, and how much of that shape it insists on.

Owns the table from the letters of the International Phonetic Alphabet to shapes. Called by `curve`. The groups are those of the visemes in
MPEG-4 (ISO/IEC 14496-2, table C-1), with the degree of opening of the vowels by the IPA's own chart.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Kind = Literal["vowel", "consonant", "closure"]
"""A closure (lips on lips or on teeth) is reached in full, however short it is and whatever is beside it."""


class Viseme(Struct, frozen=True):
    """The shape of one sound. The weights are those of `MouthKey`, `wide` from -100 to 100, the others from 0 to 100. `lips` and `jaw`, from
    0 to 1: how much of `wide` and of `open` is its own; the rest is that of the sounds beside it."""

    kind: Kind
    open: int = 0
    wide: int = 0
    press: int = 0
    tuck: int = 0
    tongue: int = 0
    lips: float = 1.0
    jaw: float = 1.0
    held: float = 1.0
    """The share of its time at which a closure is left: the burst of a "p" is heard through open lips."""


def _vowels(open: int, wide: int, letters: str) -> dict[str, Viseme]:
    return dict.fromkeys(letters, Viseme("vowel", open, wide))


_SHAPES: dict[str, Viseme] = (
    _vowels(95, 10, "aäɐ")
    | _vowels(90, 0, "ɑ")
    | _vowels(80, 25, "æ")
    | _vowels(75, -35, "ɒɶ")
    | _vowels(60, 10, "ʌɜɝɞ")
    | _vowels(55, 40, "ɛ")
    | _vowels(60, -55, "ɔ")
    | _vowels(50, -55, "œ")
    | _vowels(42, 50, "e")
    | _vowels(45, -75, "o")
    | _vowels(35, -70, "øɵ")
    | _vowels(38, 15, "ɤɘ")
    | _vowels(30, 50, "ɪ")
    | _vowels(22, 80, "i")
    | _vowels(24, 35, "ɨɯ")
    | _vowels(26, -70, "ʊʏ")
    | _vowels(20, -95, "u")
    | _vowels(18, -85, "yʉ")
    | {
        "ə": Viseme("vowel", 38, 5, lips=0.6, jaw=0.8),
        "ɚ": Viseme("vowel", 38, -20, lips=0.8, jaw=0.8),
    }
    | dict.fromkeys("bmɓʙ", Viseme("closure", press=100, lips=0.0))
    | {"p": Viseme("closure", press=100, lips=0.0, held=0.6)}
    | dict.fromkeys("fvɱ", Viseme("closure", 8, tuck=100, lips=0.2))
    | dict.fromkeys("ʋⱱ", Viseme("consonant", 14, tuck=70, lips=0.3))
    | dict.fromkeys("ɸβ", Viseme("consonant", 6, -20, press=60, lips=0.6))
    | dict.fromkeys("wʍɥ", Viseme("consonant", 14, -95))
    | dict.fromkeys("ʃʒʧʤ", Viseme("consonant", 22, -50, lips=0.8, jaw=0.8))
    | dict.fromkeys("ʂʐɧ", Viseme("consonant", 22, -35, lips=0.7, jaw=0.8))
    | dict.fromkeys("ɕʑʨʥ", Viseme("consonant", 18, 10, lips=0.6, jaw=0.8))
    | dict.fromkeys("szʦʣ", Viseme("consonant", 12, 40, lips=0.6, jaw=0.9))
    | dict.fromkeys("θð", Viseme("consonant", 22, 10, tongue=100, lips=0.3, jaw=0.8))
    | dict.fromkeys("tdnʈɖɳɗ", Viseme("consonant", 18, 10, tongue=50, lips=0.2, jaw=0.6))
    | dict.fromkeys("lɫɭɬɮɺ", Viseme("consonant", 30, 10, tongue=75, lips=0.2, jaw=0.6))
    | dict.fromkeys("rɾɽ", Viseme("consonant", 26, 0, tongue=40, lips=0.2, jaw=0.4))
    | dict.fromkeys("ɹɻ", Viseme("consonant", 22, -40, lips=0.5, jaw=0.6))
    | dict.fromkeys("j", Viseme("consonant", 20, 65, lips=0.7, jaw=0.8))
    | dict.fromkeys("cɟçʝɲʎ", Viseme("consonant", 22, 40, tongue=25, lips=0.4, jaw=0.6))
    | dict.fromkeys("kgɡŋxɣɠɰ", Viseme("consonant", 24, 0, lips=0.1, jaw=0.4))
    | dict.fromkeys("qχʁɢɴʀʛ", Viseme("consonant", 34, 0, lips=0.1, jaw=0.4))
    | dict.fromkeys("hɦħʕʔʡ", Viseme("consonant", 30, 0, lips=0.0, jaw=0.1))
)
UNKNOWN = Viseme("consonant", 26, 0, lips=0.1, jaw=0.4)
"""For a sign that is in no table: a little open, and like the sounds beside it."""
_SIBILANTS = "szʃʒʂʐɕʑ"


@lru_cache(maxsize=2048)
def visemes_of(symbol: str) -> tuple[Viseme, ...]:
    """The shapes of a sound, one after the other: none for silence, two for a diphthong, for "pf" or "əl"; an affricate is its fricative.
    Marks of length, stress, nasality and the like change nothing."""
    known = [each for each in unicodedata.normalize("NFD", symbol) if each in _SHAPES]
    if not known:
        # A modifier letter (Lm) alone, such as the mark of length, is no sound.
        said = any(unicodedata.category(each) in ("Ll", "Lu", "Lo") for each in symbol)
        return (UNKNOWN,) if said else ()
    first, last = known[0], known[-1]
    if _SHAPES[first] == _SHAPES[last] or (last in _SIBILANTS and first in "tdʈɖ"):
        return (_SHAPES[last],)
    return (_SHAPES[first], _SHAPES[last])
