"""Models that nobody uses are unloaded, and come back as they were."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway.scheduling.test_pool import Workers, lent, running

from duologue.gateway.models.requested.idle_unload import IdleModel, IdleUnload, due
from duologue.gateway.models.requested.resting_models import RestingModels


@given(
    st.lists(
        st.builds(
            IdleModel,
            st.text("abc", min_size=1),
            st.booleans(),
            st.floats(0, 1000),
            st.floats(0, 500),
        )
    )
)
def test_only_what_is_idle_for_long_enough_is_due(models):
    for name in due(models, 1000.0):
        model = next(model for model in models if model.name == name and model in models)
        assert any(
            one.limit > 0 and not one.busy and 1000.0 - one.used >= one.limit
            for one in models
            if one.name == model.name
        )
    assert due([IdleModel("a", False, 0.0, 0.0)], 1e9) == [], "0 is for ever"
    assert due([IdleModel("a", True, 0.0, 5.0)], 1e9) == [], "it is in use"


@pytest.mark.anyio
async def test_a_model_that_nobody_uses_is_unloaded_and_remembered_as_it_was(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        resting = RestingModels(lambda name: pool.find(name) is not None)
        idle = IdleUnload(pool, resting, limit=1e-9)
        with pool.lease("m") as lease:
            await lent(lease)
            await idle.look()
            assert list(pool.workers) == ["w"], "a reply is being written"
        with anyio.fail_after(60):
            while pool.scheduler.busy("w"):
                await anyio.wait_all_tasks_blocked()
            await idle.look()
        assert not pool.workers
        found = resting.find("")
        assert found is not None
        assert (found.name, found.default, found.added, found.by_request) == ("m", True, False, False)
        assert [spec.model for spec in found.specs] == ["m"]


@pytest.mark.anyio
async def test_a_model_that_was_just_named_or_has_its_own_limit_stays(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        resting = RestingModels()
        await IdleUnload(pool, resting, limit=60.0, asked=lambda name: pool.now()).look()
        await IdleUnload(pool, resting, limit=1e-9, limits={"m": 0.0}).look()
        assert list(pool.workers) == ["w"]
        pool.drain("w")
        await IdleUnload(pool, resting, limit=1e-9).look()
        assert list(pool.workers) == ["w"], "an admin drains it"
        with anyio.fail_after(60):
            await IdleUnload(pool, resting).run()


@pytest.mark.anyio
async def test_a_model_with_a_worker_of_another_machine_stays(monkeypatch):
    """That worker was told to end, and nobody started it again."""
    async with running(monkeypatch, Workers()) as (pool, _):
        pool.workers["w"].joined = True
        await IdleUnload(pool, RestingModels(), limit=1e-9).look()
        assert list(pool.workers) == ["w"]
