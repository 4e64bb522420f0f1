"""The order of the lessons: what the first shards of a corpus hold, and what the later ones.

Knows how far a corpus has come and which skills there are. Knows neither wording nor files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lesson:
    """How dialogues are drawn for a while. `until` is the share of the corpus at which the next lesson begins."""

    until: float
    emphasis: Mapping[str, float] = field(default_factory=dict)
    topics: float = 1.0
    """How many dialogues have several topics, against the usual."""
    long_share: float = 0.0
    """Dialogues that go on through very many topics."""
    cut_share: float = 0.35
    """Dialogues in which words that are only read are cut at random."""
    spread_share: float = 0.15
    """Dialogues whose positions jump between messages."""


LESSONS = (
    Lesson(
        0.06,
        emphasis={
            "echo": 6,
            "rewriting": 4,
            "recall": 2,
            "memory": 2,
            "reading": 2,
            "scope": 0.4,
        },
        topics=0.2,
        cut_share=0.5,
    ),
    Lesson(
        0.2,
        emphasis={"echo": 2, "rewriting": 2, "reading": 1.5, "unseen_tools": 1.3},
        topics=0.5,
        long_share=0.003,
        cut_share=0.4,
    ),
    Lesson(1.0, long_share=0.012),
)


def lesson_at(done: float) -> Lesson:
    """The lesson for this share of the corpus, 0 to 1."""
    return next((lesson for lesson in LESSONS if done < lesson.until), LESSONS[-1])
