"""Requests as users type them: case, punctuation and typing mistakes vary, but never in what fills a slot.

The filled-in text stays intact, so a turn may be `exact` and still look typed by a person.
"""

import re
from collections.abc import Mapping
from random import Random

from duologue_mini.text.phrases import pick
from duologue_mini.text.typos import CLOSERS, OPENERS

_SLOT = re.compile(r"\$([a-z]+)")


def fill_slots(text: str, fills: Mapping[str, object]) -> str:
    """The text with every `$name` replaced in one pass, since a value may contain a dollar sign."""
    return _SLOT.sub(lambda match: str(fills.get(match[1], match[0])), text)


def request(random: Random, patterns: list[str], **fills: object) -> str:
    """Draws a wording, varies its form, then fills in the slots."""
    return fill_slots(loose(random, pick(random, patterns)), fills).strip()


def loose(random: Random, text: str) -> str:
    """The wording as a user may type it; slots stay intact."""
    if random.random() < 0.06 and not text.startswith(("$", '"', "'")):
        text = random.choice(OPENERS) + text[:1].lower() + text[1:]
    if random.random() < 0.3:
        text = text.lower()
    if random.random() < 0.3:
        text = text.rstrip(".?!")
    if random.random() < 0.05 and "\n" not in text and not _ends_open(text):
        text = text.rstrip(".?!") + random.choice(CLOSERS)
    if random.random() < 0.04:
        text = _slip(random, text)
    return text


def _ends_open(text: str) -> bool:
    """Whether the text ends in an unquoted slot, after which a closing word would be read as part of it."""
    last = text.rstrip(".?! ").rpartition(" ")[2]
    return "$" in last and not last.endswith(('"', "'"))


def _slip(random: Random, text: str) -> str:
    spots = [match for match in re.finditer(r"(?<![$\w])[a-zA-Z]{4,}", text) if "$" not in match[0]]
    if not spots:
        return text
    spot = random.choice(spots)
    index = random.randrange(spot.start() + 1, spot.end() - 1)
    if random.random() < 0.5:
        return text[:index] + text[index + 1] + text[index] + text[index + 2 :]
    return text[:index] + text[index + 1 :]
