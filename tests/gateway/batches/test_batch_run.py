"""One batch from its input to its results, through every way it may end."""

from __future__ import annotations

import anyio
import pytest
from tests.gateway.batches.conftest import Place, lines
from tests.support.stored_files import stored

from duologue import caller
from duologue.config.sections.batches import FileSettings
from duologue.errors import NotFound
from duologue.gateway.batches.batch_run import SAVE_MS
from duologue.gateway.batches.service import WINDOW_MS
from duologue.values.batches.stored_batch import BatchUsage, LineCounts, StoredBatch

pytestmark = pytest.mark.anyio


def numbers(results: list[dict]) -> list[int]:
    return sorted(result["response"]["body"]["n"] for result in results)


async def test_every_request_is_answered_once(place: Place):
    async with place.running():
        batch = await place.made(lines(30), metadata={"a": "b"})
        assert batch.status == "validating"
        batch = await place.ended(batch)
        assert (batch.status, batch.counts) == ("completed", LineCounts(30, 30, 0))
        assert batch.usage == BatchUsage(60, 0, 30, 0)
        assert set(batch.times) == {"in_progress", "finalizing", "completed"}
        results = await place.results("ada", batch.output_file)
        assert numbers(results) == list(range(30))
        assert {result["custom_id"] for result in results} == {f"r{number}" for number in range(30)}
        assert len({result["id"] for result in results}) == 30
        assert batch.error_file == ""
        assert {seen[1:] for seen in place.requests.seen} == {("ada", "user")}
        assert not (place.folder / "batches" / batch.id).exists()


async def test_requests_that_fail_are_in_a_file_of_their_own(place: Place):
    async with place.running():
        batch = await place.ended(await place.made(lines(2) + lines(3, 2, status=400)))
        assert (batch.status, batch.counts) == ("completed", LineCounts(5, 2, 3))
        errors = await place.results("ada", batch.error_file)
        assert numbers(errors) == [2, 3, 4]
        assert {error["response"]["status_code"] for error in errors} == {400}
        assert (await place.files.get("ada", batch.error_file)).name == f"{batch.id}_errors.jsonl"


async def test_an_input_with_bad_lines_is_refused_whole(place: Place):
    async with place.running(lines=3, line_mb=1):
        batch = await place.ended(await place.made(lines(1) + b"{\n" + lines(1)))
        assert batch.status == "failed"
        assert [(error.line, error.code) for error in batch.errors] == [
            (2, "invalid_json_line"),
            (3, "duplicate_custom_id"),
        ]
        many = await place.ended(await place.made(lines(5)))
        assert [error.code for error in many.errors] == ["too_many_lines"]
        long = await place.ended(await place.made(lines(1, text="x" * 2**20)))
        assert [error.code for error in long.errors] == ["line_too_long"]
        empty = await place.ended(await place.made(b""))
        assert [error.code for error in empty.errors] == ["empty_file"]
        assert place.requests.seen == []


async def test_so_many_requests_run_at_a_time_and_the_rest_stays_on_the_disk(place: Place):
    async with place.running(requests=4):
        batch = await place.made(lines(3, hold=1) + lines(40, 3))
        await place.requests.until(lambda: place.requests.held == 3)
        assert [seen[0] for seen in place.requests.seen] == [0, 1, 2]
        assert (await place.service.get("ada", batch.id)).status == "in_progress"
        place.requests.release.set()
        assert (await place.ended(batch)).counts == LineCounts(43, 43, 0)
        assert place.requests.most == 3, "one user leaves a place to others"


async def test_a_batch_goes_on_after_the_server_was_killed(place: Place):
    async with place.running():
        batch = await place.made(lines(5) + lines(3, 5, hold=1))
        await place.requests.until(lambda: place.requests.held == 3)
        await place.answered(batch, 5)
    assert place.requests.running == 0
    place.requests.release.set()
    place.requests.seen.clear()
    with (place.folder / "batches" / batch.id / "output.jsonl").open("ab") as file:
        file.write(b'{"id": "batch_req_half", "custom_id": "r6", "resp')
    async with place.running():
        batch = await place.ended(batch)
        assert (batch.status, batch.counts) == ("completed", LineCounts(8, 8, 0))
        assert batch.usage == BatchUsage(16, 0, 8, 0)
        assert sorted(seen[0] for seen in place.requests.seen) == [5, 6, 7], "no answer is asked for twice"
        assert numbers(await place.results("ada", batch.output_file)) == list(range(8))


