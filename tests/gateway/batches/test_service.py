"""Which batches run, whose they are, and what may be asked of them."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace
from tests.gateway.batches.conftest import URL, Place, lines
from tests.support.stored_files import stored

from duologue.errors import BadRequest, Busy, NotFound, Problem, Unavailable, Unsupported
from duologue.gateway.batches.batch_claims import TAKEN_OVER, BatchClaims
from duologue.gateway.batches.batch_run import SaveBatch
from duologue.gateway.batches.service import KEEP_MS, BatchService
from duologue.store.batches.batch_rows import BatchRows
from duologue.values.batches.stored_batch import StoredBatch
from duologue.wire.batches.batch_lines import answered
from duologue.wire.batches.batch_object import BatchBody

pytestmark = pytest.mark.anyio


async def test_the_batches_of_a_user_run_one_after_another_and_those_of_others_beside_them(place: Place):
    async with place.running():
        first = await place.made(lines(1, hold=1))
        second = await place.made(lines(1, 10))
        other = await place.made(lines(1, 20), user="ben")
        assert (await place.ended(other)).status == "completed"
        assert (await place.service.get("ada", second.id)).status == "validating"
        place.requests.release.set()
        assert (await place.ended(second)).status == "completed"
        assert [seen[0] for seen in place.requests.seen] in ([0, 20, 10], [20, 0, 10])
        assert (await place.service.get("ada", first.id)).status == "completed"


async def test_a_batch_that_ends_while_its_row_is_read_is_not_told_as_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    async with place.running() as service:
        batch = await place.made(lines(1, hold=1))
        await place.requests.until(lambda: place.requests.held == 1)
        read = service.rows.get

        async def read_slowly(user: str, id: str):
            row = await read(user, id)
            place.requests.release.set()
            while id in service._running:
                await anyio.lowlevel.checkpoint()
            return row

        monkeypatch.setattr(service.rows, "get", read_slowly)
        assert (await service.get("ada", batch.id)).status == "completed"


async def test_one_that_waits_is_cancelled_at_once(place: Place):
    async with place.running():
        await place.made(lines(1, hold=1))
        second = await place.made(lines(1, 10))
        await place.service.cancel("ada", second.id)
        second = await place.ended(second)
        assert second.status == "cancelled"
        assert (second.output_file, second.error_file) == ("", "")


async def test_to_others_a_batch_does_not_exist(place: Place):
    async with place.running():
        batch = await place.ended(await place.made(lines(1)))
        for reach in (place.service.get("ben", batch.id), place.service.cancel("ben", batch.id)):
            with pytest.raises(NotFound):
                await reach
        assert await place.service.list("ben", after="", limit=5) == []
        assert await place.service.list("ada", after="", limit=5) == [batch]
        with pytest.raises(NotFound):
            await place.files.read("ben", batch.output_file, 1000)


async def test_one_that_has_ended_cannot_be_cancelled(place: Place):
    async with place.running():
        batch = await place.ended(await place.made(lines(1)))
        with pytest.raises(Problem) as caught:
            await place.service.cancel("ada", batch.id)
        assert (caught.value.code, caught.value.status) == ("batch_ended", 409)


async def test_what_cannot_be_carried_out_is_refused(place: Place):
    async with place.running(per_user=1) as service:
        notes = await stored(place.files, b"words", purpose="user_data")
        good = await stored(place.files, lines(1, hold=1))
        for file, endpoint, kind, param in (
            (good.id, "/v1/images/generations", Unsupported, "endpoint"),
            ("file-x", URL, BadRequest, "input_file_id"),
            (notes.id, URL, BadRequest, "input_file_id"),
        ):
            body = BatchBody(input_file_id=file, endpoint=endpoint)
            with pytest.raises(kind) as caught:
                await service.create("ada", body)
            assert caught.value.param == param
        body = BatchBody(input_file_id=good.id, endpoint=URL)
        with pytest.raises(BadRequest):
            await service.create("ben", body)
        await service.create("ada", body)
        with pytest.raises(Busy) as busy:
            await service.create("ada", body)
        assert busy.value.code == "too_many_batches"


async def test_no_more_are_made_at_once_than_one_after_another(place: Place):
    made: list[str] = []
    async with place.running(per_user=2) as service:
        file = await stored(place.files, lines(1, hold=1))

        async def make() -> None:
            try:
                made.append((await service.create("ada", BatchBody(input_file_id=file.id, endpoint=URL))).id)
            except Busy:
                made.append("refused")

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(make)
    assert made.count("refused") == 3


async def test_the_input_of_a_batch_stays_until_its_end(place: Place):
    async with place.running():
        batch = await place.made(lines(1, hold=1))
        with pytest.raises(Problem) as caught:
            await place.files.delete("ada", batch.input_file)
        assert caught.value.code == "file_in_use"
        place.requests.release.set()
        await place.ended(batch)

        async def is_free() -> bool:
            return not place.files.in_use()

        await place.until(is_free)
        await place.files.delete("ada", batch.input_file)


async def test_nothing_runs_before_the_models_are_there(place: Place):
    async with place.running():
        batch = await place.made(lines(1, hold=1))
        await place.requests.until(lambda: place.requests.held == 1)
    place.requests.release.set()
    ready = anyio.Event()
    async with anyio.create_task_group() as tasks:
        service = place.service = BatchService(
            place.service._settings,
            place.folder / "batches",
            place.files,
            place.requests,  # type: ignore[arg-type]
            access=place.access,
            now=place.clock,
        )
        place.requests.seen.clear()
        await tasks.start(service.run, place.rows, ready.wait)
        await anyio.wait_all_tasks_blocked()
        assert place.requests.seen == []
        ready.set()
        assert (await place.ended(batch)).status == "completed"
        tasks.cancel_scope.cancel()


async def test_a_start_removes_results_without_a_batch_and_forgets_old_batches(place: Place):
    async with place.running():
        batch = await place.ended(await place.made(lines(1)))
    left = place.folder / "batches" / "batch_unknown"
    left.mkdir()
    place.clock.forward(KEEP_MS + 1)
    async with place.running():
        assert not left.exists()

        async def is_empty() -> bool:
            return not await place.service.list("ada", after="", limit=5)

        await place.until(is_empty)
    assert batch.status == "completed"


async def test_before_the_database_is_open_there_are_none(place: Place):
    async with place.running():
        pass
    service = BatchService(
        place.service._settings,
        place.folder,
        place.files,
        place.requests,  # type: ignore[arg-type]
        access=place.access,
        now=place.clock,
    )
    with pytest.raises(Unavailable):
        await service.get("ada", "batch_1")


class Lost(BatchClaims):
    """Of a gateway that another one has taken every batch from, once it has ended. `released`: what was given back."""

    shared = True

    def __init__(self) -> None:
        self.released: list[str] = []

    async def release(self, id: str) -> None:
        self.released.append(id)

    def saver(self, rows: BatchRows, id: str) -> SaveBatch:
        return self

    async def save(self, batch: StoredBatch) -> None:
        raise Unavailable("Another server goes on with it.", code=TAKEN_OVER)


async def test_a_server_that_breaks_leaves_the_results_of_a_batch_that_another_one_has(place: Place):
    async with place.running() as service:
        batch = await place.ended(await place.made(lines(1)))
        service.claims = Lost()
        results = service.claims.results(service._folder / batch.id, batch.id)
        await results.append([answered("r1", "a", 200, "q1", b"{}")])
        await service._give_up(batch)
        assert results.output.exists()


async def test_one_that_another_server_has_finished_since_the_last_look_is_not_carried_out_again(
    place: Place,
):
    async with place.running() as service:
        batch = await place.ended(await place.made(lines(1)))
        service.claims = claims = Lost()
        assert not await service._take(replace(batch, status="in_progress"))
        assert claims.released == [batch.id]


async def test_a_cancel_that_comes_as_another_server_ends_the_batch_leaves_its_results(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    async with place.running() as service:
        batch = await place.ended(await place.made(lines(1)))
        stale = iter([replace(batch, status="in_progress", output_file="")])
        read = service.rows.get

        async def read_before_it_ended(user: str, id: str) -> StoredBatch:
            return next(stale, None) or await read(user, id)

        monkeypatch.setattr(service.rows, "get", read_before_it_ended)
        with pytest.raises(Problem) as caught:
            await service.cancel("ada", batch.id)
        assert caught.value.code == "batch_ended"
        assert await read("ada", batch.id) == batch
