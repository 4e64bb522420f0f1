"""A model hub on loopback for tests: listings, redirects to a second server, ranges, and everything that goes wrong.

It speaks as much of the hub's API as we use. What a test wants to go wrong it sets on the `Hub`; what was asked, and
with which headers, is in `requests`.
"""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE = 16_384


@dataclass
class Asked:
    path: str
    headers: dict[str, str]


@dataclass
class Hub:
    """`files` by repository and path. The fields below the line are what goes wrong, each off unless set."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    licence: str = "apache-2.0"
    architecture: str = ""
    token: str = ""
    """What a request must bring, where it is set."""
    url: str = ""
    store: str = ""
    """The second server, to which downloads are redirected."""
    requests: list[Asked] = field(default_factory=list)

    statuses: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers for the next requests instead of the right ones."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the bodies of the next downloads end."""
    stalls: bool = False
    """Whether a download of several pieces stands still after the first."""
    ranges: bool = True
    careless: bool = False
    """Whether `If-Range` is overlooked."""
    etag: str = ""
    checksums: dict[str, str] = field(default_factory=dict)
    """Announced instead of the right ones, by path; "" announces none."""
    sizes: dict[str, int] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    """Where paths of this server lead instead."""
    body: bytes | None = None
    """What a listing is instead of JSON."""

    def asked(self, start: str) -> list[Asked]:
        """The requests whose path begins so."""
        return [request for request in self.requests if request.path.startswith(start)]

    def downloads(self) -> list[Asked]:
        return self.asked("/store/")


def _application(hub: Hub) -> Starlette:
    def trouble(request: Request) -> Response | None:
        hub.requests.append(Asked(request.url.path, dict(request.headers)))
        if hub.statuses:
            status, headers = hub.statuses.pop(0)
            return PlainTextResponse("no", status, headers)
        if request.url.path in hub.redirects:
            return RedirectResponse(hub.redirects[request.url.path])
        guarded = hub.token and not request.url.path.startswith("/store/")
        if guarded and request.headers.get("authorization") != f"Bearer {hub.token}":
            return PlainTextResponse("no", 401)
        return None

    async def listing(request: Request) -> Response:
        name = request.path_params["name"]
        if (refused := trouble(request)) is not None:
            return refused
        if hub.body is not None:
            return Response(hub.body)
        if name not in hub.files:
            return PlainTextResponse("no", 401, {"x-error-code": "RepoNotFound"})
        info = {
            "id": name,
            "sha": COMMIT,
            "cardData": {"license": hub.licence},
            "siblings": [_sibling(hub, path, content) for path, content in hub.files[name].items()],
        }
        if hub.architecture:
            info["gguf"] = {"architecture": hub.architecture}
        return JSONResponse(info)

    async def resolve(request: Request) -> Response:
        if (refused := trouble(request)) is not None:
            return refused
        name, path = request.path_params["name"], request.path_params["path"]
        if path not in hub.files.get(name, {}) or request.path_params["revision"] != COMMIT:
            return PlainTextResponse("no", 404, {"x-error-code": "EntryNotFound"})
        return RedirectResponse(f"{hub.store}/store/{name}/{path}?signature=secret", 302)

    async def store(request: Request) -> Response:
        if (refused := trouble(request)) is not None:
            return refused
        content = hub.files[request.path_params["name"]][request.path_params["path"]]
        return _content(hub, content, request)

    name = "{owner}/{repository}"
    routes = [
        Route(f"/api/models/{name}/revision/{{revision}}", _named(listing)),
        Route(f"/{name}/resolve/{{revision}}/{{path:path}}", _named(resolve)),
        Route(f"/store/{name}/{{path:path}}", _named(store)),
        Route("/{path:path}", lambda request: trouble(request) or PlainTextResponse("no", 404)),
    ]
    return Starlette(routes=routes)


def _named(endpoint):
    async def call(request: Request) -> Response:
        parameters = request.path_params
        parameters["name"] = f"{parameters['owner']}/{parameters['repository']}"
        return await endpoint(request)

    return call


def _sibling(hub: Hub, path: str, content: bytes) -> dict[str, object]:
    size = hub.sizes.get(path, len(content))
    sha256 = hub.checksums.get(path, hashlib.sha256(content).hexdigest())
    sibling: dict[str, object] = {"rfilename": path, "size": size}
    if sha256:
        sibling["lfs"] = {"sha256": sha256, "size": size, "pointerSize": 134}
    return sibling


def _content(hub: Hub, content: bytes, request: Request) -> Response:
    etag = hub.etag or f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers, status, start = {"etag": etag}, 200, 0
    asked = request.headers.get("range", "")
    if asked and hub.ranges and (hub.careless or request.headers.get("if-range", etag) == etag):
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            return PlainTextResponse("no", 416)
        status = 206
        headers["content-range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
    rest = content[start:]
    headers["content-length"] = str(len(rest))
    sent = rest[: hub.cuts.pop(0)] if hub.cuts else rest

    async def body() -> AsyncIterator[bytes]:
        for place in range(0, len(sent), PIECE):
            yield sent[place : place + PIECE]
            if hub.stalls and place + PIECE < len(sent):
                await anyio.sleep_forever()

    return StreamingResponse(body(), status, headers)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub on one port and its store on another, until the context is left."""
    application = _application(hub)
    servers = []
    for kind in ("url", "store"):
        listener = socket.create_server(("127.0.0.1", 0))
        setattr(hub, kind, f"http://127.0.0.1:{listener.getsockname()[1]}")
        server = uvicorn.Server(
            uvicorn.Config(application, log_config=None, log_level="critical", lifespan="off", ws="none")
        )
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        servers.append((server, thread, listener))
    try:
        yield hub
    finally:
        for server, _, _ in servers:
            server.should_exit = server.force_exit = True
        for _, thread, listener in servers:
            thread.join(timeout=10)
            listener.close()