async def test_how_far_a_batch_is_is_stored_now_and_then(place: Place, monkeypatch: pytest.MonkeyPatch):
    saved: list[tuple[str, int]] = []
    save = place.rows.save

    async def noted(batch: StoredBatch) -> None:
        saved.append((batch.status, batch.counts.completed))
        await save(batch)

    monkeypatch.setattr(place.rows, "save", noted)
    async with place.running():
        batch = await place.made(lines(2) + lines(1, 2, hold=1) + lines(1, 3))
        await place.requests.until(lambda: place.requests.held == 1)
        await place.answered(batch, 3)
        assert (await place.rows.get("ada", batch.id)).counts == LineCounts(4)
        place.clock.forward(SAVE_MS)
        place.requests.release.set()
        await place.ended(batch)
        assert ("in_progress", 4) in saved
        assert ("in_progress", 3) not in saved


async def test_cancelling_keeps_what_is_complete(place: Place):
    async with place.running():
        batch = await place.made(lines(4) + lines(1, 4, hold=1))
        await place.requests.until(lambda: place.requests.held == 1)
        await place.answered(batch, 4)
        assert (await place.service.cancel("ada", batch.id)).status in ("cancelling", "cancelled")
        batch = await place.ended(batch)
        assert (batch.status, batch.counts) == ("cancelled", LineCounts(5, 4, 0))
        assert {"cancelling", "cancelled"} <= set(batch.times)
        assert numbers(await place.results("ada", batch.output_file)) == [0, 1, 2, 3]
        assert place.requests.running == 0


async def test_what_is_left_when_the_time_is_over_gets_an_error(place: Place):
    async with place.running():
        batch = await place.made(lines(4) + lines(1, 4, hold=1))
        await place.requests.until(lambda: place.requests.held == 1)
        await place.answered(batch, 4)
    place.clock.forward(WINDOW_MS)
    async with place.running():
        batch = await place.ended(batch)
        assert (batch.status, batch.counts) == ("expired", LineCounts(5, 4, 1))
        assert "expired" in batch.times
        [error] = await place.results("ada", batch.error_file)
        assert (error["custom_id"], error["response"]) == ("r4", None)
        assert error["error"]["code"] == "batch_expired"


@pytest.mark.parametrize("step", ["named", "adopted"])
async def test_a_server_that_ends_while_results_are_stored_stores_them_at_its_next_start(
    place: Place, step: str, monkeypatch: pytest.MonkeyPatch
):
    """Killed before the files are moved, and between the two."""
    adopt = place.files.__class__.adopt
    calls: list[str] = []

    async def killed(self, id, user, path, **more):
        calls.append(id)
        place.requests.news.notify()
        if step == "named" or len(calls) > 1:
            await anyio.sleep_forever()
        await adopt(self, id, user, path, **more)

    with monkeypatch.context() as patched:
        patched.setattr(place.files.__class__, "adopt", killed)
        async with place.running():
            batch = await place.made(lines(2) + lines(1, 2, status=500))
            await place.requests.until(lambda: len(calls) >= (1 if step == "named" else 2))
            assert (await place.service.get("ada", batch.id)).status == "finalizing"
    place.clock.forward(WINDOW_MS)
    async with place.running():
        batch = await place.ended(batch)
        assert (batch.status, batch.counts) == ("completed", LineCounts(3, 2, 1)), (
            "its end was decided before"
        )
        assert numbers(await place.results("ada", batch.output_file)) == [0, 1]
        assert numbers(await place.results("ada", batch.error_file)) == [2]


async def test_a_disk_that_fails_is_tried_again(place: Place, monkeypatch: pytest.MonkeyPatch):
    append, failures = "duologue.gateway.batches.result_files._add", [1, 2]
    from duologue.gateway.batches import result_files

    write = result_files._add

    def failing(path, data):
        if failures:
            failures.pop()
            raise OSError("no space left")
        write(path, data)

    monkeypatch.setattr(append, failing)
    async with place.running(requests=1):
        batch = await place.ended(await place.made(lines(5)))
        assert (batch.status, batch.counts) == ("completed", LineCounts(5, 5, 0))
        assert numbers(await place.results("ada", batch.output_file)) == list(range(5))


