"""The connection to an upstream: one client, a request for each reply, closed when the reply is left, so that the upstream stops too.

Used by `engine` and `known_model`. Owns the time limits, when a request is sent again (`retry` decides), and which of our errors an
upstream's refusal is. The key appears in no error.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import count
from typing import Any
from urllib.parse import urlunsplit

import anyio
import httpx
from msgspec import Struct

from duologue.engines.openai_remote.connected_address import server_client
from duologue.engines.openai_remote.error_text import error_message, mask, read_beginning
from duologue.engines.openai_remote.response_json import json_of
from duologue.engines.openai_remote.retry import STATUSES, pause, retry_after
from duologue.engines.openai_remote.stream import DONE, MAX_LINE, EventLines
from duologue.errors import Busy, ContextExceeded, EngineFailed, ModelNotFound, Problem, StartFailed
from duologue.models.upstream_url import parse_upstream_url, shown_url

CHAT = "/chat/completions"
CONNECT_TIMEOUT = 10.0
FIRST_TIMEOUT = 600.0
IDLE_TIMEOUT = 300.0
RETRIES = 2
LONGEST_LIST = 8 * 1024 * 1024
"""Bytes of a list of models that are read; the longest known list has one."""
LONGEST_DETAIL = 4 * 1024 * 1024
"""Bytes of what a server says elsewhere about its models."""
WHOLE = ("/embeddings", "/rerank")
"""Paths whose answers are no streams."""
UNREACHABLE = "upstream_unreachable"
OVERFLOWS = (
    *("context_length_exceeded", "maximum context length", "exceeds the available context"),
    *("context window", "exceed_context_size", "prompt is too long", "model's context length"),
    *("max context size", "too large to process", "tokens, but the model", "must have less than"),
)
"""What servers say of a prompt, or an input of an embedding model, that is too long; few have a code for it."""
sleep = anyio.sleep


class Patience(Struct, frozen=True):
    """Seconds to reach the upstream; seconds it may send nothing before its first event, because servers read long prompts without a
    word; the same afterwards, because some send a whole tool call or a long thought at once; how often a request that was not
    begun is sent again."""

    connect: float = CONNECT_TIMEOUT
    first: float = FIRST_TIMEOUT
    idle: float = IDLE_TIMEOUT
    retries: int = RETRIES


PATIENCE = Patience()


class NotBegun(Exception):
    """The upstream did not begin to answer, and may do so soon."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


