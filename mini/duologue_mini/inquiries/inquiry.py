"""The type of the wordings that ask about one topic."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Inquiry:
    """The wordings of one topic; `weight` is its relative frequency.

    `goals` follow "how do I", `things` follow "what about", `troubles` are whole sentences, `asks` are whole
    questions. The frames around them are in `skills/guide.py`.
    """

    goals: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    weight: int = 2
