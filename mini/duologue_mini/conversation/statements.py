"""What somebody tells in a chat and may ask back later: names, codes, places, plans, likes, made-up meanings.

Knows how it is told, asked for and said back; nothing of when.
"""

from dataclasses import dataclass
from random import Random

from duologue_mini.conversation.statement_kinds import KINDS, Kind
from duologue_mini.passages.passage import agreed
from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import filled


@dataclass(frozen=True)
class Told:
    """One such thing with its slots filled."""

    kind: Kind
    key: str
    value: str

    def fill(self, pattern: str) -> str:
        """The pattern with this key and value."""
        return agreed(filled(pattern, {"k": self.key, "v": self.value}))

    @property
    def mine(self) -> str:
        """As the user says it."""
        return self.fill(self.kind.mine)

    @property
    def yours(self) -> str:
        """As the model says it back."""
        return self.fill(self.kind.yours)

    @property
    def about(self) -> str:
        """What it is about, in the user's words."""
        return self.fill(self.kind.about)


_WEIGHTS = [weight for _, weight in KINDS]


def told(random: Random, kind: Kind | None = None) -> Told:
    """Something to tell."""
    chosen = kind or random.choices(KINDS, _WEIGHTS)[0][0]
    return Told(chosen, chosen.key(random), chosen.value(random))


def several(random: Random, count: int) -> list[Told]:
    """Things that neither contradict each other nor ask the same."""
    found: list[Told] = []
    seen: set[str] = set()
    while len(found) < count:
        one = told(random)
        names = {one.about, one.key or one.about, one.value}
        if not names & seen:
            seen |= names
            found.append(one)
    return found


def statement(random: Random, one: Told) -> str:
    """One way to tell it."""
    return one.fill(pick(random, one.kind.told))
