"""The curriculum: the mix of skills and the length of dialogues in the first shards of a corpus, and in later ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lesson:
    """How dialogues are drawn for one part of the corpus, up to the share `until`."""

    until: float
    emphasis: Mapping[str, float] = field(default_factory=dict)
    topics: float = 1.0
    """Factor on the share of dialogues with several topics."""
    long_share: float = 0.0
    """Share of dialogues with very many topics."""
    cut_share: float = 0.35
    """Share of dialogues with subword dropout."""
    spread_share: float = 0.15
    """Share of dialogues whose positions jump between messages."""


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
    """The lesson at this share of the corpus, 0 to 1."""
    return next((lesson for lesson in LESSONS if done < lesson.until), LESSONS[-1])
