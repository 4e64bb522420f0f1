"""What a change of a word, a text or a list is made of, and how somebody puts the thing beside the wish.

Knows nothing of any particular change.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import fill_slots, loose


@dataclass(frozen=True)
class Work:
    """A change done: the answer, the way there, and the answer once the way was thought through.

    `outcome` is the new text where there is one, for a change after this change; `fills` are what the wish names.
    """

    answer: str
    thought: str
    brief: str | None = None
    outcome: str | list[str] | None = None
    fills: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One kind of change. In `asks`, `$o` is the thing to change; `again` asks for it on what was just made."""

    asks: list[str]
    work: Callable[[Random, str], Work | None]
    again: list[str] = field(default_factory=list)
    weight: int = 3


@dataclass(frozen=True)
class ListChange:
    """The same for a list of items."""

    asks: list[str]
    work: Callable[[Random, list[str]], Work | None]
    again: list[str] = field(default_factory=list)
    weight: int = 3
    numbers: bool | None = None  # only for lists of numbers, only for others, or for all


QUOTES = ['"{}"', '"{}"', '"{}"', "'{}'", "`{}`", "“{}”", "«{}»", "*{}*"]
BREAKS = [": ", ": ", ": ", ":\n", ":\n\n", " - ", "\n"]


def quote(random: Random, text: str, *, bare: float = 0.0) -> str:
    """The text in some kind of quotes, or bare as often as `bare` says."""
    if random.random() < bare:
        return text
    style = random.choice(QUOTES)
    return style.format(text) if style[0] not in text else f'"{text}"'


def phrase_request(
    random: Random, asks: list[str], thing: str, nouns: list[str], *, bare: float, fills: dict[str, object]
) -> str:
    """The wish with the thing inside it, after it or before it."""
    wish = loose(random, pick(random, asks))
    where = random.random()
    if "\n" not in thing and where < 0.5:
        noun = random.choice(["", "", "", f"the {random.choice(nouns)} "])
        return fill_slots(wish, {**fills, "o": noun + quote(random, thing, bare=bare)})
    wish = fill_slots(wish, {**fills, "o": _pointer(random, random.choice(nouns))})
    quotation = quote(random, thing, bare=0.8) if "\n" not in thing else thing
    if (
        where < 0.9 or quotation[0].isupper()
    ):  # a message may lose the case of its first letter, a thing never
        return wish.rstrip(".?!, ") + random.choice(BREAKS if "\n" not in thing else BREAKS[3:5]) + quotation
    wish = wish.replace(" below", "")
    if "\n" in thing or random.random() < 0.5:
        return f"{quotation}\n\n{wish}"
    return f"{quote(random, thing)}{random.choice([' - ', ': ', '. ', ' '])}{wish}"


def _pointer(random: Random, noun: str) -> str:
    """What stands for the thing that follows."""
    this = "these" if noun.endswith("s") else "this"
    return random.choice(
        [
            "this",
            "this",
            f"{this} {noun}",
            f"the following {noun}",
            f"the {noun} below",
            f"{this} {noun} here",
        ]
    )
