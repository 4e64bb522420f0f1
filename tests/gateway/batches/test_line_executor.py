"""A request of a batch goes through the endpoint itself, in the lowest place, and waits out what passes."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from duologue.errors import Busy, Problem, QueueFull, Unavailable
from duologue.gateway.batches.line_executor import TRIES, Answer, LineExecutor, wait_before_retry
from duologue.gateway.scheduling.lowest_place import in_lowest_place

pytestmark = pytest.mark.anyio

PATH = "/v1/chat/completions"


class Endpoint:
    """Answers with what the test sets, in turn; `seen` is what came."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.seen, self.slept = list(answers), [], []  # type: ignore[var-annotated]
        self.routes = APIRouter(prefix="/v1")

        @self.routes.post("/chat/completions")
        async def answer(request: Request) -> Response:
            state = request.scope["state"]
            self.seen.append((await request.json(), state["user"], state["role"], in_lowest_place()))
            reply = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(reply, Exception):
                raise reply
            if reply is None:
                await anyio.sleep_forever()
            return reply if isinstance(reply, Response) else JSONResponse(reply)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def ask(self, body: bytes = b'{"n": 1}') -> tuple[int, Any]:
        executor = LineExecutor.of(self.routes)
        executor._sleep = self.sleep
        answer = await executor.carry_out(PATH, body, "ada", "user")
        assert answer.request_id.startswith("req_")
        return answer.status, json.loads(answer.body)


async def test_the_endpoint_answers_the_owner_in_the_lowest_place():
    endpoint = Endpoint({"said": "yes"})
    assert await endpoint.ask() == (200, {"said": "yes"})
    assert endpoint.seen == [({"n": 1}, "ada", "user", True)]
    assert not in_lowest_place()


async def test_only_endpoints_that_are_there_take_batches():
    assert LineExecutor.of(Endpoint({}).routes, APIRouter()).paths == (PATH,)


async def test_a_refusal_is_the_answer_in_the_shape_of_the_dialect():
    status, body = await Endpoint(Problem("No.", code="unsupported", status=400, param="n")).ask()
    assert status == 400
    assert (body["error"]["code"], body["error"]["type"]) == ("unsupported", "invalid_request_error")


async def test_a_bug_is_an_answer_too(caplog):
    status, body = await Endpoint(RuntimeError("a bug")).ask()
    assert (status, body["error"]["code"]) == (500, "internal_error")
    assert "a bug" not in json.dumps(body)


async def test_what_has_no_answer_in_a_file_never_reaches_the_endpoint():
    endpoint = Endpoint({})
    status, body = await endpoint.ask(b'{"stream": true}')
    assert (status, body["error"]["param"], endpoint.seen) == (400, "stream", [])


async def test_a_full_queue_is_waited_out_however_long_it_is():
    endpoint = Endpoint(*[QueueFull("Full.", retry_after=7.0)] * 20, {"said": "at last"})
    assert await endpoint.ask() == (200, {"said": "at last"})
    assert len(endpoint.slept) == 20
    assert min(endpoint.slept) == 7
    assert max(endpoint.slept) == 60


async def test_a_failure_of_the_worker_is_tried_a_few_times():
    endpoint = Endpoint(Unavailable("Lost.", code="worker_lost"))
    status, body = await endpoint.ask()
    assert (status, body["error"]["code"]) == (503, "worker_lost")
    assert len(endpoint.seen) == TRIES


async def test_what_is_no_json_is_no_answer():
    status, body = await Endpoint(Response(b"<html>", media_type="text/html")).ask()
    assert (status, body["error"]["code"]) == (500, "internal_error")


async def test_an_answer_that_is_too_large_is_not_gathered(monkeypatch):
    monkeypatch.setattr("duologue.gateway.batches.line_executor.ANSWER_BYTES", 100)
    status, body = await Endpoint({"said": "x" * 200}).ask()
    assert (status, body["error"]["code"]) == (413, "too_large")


async def test_a_cancelled_task_ends_its_request():
    endpoint = Endpoint(None)
    with anyio.move_on_after(0.01) as scope:
        await endpoint.ask()
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("status", "code", "tries", "waits"),
    [
        (200, "", 1, None),
        (400, "queue_full", 1, None),
        (500, "internal_error", 1, None),
        (503, "worker_lost", 1, 1.0),
        (503, "worker_lost", 3, 4.0),
        (503, "worker_lost", TRIES, None),
        (429, Busy.code, 30, 60.0),
        (503, "server_stopping", 9, 60.0),
    ],
)
def test_what_passes_is_tried_again(status, code, tries, waits):
    body = json.dumps({"error": {"code": code}}).encode()
    assert wait_before_retry(Answer(status, "req_1", body), tries) == waits
