"""A response while it is written: who leaves, cancels it; how its stream ends; when it is stored."""

from __future__ import annotations

import json

import anyio
import pytest
from tests.gateway.responses.conftest import Bench

from duologue.errors import Unavailable
from duologue.values.events import Done, Prefilled, TextDelta

pytestmark = pytest.mark.anyio


class Reached:
    """A step of a script that says that it was reached, and never ends."""

    def __init__(self) -> None:
        self.event = anyio.Event()

    async def wait(self) -> None:
        self.event.set()
        await anyio.sleep_forever()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_cancels_its_response(bench: Bench, stream: bool) -> None:
    reached = Reached()
    bench.script.plays(Prefilled(7), TextDelta("Hel"), reached)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            body = {"input": "Hi", "stream": stream}
            group.start_soon(lambda: bench.plain.post("/responses", json=body))
            await reached.event.wait()
            group.cancel_scope.cancel()
        await bench.script.left.wait()
    assert bench.script.running == 0


async def test_a_reply_that_breaks_off_has_failed(bench: Bench) -> None:
    bench.script.plays(Prefilled(7), TextDelta("Hel"))
    answer = await bench.plain.post("/responses", json={"input": "Hi", "stream": True})
    last = json.loads(answer.text.split("\n\n")[-2].partition("data: ")[2])
    assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "reply_incomplete")
    answer = await bench.plain.post("/responses", json={"input": "Hi"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "reply_incomplete")


async def test_a_fault_in_the_middle_ends_the_stream_with_an_error(bench: Bench) -> None:
    bench.script.plays(Prefilled(7), TextDelta("Hel"), RuntimeError("a bug"))
    answer = await bench.plain.post("/responses", json={"input": "Hi", "stream": True})
    name, _, data = answer.text.split("\n\n")[-2].partition("\ndata: ")
    error = json.loads(data)
    assert (name, error["type"], error["code"]) == ("event: error", "error", "internal_error")
    assert error["sequence_number"] == 5
    answer = await bench.plain.post("/responses", json={"input": "Hi"})
    assert answer.status_code == 500


async def test_a_response_is_stored_before_its_end_is_told(bench: Bench) -> None:
    stream = await bench.ann.responses.create(model="mini", input="Hi", stream=True)
    async for event in stream:
        if event.type == "response.completed":
            assert (await bench.store.responses.get("ann", event.response.id)).status == "completed"


async def test_a_response_that_cannot_be_stored_is_an_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise Unavailable("The disk is full.", code="storage_unavailable")

    monkeypatch.setattr(bench.store.responses, "add", full)
    answer = await bench.plain.post("/responses", json={"input": "Hi"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "storage_unavailable")
    bench.script.plays(Prefilled(7), TextDelta("Hi"), Done("stop"))
    answer = await bench.plain.post("/responses", json={"input": "Hi", "stream": True})
    assert '"code": "storage_unavailable"' in answer.text.split("\n\n")[-2]
