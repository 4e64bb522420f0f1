"""Statements of the user that may be asked for later, drawn from `statement_kinds.py`."""

from dataclasses import dataclass
from random import Random

from duologue_mini.conversation.statement_kinds import KINDS, StatementKind
from duologue_mini.passages.passage import fix_articles
from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import fill_slots


@dataclass(frozen=True)
class Statement:
    """A statement with its slots filled."""

    kind: StatementKind
    key: str
    value: str

    def fill(self, pattern: str) -> str:
        """`pattern` with this key and value."""
        return fix_articles(fill_slots(pattern, {"k": self.key, "v": self.value}))

    @property
    def mine(self) -> str:
        """In the user's words."""
        return self.fill(self.kind.mine)

    @property
    def yours(self) -> str:
        """In the model's words."""
        return self.fill(self.kind.yours)

    @property
    def about(self) -> str:
        """The subject, in the user's words."""
        return self.fill(self.kind.about)


_WEIGHTS = [weight for _, weight in KINDS]


def draw_statement(random: Random, kind: StatementKind | None = None) -> Statement:
    """Draws a statement, of any kind if none is given."""
    chosen = kind or random.choices(KINDS, _WEIGHTS)[0][0]
    return Statement(chosen, chosen.key(random), chosen.value(random))


def several(random: Random, count: int) -> list[Statement]:
    """Statements that do not contradict each other and have different questions."""
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
    """A wording of the statement."""
    return one.fill(pick(random, one.kind.statements))
