"""The span of a request."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.recorded_spans import recording

from duologue.gateway.middleware.host_check import AllowedHosts
from duologue.gateway.middleware.request_id import RequestId
from duologue.gateway.middleware.stack import with_middleware
from duologue.gateway.middleware.traced_requests import TracedRequests
from duologue.http.error_responses import ERROR_CODE

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADER = [(b"traceparent", f"00-{TRACE}-00f067aa0ba902b7-01".encode())]
UNUSED: Any = None


class Route:
    path = "/things/{name}"


async def request(
    *,
    path: str = "/things/of-a-person",
    kind: str = "http",
    headers: Any = (),
    trust: bool = True,
    status: int = 200,
    code: str = "",
    closes: bool = False,
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["route"] = Route
        if code:
            scope.setdefault("state", {})[ERROR_CODE] = code
        if closes:
            await send({"type": "websocket.close"})
        elif kind == "http":
            await send({"type": "http.response.start", "status": status, "headers": []})
        else:
            await send({"type": "websocket.accept"})

    async def send(message: Any) -> None:
        pass

    scope = {"type": kind, "path": path, "headers": list(headers)} | (
        {"method": "POST"} if kind == "http" else {}
    )
    await RequestId(TracedRequests(app, trust=trust))(scope, UNUSED, send)


@pytest.mark.anyio
async def test_a_request_is_named_by_its_route_and_never_by_its_path():
    with recording() as seen:
        await request()
    span = seen["POST /things/{name}"]
    assert span.kind.name == "SERVER"
    assert dict(span.attributes) | {"duologue.request_id": ""} == {
        "http.request.method": "POST",
        "http.route": "/things/{name}",
        "http.response.status_code": 200,
        "duologue.request_id": "",
    }
    assert "person" not in span.to_json()


@pytest.mark.anyio
async def test_a_clients_trace_is_continued_where_clients_are_trusted():
    with recording() as seen:
        await request(headers=HEADER)
        await request(headers=HEADER, trust=False)
        await request(headers=HEADER * 2)
    trusted, stranger, twice = seen.all
    assert f"{trusted.context.trace_id:032x}" == TRACE
    assert stranger.parent is None
    assert twice.parent is None


@pytest.mark.anyio
async def test_a_mistake_of_the_client_is_no_failure_of_the_server():
    with recording() as seen:
        await request(status=404, code="not_found")
        await request(status=503, code="queue_full")
        await request(status=500)
    mistake, failure, bug = seen.all
    assert (mistake.attributes["error.type"], mistake.status.is_unset) == ("not_found", True)
    assert (failure.attributes["error.type"], failure.status.is_ok) == ("queue_full", False)
    assert bug.attributes["error.type"] == "500"


@pytest.mark.anyio
async def test_a_socket_has_a_span_and_so_has_one_that_was_refused():
    with recording() as seen:
        await request(kind="websocket")
        await request(kind="websocket", closes=True)
    assert seen.names == ["GET /things/{name}"] * 2
    assert [span.attributes["http.response.status_code"] for span in seen.all] == [101, 403]


@pytest.mark.anyio
async def test_probes_and_files_have_none_and_neither_has_what_is_not_sampled():
    with recording() as seen:
        for path in ("/health", "/metrics", "/assets/page.js"):
            await request(path=path)
    assert seen.names == []
    with recording(ratio=0.0) as seen:
        await request(status=500)
    assert seen.names == []


def test_without_tracing_no_request_passes_it():
    def app() -> None: ...

    hosts = AllowedHosts((), ())
    plain: Any = with_middleware(app, hosts)  # type: ignore[arg-type]
    assert not isinstance(plain._app, TracedRequests)
    with recording():
        traced: Any = with_middleware(app, hosts, trust_traces=True)  # type: ignore[arg-type]
    assert isinstance(traced._app, TracedRequests)
