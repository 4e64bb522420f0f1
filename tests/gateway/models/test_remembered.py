"""What is remembered of loads, over a real database in memory."""

import pytest
from tests.support.store_fixtures import Clock, memory

from duologue.errors import EngineFailed, NotFound, Problem, Unavailable
from duologue.gateway.models.remembered import STOPPED_WHILE_LOADING, RememberedModels, RememberedRow
from duologue.store.remembered_loads import RememberedLoads
from duologue.values.events import STOPPING

__all__ = ["memory"]
pytestmark = pytest.mark.anyio

FAILED = EngineFailed("It broke.", code="load_failed")


class Desk:
    """What one server after another remembers. `preferred` are the models that were made the default."""

    def __init__(self, memory):
        self.store = RememberedLoads(memory, Clock())
        self.preferred = []

    async def start(self, *configured) -> RememberedModels:
        """The next start of the server, with these models in its settings."""
        models = RememberedModels(self.preferred.append)
        await models.open(self.store, configured or ("mini",))
        return models


@pytest.fixture
def desk(memory) -> Desk:
    return Desk(memory)


async def load(models, name, worker="worker_1", *, another=False, repeats=0, **sizes) -> int:
    """A load that is under way."""
    id = await models.begin(name, sizes, another=another, user="anna", repeats=repeats)
    models.starts(id, worker)
    return id


async def loaded(models, name, worker="worker_1", **more) -> int:
    id = await load(models, name, worker, **more)
    await models.ready(id)
    return id


def names(models) -> list[str]:
    return [load.name for load in models.to_repeat()]


async def test_a_loaded_model_is_repeated_with_its_sizes_at_the_next_start(desk):
    models = await desk.start()
    await loaded(models, "tiny", context=512)
    assert models.has_worker("worker_1")
    assert models.rows == []
    [again] = (await desk.start()).to_repeat()
    assert (again.name, again.sizes, again.user) == ("tiny", {"context": 512}, "anna")


async def test_each_worker_of_a_model_is_remembered(desk):
    models = await desk.start()
    await loaded(models, "tiny")
    await loaded(models, "tiny", "worker_2", another=True)
    models = await desk.start()
    assert [(load.name, load.another) for load in models.to_repeat()] == [("tiny", False), ("tiny", True)]
    assert models.rows == [RememberedRow("tiny", "", 2)]


async def test_an_unloaded_model_is_forgotten(desk):
    models = await desk.start()
    await loaded(models, "tiny")
    await models.removed("worker_1")
    assert not models.has_worker("worker_1")
    assert names(await desk.start()) == []


async def test_a_load_that_fails_for_the_first_time_is_not_remembered(desk):
    models = await desk.start()
    await models.failed(await load(models, "tiny"), FAILED)
    assert models.rows == []
    assert (await desk.start()).rows == []


async def test_a_remembered_load_that_fails_stays_with_its_reason_and_is_not_repeated(desk):
    await loaded(await desk.start(), "tiny")
    models = await desk.start()
    await models.failed(await load(models, "tiny", repeats=models.to_repeat()[0].id), FAILED)
    for now in (models, await desk.start()):
        assert names(now) == []
        assert now.rows == [RememberedRow("tiny", "It broke.", 1)]
        assert now.failure("tiny") == "It broke."


async def test_a_load_during_which_the_process_died_has_failed(desk):
    await load(await desk.start(), "tiny")
    for _ in range(2):
        models = await desk.start()
        assert models.rows == [RememberedRow("tiny", STOPPED_WHILE_LOADING, 1)]
        assert names(models) == []


async def test_a_load_during_which_the_server_was_stopped_is_repeated(desk):
    models = await desk.start()
    await models.failed(await load(models, "tiny"), Unavailable(STOPPING.message, code=STOPPING.code))
    assert names(await desk.start()) == ["tiny"]


async def test_unloading_while_it_loads_forgets_it(desk):
    models = await desk.start()
    id = await load(models, "tiny")
    await models.removed("worker_1")
    await models.failed(id, Unavailable("It was unloaded.", code="model_unloaded"))
    assert (await desk.start()).rows == []


async def test_trying_a_failed_load_again_replaces_it(desk):
    await load(await desk.start(), "tiny")
    models = await desk.start()
    first = models.to_retry("tiny")
    assert await loaded(models, "tiny", context=256) == first.id
    assert models.rows == []
    [again] = (await desk.start()).to_repeat()
    assert (again.sizes, again.failed) == ({"context": 256}, "")


