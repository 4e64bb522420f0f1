"""Asks a model server what it has, and for the first words of a reply; every failure is a sentence that a person can act on.

Used by `service` to test, find and watch servers. Replies in chats come from a worker. Owns the bounds on what a server may
answer. An admin names the addresses, so private ones are allowed, but not those where clouds keep credentials; connections
go to the address that was checked, and redirects are not followed.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlunsplit

import anyio
import msgspec

from duologue.errors import BadRequest, Forbidden
from duologue.gateway.upstreams.upstream_problem import Reason, UpstreamProblem
from duologue.models import upstream_models
from duologue.models.upstream_models import ModelList
from duologue.models.upstream_url import parse_upstream_url, shown_url
from duologue.request_parsing import parsing
from duologue.tools.ssrf_guard import AddressGuard, AllowList, is_metadata_host, resolve_host
from duologue.values.requests import UpstreamModel

if TYPE_CHECKING:
    import httpx2

LIST_SECONDS = 10.0
"""Time limit of a list of models, with what else is asked about them."""
REPLY_SECONDS = 90.0
"""Time limit of the first words: a server on one's own machine may have to load the model first."""
LIST_BYTES = 4 * 1024 * 1024
REPLY_BYTES = 256 * 1024
SHOWN = 300
"""Characters of a server's own message, or of a reply, that are shown."""
PROMPT = "Reply with one short sentence of greeting."
PRIVATE = (
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
    *("::1/128", "fc00::/7", "fe80::/10"),
)
UNREACHABLE, REFUSED, FAILED, INCOMPATIBLE = (
    *("upstream_unreachable", "upstream_refused"),
    *("upstream_failed", "upstream_incompatible"),
)


async def _resolve(host: str, port: int) -> list[str]:
    """IPv4 first: `localhost` has both, and most model servers listen on IPv4 alone."""
    return sorted(await resolve_host(host, port), key=lambda address: ":" in address)


def _bad_address() -> BadRequest:
    return BadRequest(
        "This is not the address of a server. Enter one like http://127.0.0.1:11434, and the key in its own field.",
        code="bad_url",
        param="url",
    )


