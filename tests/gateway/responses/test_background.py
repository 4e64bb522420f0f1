"""Responses in the background: they outlive their client, are watched from any number on, cancelled, bounded, and never left hanging."""

from __future__ import annotations

import anyio
import httpx
import openai
import pytest
from tests.gateway.responses.conftest import Bench

from duologue.errors import Unavailable
from duologue.gateway.responses.background import ENDED_LOGS, RESTARTED
from duologue.store.responses.response_record import StoredResponse
from duologue.values.events import Done, Failed, Prefilled, Started, TextDelta

pytestmark = pytest.mark.anyio


async def ended(bench: Bench, id: str) -> openai.types.responses.Response:
    """The response once it has ended."""
    job = bench.service._background.find("ann", id)
    if job is not None:
        with anyio.fail_after(5):
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


async def test_the_responses_of_a_user_without_access_end_and_no_others(bench: Bench) -> None:
    bench.script.plays(Started("mini"), Prefilled(7), TextDelta("Hel"), None)
    begun = await bench.ann.responses.create(model="mini", input="Hi", background=True)
    assert bench.service.working_users() == {"ann"}
    await bench.service.stop_work("bob")
    assert bench.service.working_users() == {"ann"}
    await bench.service.stop_work("ann")
    assert bench.service.working_users() == set()
    assert (await bench.ann.responses.retrieve(begun.id)).status == "cancelled"


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
