"""What somebody tells in a chat and may ask back later: names, codes, places, plans, likes, made-up meanings.

Knows how it is told, asked for and said back; nothing of when.
"""

from dataclasses import dataclass
from random import Random

from duologue_mini.conversation.statement_kinds import KINDS, StatementKind
from duologue_mini.passages.passage import fix_articles
from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import fill_slots


@dataclass(frozen=True)
class Statement:
    """One such thing with its slots filled."""

    kind: StatementKind
    key: str
    value: str

    def fill(self, pattern: str) -> str:
        """The pattern with this key and value."""
        return fix_articles(fill_slots(pattern, {"k": self.key, "v": self.value}))

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


def draw_statement(random: Random, kind: StatementKind | None = None) -> Statement:
    """Something to tell."""
    chosen = kind or random.choices(KINDS, _WEIGHTS)[0][0]
    return Statement(chosen, chosen.key(random), chosen.value(random))


def several(random: Random, count: int) -> list[Statement]:
    """Things that neither contradict each other nor ask the same."""
    statements: list[Statement] = []
    seen: set[str] = set()
    while len(statements) < count:
        one = draw_statement(random)
        names = {one.about, one.key or one.about, one.value}
        if not names & seen:
            seen |= names
            statements.append(one)
    return statements


def statement(random: Random, one: Statement) -> str:
    """One way to tell it."""
    return one.fill(pick(random, one.kind.statements))