@pytest.mark.parametrize("gone", ["ada", "key_1"])
async def test_a_batch_ends_when_its_key_is_revoked_or_its_user_disabled(place: Place, gone: str):
    async with place.running(requests=1):
        token = caller.key_id.set("key_1")
        batch = await place.made(lines(1) + lines(1, 1, hold=1) + lines(5, 2))
        caller.key_id.set("key_2")
        other = await place.made(lines(1), user="ben")
        caller.key_id.reset(token)
        await place.requests.until(lambda: place.requests.held == 1)
        place.access.end(gone)
        batch = await place.ended(batch)
        assert batch.status == "failed"
        assert [error.code for error in batch.errors] == ["access_revoked"]
        assert batch.counts == LineCounts(7, 1, 0)
        assert numbers(await place.results("ada", batch.output_file)) == [0], "what was complete is kept"
        assert (await place.ended(other)).status == "completed"


async def test_a_restart_does_not_forget_which_key_made_a_batch(place: Place):
    async with place.running(requests=1):
        token = caller.key_id.set("key_1")
        batch = await place.made(lines(1, hold=1))
        caller.key_id.reset(token)
        await place.requests.until(lambda: place.requests.held == 1)
    place.access.revoked.add("key_1")
    async with place.running():
        batch = await place.ended(batch)
        assert (batch.status, [error.code for error in batch.errors]) == ("failed", ["access_revoked"])


async def test_without_room_for_results_requests_are_not_carried_out(place: Place):
    data = lines(4)
    room = FileSettings(user_gb=(len(data) + 150) / 10**9)
    async with place.running(room, requests=1):
        batch = await place.ended(await place.made(data))
        errors = await place.results("ada", batch.error_file)
        assert {error["error"]["code"] for error in errors} == {"storage_full"}
        assert batch.counts == LineCounts(4, 4 - len(errors), len(errors))
        assert 0 < len(errors) < 4


async def test_results_are_kept_as_long_as_the_batch_says(place: Place):
    async with place.running():
        expires = {"anchor": "created_at", "seconds": 3600}
        batch = await place.ended(await place.made(lines(1), output_expires_after=expires))
        file = await place.files.get("ada", batch.output_file)
        assert file.expires == place.clock() + 3_600_000
        place.clock.forward(3_600_000)
        with pytest.raises(NotFound):
            await place.files.get("ada", batch.output_file)


async def test_a_bug_ends_the_batch_and_no_other(place: Place, caplog):
    async with place.running():
        broken = await place.ended(await place.made(lines(1, bug=1)))
        assert broken.status == "failed"
        assert [error.code for error in broken.errors] == ["internal_error"]
        assert (await place.ended(await place.made(lines(1)))).status == "completed"


async def test_an_input_that_is_gone_is_told(place: Place):
    async with place.running():
        file = await stored(place.files, lines(1))
        (await place.files.source(file.id)).unlink()
        batch = StoredBatch(
            "batch_1", "ada", "/v1/chat/completions", file.id, place.clock(), place.clock() + 1000
        )
        await place.rows.add(batch)
    async with place.running():
        batch = await place.ended(batch)
        assert [error.code for error in batch.errors] == ["file_not_found"]


async def test_two_tasks_that_store_a_state_leave_the_newer_one(place: Place):
    """A cancel while the batch becomes `in_progress`, with a database that answers the other way round."""
    first = anyio.Event()
    saves: list[str] = []
    save = place.rows.save

    async def slow(batch: StoredBatch, *, within: object = None) -> None:
        saves.append(batch.status)
        place.requests.news.notify()
        if len(saves) == 1:
            await first.wait()
        await save(batch)

    place.rows.save = slow  # type: ignore[method-assign]
    async with place.running():
        batch = await place.made(lines(1, hold=1))
        await place.requests.until(lambda: bool(saves))
        await place.service.cancel("ada", batch.id)
        first.set()
        batch = await place.ended(batch)
        assert batch.status == "cancelled"
        assert (await place.rows.get("ada", batch.id)).status == "cancelled"
        assert saves[0] == "in_progress"
