"""Responses in the background: they outlive their client, are watched from any number on, cancelled, bounded, and never left hanging."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx
import openai
import pytest
from tests.gateway.responses.conftest import Bench
from tests.gateway.responses.test_preparation import asked

from duologue import caller
from duologue.errors import AccessRevoked, Unavailable
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by
from duologue.gateway.responses.background import ENDED_LOGS, RESTARTED, BackgroundResponse
from duologue.store.responses.response_record import StoredResponse
from duologue.store.responses.response_rows import ResponseRows
from duologue.values.events import Done, Failed, Prefilled, Started, TextDelta

pytestmark = pytest.mark.anyio


async def ended(bench: Bench, id: str) -> Any:
    """The response once it has ended."""
    job = bench.service._background.find("ann", id)
    if job is not None:
        with anyio.fail_after(60):
            await job.ended.wait()
    return await bench.ann.responses.retrieve(id)


async def test_a_response_is_begun_and_read_when_it_has_ended(bench: Bench) -> None:
    gate = anyio.Event()
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), gate, TextDelta("lo"), Done("stop"))
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    assert (begun.status, begun.background, begun.output) == ("queued", True, [])
    with pytest.raises(openai.BadRequestError) as running:
        await bench.ann.responses.create(model="mini", input="On", previous_response_id=begun.id)
    assert running.value.code == "response_in_progress"
    gate.set()
    done = await ended(bench, begun.id)
    assert (done.status, done.output_text) == ("completed", "Hello")
    await bench.ann.responses.create(model="mini", input="On", previous_response_id=begun.id)
    assert [text for _, text in bench.asked()] == ["Hi", "Hello", "On"]


async def test_what_is_written_so_far_can_be_read(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), None)
    stream = await bench.ann.responses.create(model="mini", input="Hi", background=True, stream=True)
    async for event in stream:
        if event.type == "response.output_text.delta":
            break
    (job,) = bench.service._background._running.values()
    half = await bench.ann.responses.retrieve(job.id)
    assert (half.status, half.output_text) == ("in_progress", "Hel")
    await bench.ann.responses.cancel(job.id)


async def test_a_stream_goes_on_from_the_last_event_that_was_seen(bench: Bench) -> None:
    gate = anyio.Event()
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), gate, TextDelta("lo"), Done("stop"))
    seen = []
    stream = await bench.ann.responses.create(model="mini", input="Hi", background=True, stream=True)
    async for event in stream:
        seen.append((event.sequence_number, event.type))
        if event.type == "response.output_text.delta":
            break
    await stream.close()
    assert [kind for _, kind in seen][:3] == [
        "response.created", "response.queued", "response.in_progress",
    ]  # fmt: skip
    (job,) = bench.service._background._running.values()
    gate.set()
    rest = await bench.ann.responses.retrieve(job.id, stream=True, starting_after=seen[-1][0])
    seen += [(event.sequence_number, event.type) async for event in rest]
    assert [number for number, _ in seen] == list(range(len(seen)))
    assert seen[-1][1] == "response.completed"
    again = await bench.ann.responses.retrieve(job.id, stream=True)
    assert [(event.sequence_number, event.type) async for event in again] == seen
    nothing = await bench.ann.responses.retrieve(job.id, stream=True, starting_after=seen[-1][0])
    assert [event async for event in nothing] == []
    with pytest.raises(openai.NotFoundError):
        await bench.bob.responses.retrieve(job.id, stream=True)


async def test_only_a_response_in_the_background_can_be_watched_and_cancelled(bench: Bench) -> None:
    made = await bench.ann.responses.create(model="mini", input="Hi")
    with pytest.raises(openai.BadRequestError) as watched:
        await bench.ann.responses.retrieve(made.id, stream=True)
    assert watched.value.code == "response_not_streamable"
    with pytest.raises(openai.BadRequestError) as cancelled:
        await bench.ann.responses.cancel(made.id)
    assert cancelled.value.code == "response_not_cancellable"
    answer = await bench.plain.get(f"/responses/{made.id}", params={"stream": "true", "starting_after": "x"})
    assert answer.json()["error"]["param"] == "starting_after"


async def test_a_response_is_cancelled_with_what_it_had(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), None)
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    watching = await bench.ann.responses.retrieve(begun.id, stream=True)
    async for event in watching:
        if event.type == "response.output_text.delta":
            break
    cancelled = await bench.ann.responses.cancel(begun.id)
    assert (cancelled.status, cancelled.output_text) == ("cancelled", "Hel")
    last = [event async for event in watching][-1]
    assert (last.type, last.response.status) == ("response.incomplete", "cancelled")
    assert bench.script.running == 0
    again = await bench.ann.responses.cancel(begun.id)
    assert again.status == "cancelled"


async def test_one_that_is_deleted_ends_and_leaves_nothing(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), None)
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    await bench.ann.responses.delete(begun.id)
    assert bench.script.running == 0
    with pytest.raises(openai.NotFoundError):
        await bench.ann.responses.retrieve(begun.id)
    assert bench.service._background.find("ann", begun.id) is None


async def test_a_user_has_so_many_at_a_time(bench: Bench) -> None:
    bench.script.plays(Started("mini"), None)
    for _ in range(2):
        begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    with pytest.raises(openai.RateLimitError) as full:
        await bench.ann.responses.create(model="mini", input="Hi", background=True)
    assert full.value.code == "background_full"
    await bench.bob.responses.create(model="mini", input="Hi", background=True)
    await bench.ann.responses.cancel(begun.id)
    await bench.ann.responses.create(model="mini", input="Hi", background=True)


async def test_what_is_wrong_is_said_at_once(bench: Bench) -> None:
    answer = await bench.plain.post("/responses", json={"background": True})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "input")


async def test_a_failure_is_stored_with_its_code(bench: Bench) -> None:
    bench.script.plays(Failed("queue_full", "Too many wait.", 503))
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    failed = await ended(bench, begun.id)
    assert failed.error is not None
    assert (failed.status, failed.error.code) == ("failed", "queue_full")


async def test_a_fault_of_the_server_ends_the_events_and_not_the_server(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), RuntimeError("a bug"))
    stream = await bench.ann.responses.create(model="mini", input="Hi", background=True, stream=True)
    events = [event async for event in stream]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "internal_error"
    read = await bench.ann.responses.retrieve(events[0].response.id)
    assert read.status == "failed"
    bench.says("Fine")
    assert (await bench.ann.responses.create(model="mini", input="Hi")).output_text == "Fine"


async def test_what_an_earlier_server_left_has_failed(bench: Bench) -> None:
    left = StoredResponse(
        "resp_left", "ann", "in_progress", {"id": "resp_left", "status": "in_progress"}, background=True
    )
    await bench.store.responses.add(left, [])
    assert (await bench.ann.responses.retrieve("resp_left")).status == "failed"
    service = bench.new_service()
    await bench.tasks.start(service.run, bench.store, bench.blobs)
    stored = await bench.store.responses.get("ann", "resp_left")
    assert (stored.status, stored.response["error"]["code"]) == ("failed", RESTARTED)


async def test_one_that_begins_while_the_server_stops_is_refused_and_not_left_unfinished(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, go_on = anyio.Event(), anyio.Event()
    add = ResponseRows.add

    async def slow(rows: ResponseRows, *row: Any) -> None:
        await add(rows, *row)
        stored.set()
        await go_on.wait()

    monkeypatch.setattr(ResponseRows, "add", slow)
    service = bench.new_service()
    background = service._background
    refusals: list[str] = []

    async def begin() -> None:
        with pytest.raises(Unavailable) as refused:
            await background.begin(await service.preparation.prepare(asked(background=True)))
        refusals.append(refused.value.code)

    async with anyio.create_task_group() as tasks:
        async with anyio.create_task_group() as server:
            await server.start(service.run, bench.store, bench.blobs)
            tasks.start_soon(begin)
            await stored.wait()
            server.cancel_scope.cancel()
        go_on.set()
    assert refusals == ["server_stopping"]
    assert background._running == {}
    assert (await service.get("ann", "resp_new"))["status"] == "failed"
    bench.service.storage.use(bench.store, bench.blobs)
    again = bench.new_service()
    await bench.tasks.start(again.run, bench.store, bench.blobs)
    assert (await bench.store.responses.get("ann", "resp_new")).status == "failed"


async def test_those_who_watch_are_told_when_the_server_stops(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), None)
    service = bench.new_service()
    events: list[bytes] = []
    writing = anyio.Event()

    async def watch(job: BackgroundResponse) -> None:
        async for frame in job.frames():
            events.append(frame)
            if b"output_text.delta" in frame:
                writing.set()

    async with anyio.create_task_group() as tasks, anyio.create_task_group() as server:
        await server.start(service.run, bench.store, bench.blobs)
        job = await service._background.begin(
            await service.preparation.prepare(asked(background=True, stream=True))
        )
        tasks.start_soon(watch, job)
        await writing.wait()
        server.cancel_scope.cancel()
    assert b"response.failed" in events[-1]
    assert b"server_stopping" in events[-1]


async def test_an_end_that_cannot_be_stored_is_stored_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.service._background._again = 0.0

    async def broken(rows: ResponseRows, *row: Any) -> None:
        raise Unavailable("The database is away.", code="database_unavailable")

    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hello"), gate := anyio.Event(), Done("stop"))
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    with monkeypatch.context() as outage:
        outage.setattr(ResponseRows, "finish", broken)
        outage.setattr(ResponseRows, "save", broken)
        gate.set()
        failed = await ended(bench, begun.id)
        assert (failed.status, failed.error.code) == ("failed", "database_unavailable")
        assert (await bench.store.responses.get("ann", begun.id)).status == "in_progress"
    with anyio.fail_after(60):
        while (stored := await bench.store.responses.get("ann", begun.id)).status != "failed":  # noqa: ASYNC110 (as a client does)
            await anyio.sleep(0.01)
    assert stored.response["error"]["code"] == "database_unavailable"
    assert await bench.store.responses.unfinished() == []


async def test_one_ends_with_the_access_of_its_user(bench: Bench) -> None:
    work = Work()
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), None)
    service = bench.new_service(work.allowed)
    await bench.tasks.start(service.run, bench.store, bench.blobs)
    token = caller.key_id.set("key_1")
    try:
        prepared = await service.preparation.prepare(asked(background=True))
        job = await service._background.begin(prepared)
    finally:
        caller.key_id.reset(token)
    await anyio.wait_all_tasks_blocked()
    assert work.begun == [("ann", "key_1")]
    work.scope.cancel()
    await job.ended.wait()
    stored = await bench.store.responses.get("ann", "resp_new")
    assert (stored.status, stored.response["error"]["code"]) == ("failed", "access_revoked")
    shown = await service.get("ann", "resp_new")
    assert shown["output"][0]["content"][0]["text"] == "Hel", "what was written is kept"
    assert bench.script.running == 0


async def test_the_bytes_of_its_request_count_until_it_ends(bench: Bench) -> None:
    ledger = ByteLedger(1000)
    bench.script.plays(Started("mini"), None)
    entry = ledger.open("ann")
    with counted_by(entry):
        entry.add(100)
        prepared = await bench.service.preparation.prepare(asked(background=True))
        await bench.service._background.begin(prepared)
        entry.close()
    assert ledger.held("ann") == 100
    await bench.service.cancel("ann", "resp_new")
    assert ledger.held("ann") == 0


class Work:
    """Access that ends when the test says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.scope = anyio.CancelScope()

    @contextmanager
    def allowed(self, user: str, key: str) -> Iterator[None]:
        self.begun.append((user, key))
        with self.scope:
            yield
        if self.scope.cancelled_caught:
            raise AccessRevoked


