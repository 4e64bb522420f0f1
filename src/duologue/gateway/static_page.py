"""Serves the built page from memory.

Owns everything outside the APIs: `/`, the page's files, a redirect to `/` for paths that only the page's own router knows, and
the errors for everything else. All files are read once at start, so there is no path to traverse and no disk on the event loop.
"""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.errors import NotFound
from duologue.gateway.middleware.host_check import PREVIEW_PATH
from duologue.http.error_responses import RETRY_SECONDS, refuse
from duologue.wire.validation_errors import shortened

FOLDER = Path(str(files("duologue.gateway"))) / "page"
INDEX = "/index.html"
DOCS, DOCS_PAGE = "/docs", "/docs.html"
"""The description of the HTTP APIs and the page that shows it."""
BUILD = re.compile(rb'<meta name="duologue-build" content="([0-9a-f]+)"')
PREVIEW = "/preview.html"
"""The page inside the sandboxed frame that shows what a model wrote."""
IMMUTABLE = "/assets/"
"""Files whose names contain a hash of their content."""
RESERVED = frozenset(
    [
        "v1",
        "v2",
        "api",
        "ws",
        "docs",
        "redoc",
        "openapi.json",
        "health",
        "ready",
        "status",
        "workers",
        "metrics",
        "ca.crt",
        "assets",
        "preview",
    ]
)
"""First path segments of the APIs: an unknown path below them is an error, not the page."""
V1 = frozenset(["chat", "completions", "embeddings", "models", "responses"])
"""First path segments of the OpenAI API, which clients request if their base URL lacks the /v1."""
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""In order of preference."""

# Not the `mimetypes` module: it reads the machine's tables, and on some machines a script is text/plain.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".txt": "text/plain; charset=utf-8",
}

NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Duologue</title></head><body><main>
<h1>The page is not built yet</h1>
<p>The server runs, and its APIs answer{hint}. To build the page, run this in the project's folder, then start again:</p>
<pre>make web</pre>
</main></body></html>
"""
DESCRIPTION = "/openapi.json describes them"


PREVIEW_POLICY = (
    b"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'self'; style-src 'unsafe-inline'; "
    b"img-src data: blob:; font-src data:; media-src data: blob:; frame-ancestors 'self'"
)
"""The frame has no origin, runs the scripts it is given, and cannot connect anywhere."""
PREVIEW_CONNECTIONS = b"(response-origin)"
"""Where a browser that knows this header connects for the frame. The policy does not cover WebRTC, nor the connection that
Chromium opens ahead of a navigation it then forbids."""


class PageFile(Struct, frozen=True):
    """A file as it is served. `encoded`: its precompressed versions by content coding."""

    body: bytes
    mime: str
    etag: str
    encoded: dict[str, bytes]


def read_files(folder: Path) -> dict[str, PageFile]:
    """Every file below `folder` by its URL path, each with its precompressed versions."""
    result: dict[str, PageFile] = {}
    paths = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    # There are hundreds, and comparing paths is slow.
    known = frozenset(map(str, paths))
    for path in paths:
        if path.suffix in ENCODINGS.values() and str(path.with_suffix("")) in known:
            continue
        body = path.read_bytes()
        versions = {coding: Path(f"{path}{suffix}") for coding, suffix in ENCODINGS.items()}
        result["/" + path.relative_to(folder).as_posix()] = PageFile(
            body=body,
            mime=TYPES.get(path.suffix.lower(), "application/octet-stream"),
            etag=hashlib.sha256(body).hexdigest()[:20],
            encoded={coding: file.read_bytes() for coding, file in versions.items() if file.is_file()},
        )
    return result