class UpstreamClient:
    """One server. `key` appears in no error. `seconds`: time limit of a list of models."""

    def __init__(self, url: str, key: str = "", kind: str = "", *, seconds: float = LIST_SECONDS) -> None:
        parts = parse_upstream_url(url)
        if parts is None or "@" in parts.netloc:
            raise _bad_address()
        self.url = shown_url(parts)
        self.host = parts.netloc
        if is_metadata_host(parts.hostname or ""):
            raise self._credentials_there()
        self._root = urlunsplit(parts._replace(path=""))
        self._key, self._kind, self._seconds = key, kind, seconds
        self._guard = AddressGuard(AllowList(PRIVATE), _resolve)
        self.explained = False
        """Whether the server explained a refusal as an OpenAI-compatible server does."""

    async def models(self, *, detailed: bool = True) -> ModelList:
        """The models it lists; `detailed`: with all it says about each. Raises Problem."""
        async with self._client() as client, self._limit(self._seconds):
            content = await self._get(
                client, f"{self.url}/models{'?limit=1000' * (self._kind == 'anthropic')}"
            )
            try:
                listed: ModelList = await parsing(
                    len(content), upstream_models.parse_models, content, user=""
                )
            except ValueError:
                raise self._incompatible() from None
            if not detailed:
                return listed
            kind = listed.kind or self._kind
            models = tuple(await self._detailed(client, kind, listed.models))
            return msgspec.structs.replace(listed, models=models, kind=kind)

    async def first_words(self, model: str) -> str:
        """The beginning of a short reply of this model. Raises Problem."""
        body = {"model": model, "messages": [{"role": "user", "content": PROMPT}], "stream": True}
        async with (
            self._client() as client,
            self._limit(REPLY_SECONDS),
            client.stream("POST", f"{self.url}/chat/completions", json=body) as response,
        ):
            if response.status_code != 200:
                raise self._refused(response, await _read(response, REPLY_BYTES))
            text, reasoned = "", False
            async with aclosing(_deltas(response)) as deltas:
                async for delta in deltas:
                    text += delta.get("content") or ""
                    reasoned = reasoned or bool(delta.get("reasoning_content") or delta.get("reasoning"))
                    if len(text) >= SHOWN:
                        break
        if not text.strip() and not reasoned:
            raise self._problem(
                FAILED, "no_words", f"answered, but {model} wrote nothing. Try another of its models.", model
            )
        return text.strip()[:SHOWN]

    async def _detailed(
        self, client: httpx2.AsyncClient, kind: str, models: tuple[UpstreamModel, ...]
    ) -> tuple[UpstreamModel, ...]:
        """With what some kinds of servers say elsewhere."""
        answers = [
            await self._extra(client, path, body) for path, body in upstream_models.questions(kind, models)
        ]
        return upstream_models.with_answers(kind, models, answers)

    async def _extra(self, client: httpx2.AsyncClient, path: str, body: object = None) -> bytes:
        """A further answer of the server; empty if there is none."""
        method = "GET" if body is None else "POST"
        try:
            async with client.stream(method, self._root + path, json=body) as response:
                return await _read(response, LIST_BYTES) if response.status_code == 200 else b""
        except (_TooMuch, self._failures()):
            return b""

    async def _get(self, client: httpx2.AsyncClient, url: str) -> bytes:
        async with client.stream("GET", url) as response:
            content = await _read(response, LIST_BYTES)
            if response.status_code != 200:
                raise self._refused(response, content)
            return content

    # ---- the connection

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx2.AsyncClient]:
        import httpx2

        from duologue.tools.pinned_transport import checked_transport

        headers = {"accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if self._key and self._kind == "anthropic":
            # Its list of models is not part of what it offers to clients of OpenAI's API.
            headers |= {"x-api-key": self._key, "anthropic-version": "2023-06-01"}
        try:
            client = httpx2.AsyncClient(
                transport=checked_transport(self._guard),
                headers=headers,
                timeout=httpx2.Timeout(REPLY_SECONDS, connect=min(self._seconds, 5.0)),
                follow_redirects=False,
                trust_env=False,
            )
        except UnicodeEncodeError:
            raise BadRequest("The key has characters that no key has. Copy it again.", param="key") from None
        async with client:
            try:
                yield client
            except _TooMuch:
                raise self._problem(
                    INCOMPATIBLE, "not_a_model_server", "sent far more than a model server does."
                ) from None
            except httpx2.InvalidURL:
                raise _bad_address() from None
            except self._failures() as error:
                raise self._unreachable(error) from error

    @staticmethod
    def _failures() -> type[Exception]:
        import httpx2

        return httpx2.HTTPError

    @asynccontextmanager
    async def _limit(self, seconds: float) -> AsyncIterator[None]:
        try:
            with anyio.fail_after(seconds):
                yield
        except TimeoutError:
            raise self._problem(
                UNREACHABLE,
                "no_answer",
                f"did not answer within {seconds:g} seconds. Check that it runs and is not overloaded.",
            ) from None
        except Forbidden:
            raise self._credentials_there() from None
        except BadRequest as unknown:
            if unknown.code != "unknown_host":
                raise
            raise self._problem(
                UNREACHABLE,
                "unknown_host",
                "cannot be found: there is no such host. Check the spelling of the address.",
            ) from None

    # ---- what goes wrong

    def _problem(self, code: str, reason: Reason, what: str, detail: str = "") -> UpstreamProblem:
        return UpstreamProblem(f"{self.host} {what}", code=code, reason=reason, detail=detail)

    def _credentials_there(self) -> Forbidden:
        return Forbidden(
            f"{self.host} has an address at which no model server is: clouds keep credentials there. Enter another address.",
            code="private_address",
            param="url",
        )

    def _incompatible(self) -> UpstreamProblem:
        return self._problem(
            INCOMPATIBLE,
            "not_a_model_server",
            "answers, but not as an OpenAI-compatible server does. Check the address, with the path if it has one.",
        )

    def _unreachable(self, error: Exception) -> UpstreamProblem:
        import httpx2

        reason = _tls_failure(error)
        if reason == "WRONG_VERSION_NUMBER":
            return self._problem(
                UNREACHABLE, "no_tls", "does not use TLS. Write http:// instead of https://."
            )
        if reason:
            return self._problem(
                UNREACHABLE,
                "certificate",
                "has a certificate that this machine does not trust. Give the server one that it trusts, or use http:// "
                f"within your own network. ({reason})",
                reason,
            )
        if isinstance(error, httpx2.ConnectTimeout):
            return self._problem(
                UNREACHABLE,
                "no_answer",
                "does not answer. Check the address, and that no firewall is in between.",
            )
        if isinstance(error, httpx2.ConnectError):
            return self._problem(
                UNREACHABLE,
                "not_listening",
                "refused the connection. Check that the server runs and listens on this port.",
            )
        return self._problem(
            UNREACHABLE, "disconnected", "broke the connection. Check that the server runs, and its log."
        )

    def _refused(self, response: httpx2.Response, content: bytes) -> UpstreamProblem:
        status, message = response.status_code, self._own_message(content)
        self.explained = bool(message)
        quoted = f" It says: {message}" if message else ""
        if status in (401, 403):
            wants = "refused the key" if self._key else "needs a key"
            return self._problem(
                REFUSED,
                "key_refused" if self._key else "key_missing",
                f"{wants} ({status}).{quoted} Enter a key that it accepts.",
                message,
            )
        if 300 <= status < 400:
            there = response.headers.get("location", "")[:SHOWN]
            return self._problem(
                INCOMPATIBLE,
                "redirected",
                f"redirects to {there or 'another address'}. Enter that address if it is right.",
                there,
            )
        if status in (404, 405) and not message:
            return self._incompatible()
        if status == 429:
            return self._problem(
                FAILED,
                "rate_limited",
                f"accepts no more requests for now (429).{quoted} Wait, or check your plan there.",
                message,
            )
        return self._problem(
            FAILED, "error", f"answered with an error ({status}).{quoted}", message or str(status)
        )

    def _own_message(self, content: bytes) -> str:
        """The server's own message, where it is an error of this kind of API: what else a server says may be private."""
        try:
            body = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            return ""
        body = body[0] if isinstance(body, list) and body else body
        error = body.get("error") if isinstance(body, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        if not isinstance(message, str):
            return ""
        text = " ".join(message.split())
        if self._key:
            text = text.replace(self._key, "***")
        return text[:SHOWN]


class _TooMuch(Exception):
    """An answer is over its bound, or compressed: a kilobyte can stand for a gigabyte."""


async def _pieces(response: httpx2.Response, most: int) -> AsyncGenerator[bytes]:
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise _TooMuch
    size = 0
    async for piece in response.aiter_raw():
        size += len(piece)
        if size > most:
            raise _TooMuch
        yield piece


async def _read(response: httpx2.Response, most: int) -> bytes:
    return b"".join([piece async for piece in _pieces(response, most)])


async def _deltas(response: httpx2.Response) -> AsyncGenerator[Mapping[str, Any]]:
    """What a reply adds, piece by piece; of a server that does not stream, the whole message. Anything else is skipped."""
    rest = b""
    async with aclosing(_pieces(response, REPLY_BYTES)) as pieces:
        async for piece in pieces:
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if (delta := _delta(line)) is not None:
                    yield delta
    if (delta := _delta(rest)) is not None:
        yield delta


def _delta(line: bytes) -> Mapping[str, Any] | None:
    try:
        choice = msgspec.json.decode(line.strip().removeprefix(b"data:"))["choices"][0]
        delta = choice.get("delta") or choice.get("message")
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    is_text: Callable[[object], bool] = lambda value: value is None or isinstance(value, str)  # noqa: E731
    return delta if isinstance(delta, dict) and is_text(delta.get("content")) else None


def _tls_failure(error: BaseException | None) -> str:
    """The reason if a failure to connect is one of TLS."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        if isinstance(error, ssl.SSLError):
            return error.reason or "TLS failed"
        error = error.__cause__ or error.__context__
    return ""
