"""A client of a server with OpenAI's paths for speech, and an error for everything that can go wrong with it.

Used by `speech`. Owns the connection, its timeouts and its errors; the key appears in none of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx
from msgspec import Struct

from duologue.engines.openai_remote.connected_address import server_client
from duologue.engines.openai_remote.error_text import error_message, mask, read_beginning
from duologue.engines.openai_remote.response_json import json_of
from duologue.errors import BadRequest, Busy, EngineFailed, NotFound, Problem, StartFailed
from duologue.models.upstream_url import parse_upstream_url, shown_url

CONNECT_TIMEOUT = 10.0
"""Seconds to reach the server."""
LIST_TIMEOUT = 5.0
"""Seconds the start waits for a list from the server."""
READ_TIMEOUT = 120.0
"""Seconds it may send nothing while it works."""


class SoundResponse(Struct, frozen=True):
    """A response that is still arriving: its content type, and its bytes."""

    kind: str
    pieces: AsyncIterator[bytes]


class SpeechClient:
    """A client of one server. `setting` is where its address and key are set, for errors: `voice.recogniser`."""

    def __init__(self, url: str, key: str, setting: str, *, connections: int = 16) -> None:
        parts = parse_upstream_url(url)
        if parts is None:
            raise StartFailed(
                f"The setting {setting}.url must be the address of a server, such as http://127.0.0.1:8000/v1; {url!r} is "
                "not one.",
                param=f"{setting}.url",
            )
        self.shown = shown_url(parts)
        self._base = urlunsplit(parts)
        self._setting = setting
        self._secrets = [secret for secret in (key, parts.password) if secret]
        timeout = httpx.Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT, pool=None)
        self._client = server_client(key, timeout, connections)

    @property
    def host(self) -> str:
        return urlsplit(self._base).hostname or ""

    async def fetch_list(self, path: str, names: Iterable[str]) -> list[Any]:
        """The server's list at `path`, under one of `names`; empty where it has none, or does not answer."""
        try:
            response = await self._client.get(f"{self._base}{path}", timeout=LIST_TIMEOUT)
            body = json_of(response.content) if response.is_success else None
        except (httpx.HTTPError, OSError, ValueError):
            return []
        if isinstance(body, dict):
            body = next((body[name] for name in names if isinstance(body.get(name), list)), None)
        return body if isinstance(body, list) else []

    async def post_form(self, path: str, fields: dict[str, Any], file: tuple[str, bytes, str]) -> bytes:
        """Send a form with a file; the body of the response. Raises Problems."""
        with self._failures():
            response = await self._client.post(f"{self._base}{path}", data=fields, files={"file": file})
            if not response.is_success:
                raise self._refused(response.status_code, response.content)
            return response.content

    @asynccontextmanager
    async def post_for_sound(self, path: str, body: dict[str, Any]) -> AsyncIterator[SoundResponse]:
        """Request sound, which is read while it arrives. Leaving closes the connection, which ends the server's work. Raises
        Problems."""
        request = self._client.build_request("POST", f"{self._base}{path}", json=body)
        with self._failures():
            response = await self._client.send(request, stream=True)
        try:
            if not response.is_success:
                with self._failures():
                    content = await read_beginning(response)
                raise self._refused(response.status_code, content)
            yield SoundResponse(response.headers.get("content-type", ""), self._pieces(response))
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _pieces(self, response: httpx.Response) -> AsyncIterator[bytes]:
        with self._failures():
            async for piece in response.aiter_bytes():
                yield piece

    def failed(self, what: str) -> EngineFailed:
        return EngineFailed(f"The speech server {self.shown} {what}.", code="upstream_failed", status=502)

    async def close(self) -> None:
        await self._client.aclose()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Errors of the connection as Problems."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            reason = mask(str(error), self._secrets) or type(error).__name__
            raise EngineFailed(
                f"The speech server {self.shown} cannot be reached ({reason}). Check that it runs, that {self._setting}.url "
                "is right, and that this machine may reach it.",
                code="upstream_unreachable",
                status=502,
            ) from error
        except httpx.TimeoutException as error:
            raise self.failed(f"has sent nothing for {READ_TIMEOUT:.0f} seconds") from error
        except (httpx.HTTPError, OSError) as error:
            raise self.failed("broke the connection") from error

    def _refused(self, status: int, content: bytes) -> Problem:
        message = error_message(content, self._secrets)
        if status in (401, 403):
            return EngineFailed(
                f"The speech server {self.shown} refused the key ({status}): {message} Check {self._setting}.key.",
                code="upstream_refused",
                status=502,
            )
        if status == 429:
            return Busy(f"The speech server {self.shown} is busy: {message}", status=429)
        if status == 404:
            return NotFound(
                f"The speech server {self.shown} has no such path, model or voice (404): {message} Check "
                f"{self._setting}.url and {self._setting}.model.",
                code="upstream_refused",
            )
        if status in (400, 413, 422):
            return BadRequest(
                f"The speech server {self.shown} did not accept the request ({status}): {message}",
                code="upstream_refused",
            )
        return EngineFailed(
            f"The speech server {self.shown} failed ({status}): {message}", code="upstream_failed", status=502
        )
