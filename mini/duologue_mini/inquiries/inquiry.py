"""The wordings of one topic. Knows no topic."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Inquiry:
    """How one topic is asked about; `weight` is how often.

    `goals` follow "how do I", `things` follow "what about", `troubles` are whole sentences, `asks` are questions as
    they are. The frames around them are in skills/guide.py.
    """

    goals: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    weight: int = 2
