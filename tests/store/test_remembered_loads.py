"""What admins loaded and chose, on every kind of database."""

from __future__ import annotations

import msgspec
import pytest

from duologue.store.remembered_loads import RememberedLoad, RememberedLoads

pytestmark = pytest.mark.anyio


async def test_loads_are_kept_in_their_order_with_who_and_when(store, clock):
    kept = store.remembered_loads
    first = await kept.begin("tiny", {"context": 512}, another=False, user="anna")
    clock.forward(5)
    second = await kept.begin("tiny", {}, another=True, user="bert")
    assert first == RememberedLoad(
        first.id, "tiny", {"context": 512}, False, "anna", clock() - 5, loading=True
    )
    assert await kept.all() == [first, second]
    assert (second.another, second.user, second.created) == (True, "bert", clock())


async def test_how_a_load_went_is_stored(store):
    kept = store.remembered_loads
    load = await kept.begin("tiny", {}, another=False, user="anna")
    failed = msgspec.structs.replace(load, loading=False, failed="Too little memory.", sizes={"slots": 2})
    await kept.save(failed)
    assert await kept.all() == [failed]


async def test_forgotten_loads_are_gone_and_their_ids_are_not_used_again(store):
    kept = store.remembered_loads
    ids = [(await kept.begin(name, {}, another=False, user="anna")).id for name in "abc"]
    await kept.forget(ids[0], ids[2])
    assert [load.name for load in await kept.all()] == ["b"]
    assert (await kept.begin("d", {}, another=False, user="anna")).id not in ids


async def test_the_default_model_is_chosen_changed_and_forgotten(store):
    kept = store.remembered_loads
    assert await kept.default_model() is None
    await kept.choose_default({"model": "tiny"})
    await kept.choose_default({"model": "other", "user": "anna"})
    assert await kept.default_model() == {"model": "other", "user": "anna"}
    await kept.choose_default(None)
    assert await kept.default_model() is None


async def test_each_gateway_has_its_own_and_the_first_takes_what_one_alone_has_left(database, clock):
    alone = RememberedLoads(database, clock)
    await alone.begin("old", {}, another=False, user="ada")
    one, two = await alone.of("one"), await alone.of("two")
    await one.begin("a", {}, another=False, user="ada")
    await two.begin("b", {}, another=False, user="ada")
    assert [load.name for load in await one.all()] == ["old", "a"]
    assert [load.name for load in await two.all()] == ["b"]
