"""A change of a word, a line or a list, and how a request joins the wish and the text to be changed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import fill_slots, loose


@dataclass(frozen=True)
class Work:
    """The result of a change: the answer, the thought, and the answer after the thought.

    `outcome` is the new text, if there is one, which the next change may start from; `fills` are the slots of the request.
    """

    answer: str
    thought: str
    brief: str | None = None
    outcome: str | list[str] | None = None
    fills: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One kind of change. In `asks`, `$o` is the text to change; `again` asks for it on the result of the change before."""

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
    numbers: bool | None = None  # for lists of numbers only, of others only, or for all


QUOTES = ['"{}"', '"{}"', '"{}"', "'{}'", "`{}`", "“{}”", "«{}»", "*{}*"]
BREAKS = [": ", ": ", ": ", ":\n", ":\n\n", " - ", "\n"]


def quote(random: Random, text: str, *, bare: float = 0.0) -> str:
    """The text in some kind of quotes, or without any with the probability `bare`."""
    if random.random() < bare:
        return text
    style = random.choice(QUOTES)
    return style.format(text) if style[0] not in text else f'"{text}"'


def phrase_request(
    random: Random, asks: list[str], thing: str, nouns: list[str], *, bare: float, fills: dict[str, object]
) -> str:
    """A request with the text inside, after or before it."""
    wish = loose(random, pick(random, asks))
    where = random.random()
    if "\n" not in thing and where < 0.5:
        noun = random.choice(["", "", "", f"the {random.choice(nouns)} "])
        return fill_slots(wish, {**fills, "o": noun + quote(random, thing, bare=bare)})
    wish = fill_slots(wish, {**fills, "o": _pointer(random, random.choice(nouns))})
    quotation = quote(random, thing, bare=0.8) if "\n" not in thing else thing
    if (
        where < 0.9 or quotation[0].isupper()
    ):  # typing mistakes may change the first letter of a message, never that of the text
        return wish.rstrip(".?!, ") + random.choice(BREAKS if "\n" not in thing else BREAKS[3:5]) + quotation
    wish = wish.replace(" below", "")
    if "\n" in thing or random.random() < 0.5:
        return f"{quotation}\n\n{wish}"
    return f"{quote(random, thing)}{random.choice([' - ', ': ', '. ', ' '])}{wish}"


def _pointer(random: Random, noun: str) -> str:
    """A stand-in for the text that follows."""
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
