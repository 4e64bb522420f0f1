"""Who is told a place again: those near the head, those for whom it is news, and everybody after a while."""

from __future__ import annotations

import pytest

from duologue.gateway.scheduling.queueing.place_news import (
    LOOKED_AT,
    SILENCE,
    TOLD_AT_ONCE,
    is_news,
    portions,
)
from duologue.gateway.scheduling.queueing.places import NEAR, Place
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import NEVER, QueueEntry

AT = 100.0


def waiting(position: int, wait: float, *, ago: float) -> QueueEntry:
    """A request that was told this so many seconds ago."""
    return QueueEntry(
        *("q", "m", 1, "chat", (), 0.0), reported=position, reported_wait=wait, reported_at=AT - ago
    )


@pytest.mark.parametrize(
    ("position", "wait", "ago", "news"),
    [
        (500, 1000.0, 3.0, False),
        (499, 997.0, 3.0, False),
        (470, 997.0, 3.0, True),
        (500, 940.0, 3.0, True),
        (500, 1100.0, 3.0, True),
        (500, 1000.0, SILENCE, True),
        (NEAR, 40.0, 3.0, True),
    ],
)
def test_far_back_only_what_a_reader_would_notice_is_told_or_after_a_while(
    position: int, wait: float, ago: float, news: bool
) -> None:
    entry = waiting(500, 1000.0, ago=ago) if position > NEAR else waiting(position, wait, ago=ago)
    assert is_news(entry, Moved("q", position, wait, 600), AT) is news


def test_who_was_told_nothing_yet_is_told() -> None:
    entry = QueueEntry("q", "m", 1, "chat", (), 0.0)
    assert entry.reported_at == NEVER
    assert is_news(entry, Moved("q", 900, 1000.0, 900), AT)


def line(count: int, *, ago: float) -> list[Place]:
    return [
        (waiting(number, 10.0 * number, ago=ago), Moved(f"q{number}", number, 10.0 * number, count))
        for number in range(1, count + 1)
    ]


def test_places_are_told_a_few_at_a_time_and_nobody_is_left_out() -> None:
    places = line(3 * TOLD_AT_ONCE + 2, ago=SILENCE)
    told = list(portions(places, AT))
    assert [len(portion) for portion in told] == [TOLD_AT_ONCE] * 3 + [2]
    assert [place for portion in told for place in portion] == [place for _, place in places]
    assert all(entry.reported_at == AT for entry, _ in places)


def test_a_step_ends_also_where_nobody_is_told() -> None:
    told = list(portions([None, *line(NEAR + 2 * LOOKED_AT, ago=3.0)], AT))
    assert [len(portion) for portion in told] == [0, NEAR, 0]
