"""Every answer with 429 or 503 says when to try again: all codes on all ways out, and all places in the source that write such an answer."""

import ast
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request

from duologue.errors import Problem
from duologue.gateway.connections import refusals
from duologue.http.error_responses import exception_handlers, refuse
from duologue.http.sse import EventStream
from duologue.http.whole_answer import WholeAnswer

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "duologue"
STATUSES = (429, 503)
ROW = re.compile(r"^\| `(\w+)` \| ([\d, ]+) \|", re.MULTILINE)
PATHS = ("/api/x", "/v1/chat/completions", "/v1/messages")


def documented() -> list[tuple[str, int]]:
    """The codes of docs/errors.md with these statuses."""
    rows = ROW.findall((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))
    return [
        (code, int(status))
        for code, statuses in rows
        for status in statuses.split(",")
        if int(status) in STATUSES
    ]


def answers(path: str, problem: Problem) -> FastAPI:
    """An application whose endpoint fails in each way that one can: it raises, its work raises, its stream does."""
    app = FastAPI(exception_handlers=exception_handlers())

    async def work() -> bytes:
        raise problem

    class Source:
        async def __aenter__(self) -> Any:
            raise problem

        async def __aexit__(self, *_: object) -> None: ...

    class Encoder:
        note, ended = b": \n\n", False

        def encode(self, item: bytes) -> bytes:
            return item

        def close(self) -> None: ...

    @app.get(path)
    async def endpoint(request: Request) -> Any:
        match request.query_params["how"]:
            case "whole":
                return WholeAnswer(work)
            case "stream":
                return EventStream(Source(), Encoder())
        raise problem

    return app


def test_there_are_such_codes():
    assert len(documented()) > 40


@pytest.mark.parametrize(("code", "status"), documented())
async def test_every_documented_code_says_when_to_try_again(code: str, status: int):
    problem = Problem("Not now.", code=code, status=status)
    for path in PATHS:
        transport = httpx.ASGITransport(answers(path, problem))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            for how in ("raise", "whole", "stream"):
                answer = await client.get(path, params={"how": how})
                assert answer.status_code == status
                assert int(answer.headers["retry-after"]) >= 1, (path, how)
    assert b"\r\nretry-after: " in refusals.answer(problem)


async def test_a_refused_socket_says_it_too():
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/ws/chat", "extensions": {"websocket.http.response": {}}}
    await refuse(scope, receive, send, Problem("Not now.", status=503))
    assert (b"retry-after", b"5") in sent[0]["headers"]


def writers() -> list[tuple[str, str]]:
    """Each call in the source that has one of the statuses as a number and makes no exception or event: (place, source)."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "429" not in text and "503" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            if not any(isinstance(value, ast.Constant) and value.value in STATUSES for value in values):
                continue
            name = ast.unparse(node.func).split(".")[-1]
            if name not in EXCEPTIONS:
                found.append((f"{path.relative_to(SOURCE)}:{node.lineno}", ast.unparse(node)))
    return found


EXCEPTIONS = {
    *(
        "Problem",
        "Failed",
        "Busy",
        "Unavailable",
        "Unsupported",
        "EngineFailed",
        "DeviceLost",
        "HTTPException",
    ),
    *("documented", "frozenset", "set", "get"),
}
"""What becomes an answer by `problem_headers` later on, and calls that write none."""


def test_nothing_writes_such_an_answer_by_itself_without_saying_when_to_try_again():
    silent = [
        (place, source)
        for place, source in writers()
        if "problem_headers" not in source and "headers" not in source.replace("headers=None", "")
    ]
    assert silent == []