class StaticPage:
    """The ASGI application for requests that no route matches. `folder` None: a server without a page."""

    def __init__(self, folder: Path | None = FOLDER) -> None:
        self._enabled = folder is not None
        self._files = read_files(folder) if folder else {}

    @property
    def built(self) -> bool:
        return INDEX in self._files

    @property
    def build(self) -> str | None:
        """The id of the build, by which a loaded page learns that it is outdated. None without a page."""
        if not self.built:
            return None
        match = BUILD.search(self._files[INDEX].body)
        return match[1].decode() if match else self._files[INDEX].etag

    @property
    def paths(self) -> frozenset[str]:
        """The paths that need no key: the page's own files, but not the description of the APIs."""
        files = (path for path in self._files if not path.startswith(DOCS))
        return frozenset({"/", *files}) if self._enabled else frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["type"] != "http":
            await refuse(scope, receive, send, NotFound(f"There is no WebSocket at {path}."))
        elif scope["method"] not in ("GET", "HEAD"):
            problem = NotFound(f"There is no endpoint {scope['method']} {shortened(path)}.{_advice(path)}")
            await refuse(scope, receive, send, problem)
        elif (file := self._files.get(path)) is not None:
            await _serve(scope, send, file, immutable=path.startswith(IMMUTABLE))
        elif path == f"{DOCS}/":
            # Its files are relative to the path without the slash, which works under any path a proxy puts before it.
            await _answer(scope, send, 308, [(b"location", b"../docs")], b"")
        elif path == DOCS:
            await self._page(scope, receive, send, DOCS_PAGE)
        elif path == "/":
            await self._page(scope, receive, send, INDEX)
        elif _is_view(path) and _accepts_html(scope):
            # The page refers to its files by relative paths, so it must be shown at the root.
            up = path.count("/") - 1
            if up:
                await _answer(scope, send, 307, [(b"location", b"../" * up)], b"")
            else:
                await self._page(scope, receive, send, INDEX)
        else:
            problem = NotFound(f"There is nothing at {shortened(path)}.{_advice(path)}")
            await refuse(scope, receive, send, problem)

    @property
    def login(self) -> ASGIApp | None:
        """An application that answers any path with the page, status 401: the page then shows its login."""
        return self._login if self.built else None

    async def _login(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _serve(scope, send, self._files[INDEX], status=401)

    async def _page(self, scope: Scope, receive: Receive, send: Send, file: str) -> None:
        description = DESCRIPTION if file == DOCS_PAGE else ""
        if file in self._files:
            await _serve(scope, send, self._files[file])
        elif self._enabled:
            body = NOT_BUILT.format(hint=f"; {description}" if description else "")
            headers = [
                (b"content-type", TYPES[".html"].encode()),
                (b"retry-after", b"%d" % RETRY_SECONDS[503]),
            ]
            await _answer(scope, send, 503, headers, body.encode())
        else:
            sentence = (
                f"This server runs without its page (--no-ui){f'; {description}' if description else ''}."
            )
            await refuse(scope, receive, send, NotFound(sentence))


def _is_view(path: str) -> bool:
    """Whether the page's router may know this path: not an API, not a file, not a path with `..`."""
    segments = path.split("/")[1:]
    return segments[0] not in RESERVED and ".." not in segments and "." not in segments[-1]


def _accepts_html(scope: Scope) -> bool:
    """Whether a browser navigates here. A program with a wrong URL must get an error, not a page where it expects JSON."""
    return any(b"text/html" in value for name, value in scope["headers"] if name == b"accept")


def _advice(path: str) -> str:
    if path.startswith(("/v1/v1/messages", "/messages")):
        return " The base URL of the Anthropic API here is the address without /v1."
    is_openai = path.removeprefix("/").partition("/")[0] in V1
    return " The base URL of the OpenAI API here ends in /v1." if is_openai else ""


async def _serve(
    scope: Scope, send: Send, file: PageFile, *, immutable: bool = False, status: int = 200
) -> None:
    request = {key: value.decode("latin-1") for key, value in scope["headers"]}
    coding = _best_coding(request.get(b"accept-encoding", ""), file)
    etag = f'"{file.etag}-{coding}"' if coding else f'"{file.etag}"'
    cache = "public, max-age=31536000, immutable" if immutable else "no-cache"
    headers = [(b"etag", etag.encode()), (b"cache-control", cache.encode())]
    headers += _frame_headers(scope["path"])
    if file.encoded:
        headers.append((b"vary", b"Accept-Encoding"))
    if status == 200 and _matches(request.get(b"if-none-match", ""), etag):
        await _answer(scope, send, 304, headers, b"")
        return
    headers.append((b"content-type", file.mime.encode()))
    if coding:
        headers.append((b"content-encoding", coding.encode()))
    await _answer(scope, send, status, headers, file.encoded[coding] if coding else file.body)


def _frame_headers(path: str) -> list[tuple[bytes, bytes]]:
    if path == PREVIEW:
        return [
            (b"content-security-policy", PREVIEW_POLICY),
            (b"connection-allowlist", PREVIEW_CONNECTIONS),
            (b"x-dns-prefetch-control", b"off"),
            (b"x-frame-options", b"SAMEORIGIN"),
        ]
    if path.startswith(PREVIEW_PATH):  # a sandboxed frame is foreign to every origin, also to this one
        return [(b"cross-origin-resource-policy", b"cross-origin"), (b"access-control-allow-origin", b"*")]
    return []


async def _answer(
    scope: Scope, send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    if status != 304:
        headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _matches(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or "*" in tags


def _best_coding(accepted: str, file: PageFile) -> str | None:
    """The best coding that the client accepts and the build has; `q=0` is a refusal."""
    accepted_codings = set()
    for entry in accepted.lower().split(","):
        name, _, quality = entry.partition(";")
        weight = quality.strip().removeprefix("q=") or "1"
        if weight.strip("0.") != "":
            accepted_codings.add(name.strip())
    return next(
        (coding for coding in ENCODINGS if coding in accepted_codings and coding in file.encoded), None
    )
