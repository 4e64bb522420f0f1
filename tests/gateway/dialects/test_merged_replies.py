"""Several replies read side by side as one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from duologue.errors import BadRequest
from duologue.gateway.dialects.merged_replies import merged
from duologue.values.events import TextDelta
from duologue.values.generate import Batch

pytestmark = pytest.mark.anyio


class Source:
    """Plays batches; `hangs`: and then waits. `left` says whether its context was left."""

    def __init__(self, *texts: str, hangs: bool = False, fails: Exception | None = None) -> None:
        self._texts, self._hangs, self._fails = texts, hangs, fails
        self.left = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Batch]]:
        try:
            yield self._batches()
        finally:
            self.left = True

    async def _batches(self) -> AsyncIterator[Batch]:
        for text in self._texts:
            await anyio.lowlevel.checkpoint()
            yield [(0, TextDelta(text)), (1, TextDelta(text))]
        if self._fails is not None:
            raise self._fails
        if self._hangs:
            await anyio.sleep_forever()


async def test_each_choice_gets_the_number_of_its_source_and_its_own():
    sources = [Source("a", "b"), Source("c")]
    async with merged([source.open() for source in sources], 2) as batches:
        found = sorted(
            (number, event.text) for batch in [b async for b in batches] for number, event in batch
        )
    assert found == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "c"), (3, "c")]
    assert all(source.left for source in sources)


async def test_one_source_is_passed_on():
    async with merged([Source("a").open()], 1) as batches:
        assert [batch async for batch in batches] == [[(0, TextDelta("a")), (1, TextDelta("a"))]]


async def test_leaving_ends_all_of_them():
    sources = [Source("a", hangs=True), Source(hangs=True)]
    async with merged([source.open() for source in sources], 1) as batches:
        assert await anext(batches)
    assert all(source.left for source in sources)


async def test_what_the_reader_raises_comes_out_as_it_was():
    sources = [Source("a", hangs=True), Source("b", hangs=True)]

    async def read() -> None:
        async with merged([source.open() for source in sources], 1) as batches:
            await anext(batches)
            raise BadRequest("mine")

    with pytest.raises(BadRequest, match="mine"):
        await read()
    assert all(source.left for source in sources)


async def test_what_a_source_raises_ends_all_and_comes_out_as_it_was():
    sources = [Source("a", hangs=True), Source(fails=BadRequest("its own"))]

    async def read() -> None:
        async with merged([source.open() for source in sources], 1) as batches:
            async for _ in batches:
                pass

    with pytest.raises(BadRequest, match="its own"):
        await read()
    assert all(source.left for source in sources)
