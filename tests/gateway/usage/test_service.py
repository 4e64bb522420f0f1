"""Usage is written every few seconds, and nothing of it is lost while the database is away."""

import anyio
import pytest
from tests.gateway.usage.conftest import DAY

from duologue.errors import BadRequest, Unavailable
from duologue.store.usage.usage_rows import UsageRows

pytestmark = pytest.mark.anyio


def spend(usage, prompt=10):
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=1) as request:
        request.counted(prompt=prompt, completion=5)


async def test_what_was_counted_is_read_at_once_and_written_at_the_end(usage):
    service, rows = usage.service(), UsageRows(usage.database)
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, rows)
        spend(usage)
        (row,) = await service.totals(DAY, DAY, ("key",))
        assert (row.slot.name, row.counts.prompt) == ("bob", 10)
        spend(usage)
        tasks.cancel_scope.cancel()
    await service.flush()
    assert [row.counts.requests for row in await rows.totals(DAY, DAY, ())] == [2]


async def test_counts_that_cannot_be_written_are_kept(usage):
    class Broken(UsageRows):
        broken = True

        async def add(self, rows):
            if self.broken:
                raise Unavailable("The disk is full.", code="storage_unavailable")
            await super().add(rows)

    service, rows = usage.service(), Broken(usage.database)
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, rows)
        spend(usage)
        await service.flush()
        spend(usage)
        rows.broken = False
        await service.flush()
        tasks.cancel_scope.cancel()
    assert [row.counts.requests for row in await rows.totals(DAY, DAY, ())] == [2]
    assert len(usage.meter.counter) == 0


async def test_the_tokens_of_today_count_after_a_restart(usage):
    rows = UsageRows(usage.database)
    for _ in range(2):
        service = usage.service()
        async with anyio.create_task_group() as tasks:
            await tasks.start(service.run, rows)
            spend(usage, prompt=95)
            await service.flush()
            tasks.cancel_scope.cancel()
        usage.meter_with()
    await usage.limit(usage.bob, tokens_per_day=1000)
    service = usage.service()
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, rows)
        assert usage.meter.standing(usage.bob.key.id).tokens_today[0] == 800
        tasks.cancel_scope.cancel()


async def test_old_days_are_deleted(usage):
    rows = UsageRows(usage.database)
    spend(usage)
    await rows.add(usage.meter.counter.take())
    usage.at = 40 * 86_400
    service = usage.service(usage={"keep_days": 30})
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, rows)
        await anyio.wait_all_tasks_blocked()
        while await rows.totals(DAY, DAY, ()):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_days_in_the_wrong_order_or_too_many_are_refused(usage):
    service = usage.service()
    with pytest.raises(Unavailable):
        await service.totals(DAY, DAY, ())
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, UsageRows(usage.database))
        for first, last in ((DAY, "2024-10-03"), ("0001-01-01", DAY)):
            with pytest.raises(BadRequest):
                await service.totals(first, last, ())
        tasks.cancel_scope.cancel()
