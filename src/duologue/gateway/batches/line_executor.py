"""Carries out one request of a batch: through the endpoint itself, inside this process, in the lowest place of the queue.

The endpoints are an application of their own, of the same routers as the public one and without its middleware: a line is read,
checked, answered and refused by the same code as a request that comes over the network. Used by `batch_run`.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio
import msgspec
from fastapi import APIRouter, FastAPI
from msgspec import Struct
from starlette.types import ASGIApp, Message

from duologue.errors import Problem, TooLarge, Unsupported
from duologue.gateway.scheduling.lowest_place import lowest_place
from duologue.http.error_responses import exception_handlers, problem_body, problem_status
from duologue.threads import LARGE, in_thread
from duologue.wire.batches.batch_lines import unanswerable
from duologue.wire.batches.batch_object import ENDPOINTS

T = TypeVar("T")
log = logging.getLogger(__name__)

ANSWER_BYTES = 64 * 2**20
"""Bytes of one answer: more are not kept."""
PASSING = (429, 502, 503, 504)
"""Statuses after which another try is worth it."""
PATIENT = (
    *("queue_full", "server_stopping", "busy", "count_timeout", "too_much_in_flight"),
    *("concurrency_limit_exceeded", "rate_limit_exceeded", "insufficient_quota"),
)
"""Codes that say nothing about the request, such as those of its key's limits: it is tried until the batch's time is over."""
TRIES = 4
"""Of a request that fails in another passing way, such as a worker that is lost: the request may be what kills it."""
LONGEST_WAIT = 60.0
"""Seconds before another try."""


class Answer(Struct, frozen=True):
    """What an endpoint answered, as JSON."""

    status: int
    request_id: str
    body: bytes
    retry_after: float = 0.0


class LineExecutor:
    """`app`: answers requests at `paths`."""

    def __init__(
        self, app: ASGIApp, paths: Sequence[str], sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    ) -> None:
        self._app, self.paths, self._sleep = app, tuple(paths), sleep

    @classmethod
    def of(cls, *routers: APIRouter) -> LineExecutor:
        """Over those of ENDPOINTS that these routers have."""
        app = FastAPI(
            openapi_url=None, docs_url=None, redoc_url=None, exception_handlers=exception_handlers()
        )
        there: set[str] = set()
        for router in routers:
            app.include_router(router)
            there |= {str(getattr(route, "path", "")) for route in router.routes}
        return cls(app, [path for path in ENDPOINTS if path in there])

    async def carry_out(self, path: str, body: bytes, user: str, role: str) -> Answer:
        """The endpoint's answer to a request; a passing failure is waited out."""
        tries = 0
        while True:
            answer = await self._answer(path, body, user, role)
            tries += 1
            wait = wait_before_retry(answer, tries)
            if wait is None:
                return answer
            log.info("request %s of a batch is tried again in %.0f s", answer.request_id, wait)
            await self._sleep(wait)

    async def _answer(self, path: str, body: bytes, user: str, role: str) -> Answer:
        request_id = f"req_{secrets.token_hex(12)}"
        if (field := await _read(unanswerable, body)) is not None:
            problem = Unsupported(f"A request of a batch cannot have {field}: leave it out.", param=field)
            return _refused(problem, path, request_id)
        received = _Received(body)
        state = {"user": user, "role": role, "name": "", "keyed": True, "request_id": request_id}
        try:
            with lowest_place():
                await self._app(_scope(path, body, state), received.receive, received.send)
        except Problem as problem:
            return _refused(problem, path, request_id)
        except Exception as error:
            # The application answers a bug first, and raises it then.
            log.exception("request %s of a batch failed", request_id)
            if not received.complete:
                return _refused(error, path, request_id)
        if received.size > ANSWER_BYTES:
            too_large = TooLarge("The answer is larger than 64 MB, the most that a line of a batch may have.")
            return _refused(too_large, path, request_id)
        if not received.complete or not await _read(_is_json, received.body):
            return _refused(Problem("The endpoint gave no JSON."), path, request_id)
        return Answer(received.status, request_id, bytes(received.body), received.retry_after)


class _Received:
    """The two ends of a request that is made here: its body goes in, and the answer is gathered."""

    def __init__(self, body: bytes) -> None:
        self._request: bytes | None = body
        self.status, self.retry_after = 0, 0.0
        self.body = bytearray()
        self.size = 0
        self.complete = False

    async def receive(self) -> Message:
        if self._request is None:
            # Nobody leaves: the request ends with the task that makes it.
            await anyio.sleep_forever()
        body, self._request = self._request, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = {bytes(name).lower(): bytes(value) for name, value in message.get("headers", ())}
            seconds = headers.get(b"retry-after", b"")
            self.retry_after = float(seconds) if seconds.isdigit() else 0.0
        elif message["type"] == "http.response.body":
            # What is too much is not gathered: an endpoint that cannot send would take that for a bug of its own.
            self.size += len(message.get("body", b""))
            if self.size <= ANSWER_BYTES:
                self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)


def wait_before_retry(answer: Answer, tries: int) -> float | None:
    """Seconds after which a request that was answered like this is tried again; None where the answer stays."""
    if answer.status not in PASSING:
        return None
    if tries >= TRIES and _code(answer.body) not in PATIENT:
        return None
    return min(LONGEST_WAIT, max(answer.retry_after, 2.0 ** min(tries - 1, 6)))


class _Error(Struct):
    code: str | None = None


class _Refusal(Struct):
    error: _Error | None = None


def _code(body: bytes) -> str:
    try:
        refusal = msgspec.json.decode(body, type=_Refusal)
    except msgspec.DecodeError:
        return ""
    return (refusal.error and refusal.error.code) or ""


async def _read(function: Callable[[Any], T], body: bytes | bytearray) -> T:
    """A call that reads a body: of a large one in a thread. The places of batches bound how many do."""
    return function(body) if len(body) < LARGE else await in_thread(function, body)


def _is_json(body: bytearray) -> bool:
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _refused(problem: Exception, path: str, request_id: str) -> Answer:
    body = msgspec.json.encode(problem_body(problem, path, request_id))
    retry_after = (isinstance(problem, Problem) and problem.retry_after) or 0.0
    return Answer(problem_status(problem), request_id, body, retry_after)


def _scope(path: str, body: bytes, state: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ],
        "client": None,
        "server": None,
        "state": state,
    }