async def test_the_failed_one_of_two_is_tried_again_first(desk):
    models = await desk.start()
    await loaded(models, "tiny")
    second = await load(models, "tiny", "worker_2", another=True)
    models = await desk.start()
    assert models.rows == [RememberedRow("tiny", STOPPED_WHILE_LOADING, 2)]
    assert models.to_retry("tiny").id == second


async def test_a_failed_load_can_be_forgotten(desk):
    await load(await desk.start(), "tiny")
    models = await desk.start()
    await models.forget("tiny")
    assert models.rows == []
    assert (await desk.start()).rows == []
    with pytest.raises(NotFound):
        await models.forget("tiny")
    with pytest.raises(NotFound):
        models.to_retry("tiny")


async def test_what_the_settings_load_by_now_is_not_remembered(desk):
    models = await desk.start()
    await loaded(models, "tiny")
    await loaded(models, "tiny", "worker_2", another=True)
    assert [load.another for load in (await desk.start("tiny")).to_repeat()] == [True]
    assert [load.another for load in (await desk.start()).to_repeat()] == [True]


async def test_the_default_model_is_kept_and_loaded_first(desk):
    models = await desk.start()
    await loaded(models, "first")
    await loaded(models, "second", "worker_2")
    await models.choose_default("second", "anna")
    assert desk.preferred == ["", "second"]
    models = await desk.start()
    assert (models.default, names(models), desk.preferred[-1]) == ("second", ["second", "first"], "second")


async def test_the_choice_of_a_default_holds_only_while_the_settings_name_the_same_models(desk):
    await (await desk.start("mini")).choose_default("tiny", "anna")
    assert (await desk.start("large")).default == ""
    assert (await desk.start("mini")).default == "tiny"


async def test_an_unloaded_default_is_none_any_more(desk):
    models = await desk.start()
    await models.choose_default("tiny", "anna")
    await models.drop_default("other")
    assert models.default == "tiny"
    await models.drop_default("tiny")
    assert (models.default, desk.preferred[-1]) == ("", "")
    assert (await desk.start()).default == ""


async def test_what_another_gateway_chose_is_taken_over_and_told_once(desk):
    one, two = await desk.start(), await desk.start()
    desk.preferred.clear()
    await one.choose_default("tiny", "anna")
    await two.reload()
    await two.reload()
    assert (two.default, desk.preferred) == ("tiny", ["tiny", "tiny"])
    await one.drop_default("tiny")
    await two.reload()
    assert (two.default, desk.preferred[-1]) == ("", "")


async def test_what_was_read_before_a_choice_of_this_gateway_does_not_undo_it(desk, monkeypatch):
    models = await desk.start()
    read = desk.store.default_model

    async def read_slowly():
        found = await read()
        if models.default != "tiny":
            await models.choose_default("tiny", "anna")
        return found

    monkeypatch.setattr(desk.store, "default_model", read_slowly)
    await models.reload()
    assert (models.default, desk.preferred[-1]) == ("tiny", "tiny")


async def test_a_look_while_a_choice_is_being_stored_does_not_undo_it(desk, monkeypatch):
    models = await desk.start()
    store = desk.store.choose_default

    async def store_slowly(choice):
        await models.reload()
        await store(choice)

    monkeypatch.setattr(desk.store, "choose_default", store_slowly)
    await models.choose_default("tiny", "anna")
    assert (models.default, desk.preferred[-1]) == ("tiny", "tiny")


async def test_each_choice_that_was_stored_is_told_to_the_other_gateways(desk, monkeypatch):
    told = []
    models = await desk.start()
    models.on_stored = lambda: told.append(models.default)
    await models.choose_default("tiny", "anna")
    await models.drop_default("tiny")
    assert told == ["tiny", ""]

    async def refused(*_):
        raise Problem("The disk is full.", code="storage_unavailable", status=503)

    monkeypatch.setattr(desk.store, "choose_default", refused)
    await models.choose_default("tiny", "anna")
    assert told == ["tiny", ""]


async def test_a_database_that_cannot_be_written_keeps_no_model_from_loading(desk, monkeypatch, caplog):
    models = await desk.start()

    async def refused(*_, **__):
        raise Problem("The disk is full.", code="storage_unavailable", status=503)

    monkeypatch.setattr(desk.store, "begin", refused)
    monkeypatch.setattr(desk.store, "choose_default", refused)
    assert await loaded(models, "tiny") == 0
    await models.choose_default("tiny", "anna")
    assert models.default == "tiny"
    assert "The disk is full." in caplog.text


async def test_before_there_is_a_database_nothing_is_remembered():
    models = RememberedModels()
    await models.reload()
    assert await loaded(models, "tiny") == 0
    assert (models.rows, models.default, models.to_repeat()) == ([], "", [])
