"""What was used, in the database."""

import pytest

from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

pytestmark = pytest.mark.anyio


def row(day="2026-11-27", key="key_1", model="small", kind="chat", user="user_1", **counts):
    slot = UsageSlot(day, key, user, f"name of {user}", "duo_ab", model, kind)
    return UsageRow(slot, UsageCounts(**counts))


@pytest.fixture
def rows(database):
    return UsageRows(database)


async def test_counts_are_added_to_what_is_there(rows):
    await rows.add([])
    await rows.add([row(requests=1, prompt=5), row(kind="embed", requests=1)])
    await rows.add([row(requests=2, completion=7)])
    by = ("day", "user", "key", "model", "kind")
    assert await rows.totals("2026-11-27", "2026-11-27", by) == [
        row(requests=3, prompt=5, completion=7),
        row(kind="embed", requests=1),
    ]


async def test_many_rows_are_one_batch(rows):
    await rows.add([row(model=f"model {number}", requests=1) for number in range(1234)])
    (total,) = await rows.totals("2026-11-27", "2026-11-27", ())
    assert total.counts.requests == 1234


async def test_they_are_added_up_by_what_is_asked_for(rows):
    await rows.add(
        [
            row("2026-11-25", requests=1),
            row("2026-11-26", requests=2),
            row("2026-11-26", key="key_2", requests=4),
            row("2026-11-27", key="key_3", user="user_2", requests=8, heard_ms=2**40),
        ]
    )

    async def counted(first, last, by, user=None):
        found = await rows.totals(first, last, by, user)
        return {tuple(getattr(one.slot, name) for name in by): one.counts.requests for one in found}

    assert await counted("2026-11-26", "2026-11-27", ("day",)) == {("2026-11-26",): 6, ("2026-11-27",): 8}
    assert await counted("2026-11-25", "2026-11-27", ("user",)) == {("user_1",): 7, ("user_2",): 8}
    assert await counted("2026-11-25", "2026-11-27", (), "user_1") == {(): 7}
    assert await counted("2026-11-28", "2026-11-29", ()) == {}
    (last,) = await rows.totals("2026-11-27", "2026-11-27", ("key",))
    assert (last.slot.user, last.slot.name, last.slot.prefix) == ("user_2", "name of user_2", "duo_ab")
    assert (last.slot.day, last.slot.model, last.counts.heard_ms) == ("", "", 2**40)


async def test_the_tokens_of_a_day_are_those_that_limits_count(rows):
    await rows.add(
        [row(prompt=100, cached=60, completion=5), row(kind="embed", prompt=7), row("2026-11-26", prompt=50)]
    )
    assert await rows.tokens_of("2026-11-27") == {"key_1": 52}


async def test_old_days_go(rows):
    await rows.add([row("2026-11-25", requests=1), row("2026-11-26", requests=1)])
    await rows.forget("2026-11-26")
    assert [one.slot.day for one in await rows.totals("2026-11-01", "2026-11-30", ("day",))] == ["2026-11-26"]


async def test_the_counts_of_before_and_after_a_key_got_a_new_value_are_added_to_one_row(rows):
    before, after = (
        UsageRow(
            UsageSlot("2026-11-27", "key_1", "user_1", name, prefix, "small", "chat"), UsageCounts(requests=1)
        )
        for name, prefix in (("ann", "duo_ab"), ("anna", "duo_cd"))
    )
    await rows.add([before, after])
    (total,) = await rows.totals("2026-11-27", "2026-11-27", ("key",))
    assert total.counts.requests == 2
