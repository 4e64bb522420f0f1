"""The durable store and the one in memory."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import row

from duologue.errors import BadRequest, NotFound
from duologue.store import stores as stores_file
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation
from duologue.values.runs import Run

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stores(tmp_path, clock, anyio_backend):
    async with Stores.opened(None, tmp_path, now=clock) as opened:
        yield opened


async def test_a_conversation_is_where_it_was_created(stores):
    await stores.create("local", Conversation(id="kept"))
    await stores.create("local", Conversation(id="passing", temporary=True))
    assert stores.of("kept") is stores.durable
    assert stores.of("passing") is stores.temporary
    assert stores.of("unknown") is stores.durable
    assert stores.is_temporary("passing")
    assert [one.id for one in await stores.durable.conversations.listed("local")] == ["kept"]
    assert (await stores.temporary.conversations.get("local", "passing")).temporary


async def test_nothing_of_a_temporary_one_is_written(stores, tmp_path):
    await stores.create("local", Conversation(id="passing", temporary=True))
    await stores.of("passing").messages.add([row("passing", "m", text="a very secret walrus")])
    assert await stores.durable.search.find("local", "walrus") == []
    assert all(b"walrus" not in path.read_bytes() for path in tmp_path.iterdir())


async def test_creating_again_stays_where_it_is(stores):
    made = await stores.create("local", Conversation(id="passing", temporary=True))
    assert await stores.create("local", Conversation(id="passing", temporary=True)) == made
    assert await stores.create("local", Conversation(id="passing")) == made
    await stores.create("local", Conversation(id="kept"))
    with pytest.raises(BadRequest) as raised:
        await stores.create("local", Conversation(id="kept", temporary=True))
    assert raised.value.code == "id_taken"


async def test_there_are_only_so_many_temporary_ones(stores, monkeypatch):
    monkeypatch.setattr(stores_file, "MOST_TEMPORARY", 1)
    await stores.create("local", Conversation(id="a", temporary=True))
    with pytest.raises(BadRequest) as raised:
        await stores.create("local", Conversation(id="b", temporary=True))
    assert raised.value.code == "too_many_temporary"


async def test_a_run_is_found_wherever_it_is(stores):
    for id, temporary in (("kept", False), ("passing", True)):
        await stores.create("local", Conversation(id=id, temporary=temporary))
        await stores.of(id).runs.begin(Run(f"run_{id}", id, started=1), "local", b"")
    for id in ("kept", "passing"):
        store, run = await stores.find_run("local", f"run_{id}")
        assert (store, run.conversation) == (stores.of(id), id)
    for user, id in (("local", "gone"), ("anna", "run_passing")):
        with pytest.raises(NotFound):
            await stores.find_run(user, id)


async def test_temporary_ones_are_forgotten_when_nothing_happens_in_them(stores, clock):
    for id in ("old", "deleted", "running", "young"):
        await stores.create("local", Conversation(id=id, temporary=True))
    await stores.temporary.conversations.delete("local", "deleted")
    await stores.temporary.runs.begin(Run("r", "running", started=1), "local", b"")
    clock.forward(1000)
    await stores.temporary.messages.add([row("young", "m")])
    assert sorted(await stores.forget_temporary(1000)) == ["deleted", "old"]
    assert not stores.is_temporary("old")
    assert await stores.temporary.conversations.owner("old") is None
    assert await stores.forget_temporary(1000) == []