class Upstream:
    """The connection to one server. Its key appears in no error. `alone`: it sends a request that was not begun again by itself; else that
    is told as NotBegun, and another server may get it."""

    def __init__(
        self, url: str, key: str, slots: int, patience: Patience = PATIENCE, *, alone: bool = True
    ) -> None:
        parts = parse_upstream_url(url)
        if parts is None:
            raise StartFailed(
                f"{url!r} is not the URL of a server. Give one like http://127.0.0.1:11434.",
                param="upstream.url",
            )
        self.shown = shown_url(parts)
        self._patience = patience
        self._base = urlunsplit(parts)
        self._root = urlunsplit(parts._replace(path=""))
        self._beside = self._base.rpartition("/")[0]
        self._alone = alone
        self._secrets = [secret for secret in (key, parts.password) if secret]
        timeout = httpx.Timeout(patience.first, connect=patience.connect, pool=None)
        self._client = server_client(key, timeout, slots + 2)

    async def models(self) -> dict[str, dict[str, Any]]:
        """The upstream's models by name, in its order."""
        try:
            async with self._client.stream("GET", f"{self._base}/models") as response:
                content = await read_beginning(response, LONGEST_LIST)
        except (httpx.HTTPError, OSError) as error:
            raise self._unreachable(error) from error
        if response.status_code != httpx.codes.OK:
            raise self._refused(response.status_code, content)
        try:
            entries = json_of(content)["data"]
            return {str(entry["id"]): entry for entry in entries}
        except (ValueError, KeyError, TypeError) as error:
            raise self.failed("does not list its models as an OpenAI-compatible server does") from error

    async def detail(self, path: str, body: object) -> bytes:
        """What the server says at a path of its own; empty if it says nothing there."""
        method = "GET" if body is None else "POST"
        try:
            async with self._client.stream(method, self._root + path, json=body) as response:
                found = response.status_code == httpx.codes.OK
                return await read_beginning(response, LONGEST_DETAIL) if found else b""
        except (httpx.HTTPError, OSError):
            return b""

    async def beside(self, path: str) -> tuple[int, bytes]:
        """The status and the beginning of what it answers beside its API, at `/health` or `/metrics`. Raises httpx.HTTPError, OSError."""
        async with self._client.stream("GET", self._beside + path) as response:
            return response.status_code, await read_beginning(response, LONGEST_DETAIL)

    async def first_model(self) -> str:
        models = await self.models()
        if not models:
            raise self.failed("has no model loaded")
        return next(iter(models))

    async def stream(self, body: bytes, path: str = CHAT) -> AsyncGenerator[bytes, None]:
        """The data of the reply's events, until the upstream reports the end or closes the connection. Raises Problem, and NotBegun."""
        response = await self._begun(body, path)
        try:
            if "json" in response.headers.get("content-type", ""):
                with anyio.fail_after(self._patience.first):
                    whole = await read_beginning(response, MAX_LINE)
                yield whole
                return
            async with aclosing(self._events(response)) as events:
                async for data in events:
                    if data == DONE:
                        return
                    yield data
        except TimeoutError as error:
            raise self._silent(self._patience.first) from error
        except (httpx.HTTPError, OSError) as error:
            raise self.failed("broke the connection") from error
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def answer(self, path: str, body: bytes, largest: int) -> bytes:
        """The whole answer to a request under the server's URL, of at most so many bytes. Raises Problem, and NotBegun."""
        response = await self._begun(body, path)
        try:
            with anyio.fail_after(self._patience.first):
                return await read_beginning(response, largest)
        except TimeoutError as error:
            raise self._silent(self._patience.first) from error
        except (httpx.HTTPError, OSError) as error:
            raise self.failed("broke the connection") from error
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _begun(self, body: bytes, path: str) -> httpx.Response:
        """A response with status 200, after as many tries as it takes and `retry` allows."""
        if not self._alone:
            return await self._open(body, path)
        waited = 0.0
        for attempt in count():
            try:
                return await self._open(body, path)
            except NotBegun as failure:
                told = failure.problem.retry_after
                seconds = pause(attempt, self._patience.retries, waited, told, random.random())
                if seconds is None:
                    raise failure.problem from failure.__cause__
            await sleep(seconds)
            waited += seconds
        raise AssertionError("counting has no end")

    async def _open(self, body: bytes, path: str) -> httpx.Response:
        patience = self._patience
        request = self._client.build_request(
            "POST",
            f"{self._base}{path}",
            content=body,
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json" if path in WHOLE else "text/event-stream",
            },
            timeout=httpx.Timeout(None, connect=patience.connect),
        )
        try:
            with anyio.fail_after(patience.connect + patience.first):
                response = await self._client.send(request, stream=True)
                if response.status_code == httpx.codes.OK:
                    return response
                try:
                    content = await read_beginning(response)
                finally:
                    await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotBegun(self._unreachable(error)) from error
        except TimeoutError as error:
            raise self._silent(patience.first) from error
        except (httpx.HTTPError, OSError) as error:
            # A kept connection that the server has just closed ends like this.
            raise NotBegun(self.failed("broke the connection")) from error
        problem = self._refused(response.status_code, content)
        if response.status_code in STATUSES:
            problem.retry_after = retry_after(response.headers.get("retry-after", ""), time.time())
            raise NotBegun(problem)
        raise problem

    async def _events(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        lines, limit = EventLines(), self._patience.first
        async with aclosing(response.aiter_bytes()) as pieces:  # type: ignore[type-var]
            while True:
                try:
                    with anyio.fail_after(limit):
                        piece = await anext(pieces, None)
                except TimeoutError as error:
                    raise self._silent(limit) from error
                for data in lines.finish() if piece is None else lines.feed(piece):
                    limit = self._patience.idle
                    yield data
                if piece is None:
                    return

    def _silent(self, seconds: float) -> EngineFailed:
        return self.failed(f"has sent nothing for {seconds:g} seconds")

    def failed(self, what: str) -> EngineFailed:
        return EngineFailed(f"The upstream {self.shown} {what}.", code="upstream_failed", status=502)

    def problem_of(self, message: str) -> Problem:
        """The upstream's own error message as a Problem."""
        clean = mask(message, self._secrets)
        if any(sign in clean.lower() for sign in OVERFLOWS):
            return ContextExceeded(f"The upstream {self.shown} says: {clean}", param="messages")
        return EngineFailed(f"The upstream {self.shown} failed: {clean}", code="upstream_failed", status=502)

    async def close(self) -> None:
        await self._client.aclose()

    def _unreachable(self, error: Exception) -> EngineFailed:
        reason = mask(str(error), self._secrets) or type(error).__name__
        return EngineFailed(
            f"The upstream {self.shown} cannot be reached ({reason}). Check that it runs, that the URL is right, and "
            "that this machine may reach it.",
            code=UNREACHABLE,
            status=502,
        )

    def _refused(self, status: int, content: bytes) -> Problem:
        message = error_message(content, self._secrets)
        if status in (401, 403):
            return EngineFailed(
                f"The upstream {self.shown} refused the key ({status}): {message} An admin must enter a key that it accepts: "
                "--upstream-key, or under Models for a connected server.",
                code="upstream_refused",
                status=502,
            )
        if status == 429:
            return Busy(f"The upstream {self.shown} is busy: {message}", status=429)
        problem = self.problem_of(message)
        if isinstance(problem, ContextExceeded):
            return problem
        if status == 413:
            return ContextExceeded(
                f"The request is too large for the upstream {self.shown} (413): {message}", param="messages"
            )
        if status == 404 and "model" in message.lower():
            return ModelNotFound(
                f"The upstream {self.shown} does not have this model (404): {message}", param="model"
            )
        if status in (400, 404, 422):
            return EngineFailed(
                f"The upstream {self.shown} did not accept the request ({status}): {message}",
                code="upstream_refused",
                status=400,
            )
        return EngineFailed(
            f"The upstream {self.shown} failed ({status}): {message}", code="upstream_failed", status=502
        )