async def test_before_the_database_is_there_nothing_begins(bench: Bench) -> None:
    service = bench.new_service()
    with pytest.raises(Unavailable):
        service._background.check_room("ann")
    with pytest.raises(Unavailable):
        await service.get("ann", "resp_1")


async def test_the_logs_of_ended_responses_are_bounded(bench: Bench) -> None:
    ids = []
    for _ in range(ENDED_LOGS + 2):
        begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
        await ended(bench, begun.id)
        ids.append(begun.id)
    assert bench.service._background.find("ann", ids[0]) is None
    assert bench.service._background.find("ann", ids[-1]) is not None
    answer = await bench.plain.get(f"/responses/{ids[0]}", params={"stream": "true"})
    assert answer.json()["error"]["code"] == "response_not_streamable"
    assert isinstance(answer, httpx.Response)


async def test_of_what_other_gateways_write_only_what_was_left_is_ended(bench: Bench) -> None:
    for id in ("resp_theirs", "resp_left"):
        running = StoredResponse(
            id, "ann", "in_progress", {"id": id, "status": "in_progress"}, background=True
        )
        await bench.store.responses.add(running, [])
    asked_about: list[set[str]] = []

    async def left(ids: Collection[str]) -> Collection[str]:
        asked_about.append(set(ids))
        return ["resp_left"]

    service = bench.new_service()
    service.share("", left)
    await bench.tasks.start(service.run, bench.store, bench.blobs)
    assert asked_about == [{"resp_theirs", "resp_left"}]
    assert (await bench.store.responses.get("ann", "resp_theirs")).status == "in_progress"
    assert (await bench.store.responses.get("ann", "resp_left")).status == "failed"
