"""An asynchronous client for a running server, over its public APIs: `duologue say`, examples and benchmarks use it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

from duologue.errors import Problem, Unauthorized, Unavailable
from duologue.wire.media_parts import from_base64

if TYPE_CHECKING:
    import ssl

    import httpx
    from websockets.asyncio.client import ClientConnection

Json = dict[str, Any]

MAX_MESSAGE = 64 * 2**20
"""Bytes of one message from the server."""
END = ("done", "error")


class Client:
    """One server and one user: `async with Client(url, key) as client`. The URL may lack `http://` or end in `/v1`.

    `trust` checks the certificate of an HTTPS server that public authorities do not vouch for.
    Every method raises a `Problem` with the server's code and sentence, or `Unavailable` when no server answers.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8006",
        key: str | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        # People paste the base URL of other clients, or what a browser shows without the scheme.
        self.address = base_url
        """The URL as passed in, for messages."""
        address, _, _ = (base_url if "://" in base_url else f"http://{base_url}").partition("#")
        self.base_url = address.rstrip("/").removesuffix("/v1")
        self.key = key
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http: httpx.AsyncClient | None = None
        self._trust = trust
        # Never go through the environment's proxy to a server on this machine.
        self._proxied = urlsplit(self.base_url).hostname not in ("localhost", "127.0.0.1", "::1")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> AsyncGenerator[Json, None]:
        """One turn over `/ws/chat`: its messages (`queued`, `prefill_done`, `chunk` ...), the last one `done`.

        `options` are the request's further fields (`streaming`, `generation`, `model`, `enable_thinking` ...).
        Closing the generator early ends the generation. Raises Problem where the server sends `error`.
        """
        socket = await self.connect("/ws/chat")
        try:
            await socket.send(json.dumps({"messages": list(messages), **options}))
            while True:
                message: Json = json.loads(await receive(socket))
                if message.get("type") == "error":
                    raise _problem(message)
                yield message
                if message.get("type") in END:
                    return
        finally:
            await socket.close()

    async def complete(self, messages: Sequence[Mapping[str, Any]], **body: Any) -> Json:
        """One completion from `/v1/chat/completions`, not streamed."""
        return await self._request("POST", "/v1/chat/completions", {"messages": list(messages), **body})

    async def stream(self, messages: Sequence[Mapping[str, Any]], **body: Any) -> AsyncGenerator[Json, None]:
        """The chunks of one completion from `/v1/chat/completions`. Closing the generator early stops the generation."""
        import httpx

        started = False
        body = {"messages": list(messages), "stream": True, **body}
        try:
            async with self._session().stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code >= 400:
                    raise _refusal(response.status_code, await response.aread())
                started = True
                async for line in response.aiter_lines():
                    if not line.startswith("data:"):
                        continue
                    data = line.removeprefix("data:").strip()
                    if data == "[DONE]":
                        return
                    chunk: Json = json.loads(data)
                    if "error" in chunk:
                        raise _problem(chunk["error"])
                    yield chunk
        except httpx.TransportError as error:
            if not started:
                raise self._unreachable(error) from error
        raise Unavailable(
            "The server closed the stream before the reply was complete.", code="connection_lost"
        )

    async def api(self, method: str, path: str, body: Json | None = None) -> Json:
        """Any JSON endpoint, such as `/api/conversations`; a response without a body is {}."""
        return await self._request(method, path, body)

    async def upload(self, data: bytes, name: str) -> Json:
        """Upload a file; returns the blob, to be referenced in a message's content."""
        return await self._request("POST", f"/api/blobs?name={quote(name)}", content=data)

    async def avatar_file(self, id: str) -> bytes:
        """The file of an uploaded avatar."""
        return (await self._answer("GET", f"/api/avatars/{quote(id, safe='')}/file")).content

    async def send_file(self, path: str, data: bytes, name: str, **fields: str) -> Json:
        """A form with one file; returns the answer's JSON."""
        filled = {field: value for field, value in fields.items() if value}
        response = await self._answer("POST", path, data=filled, files={"file": (name, data)})
        answer: Json = response.json()
        return answer

    async def fetch(self, path: str) -> bytes:
        """The bytes of a file, such as a clip's."""
        return (await self._answer("GET", path)).content

    async def transcribe(self, data: bytes, name: str, **fields: str) -> str:
        """The transcript of a recording from `/v1/audio/transcriptions`: text or JSON, by `response_format` in `fields`."""
        response = await self._answer(
            "POST", "/v1/audio/transcriptions", data=fields, files={"file": (name, data)}
        )
        return response.text

    async def follow(self, run: str, after: int = 0) -> AsyncGenerator[tuple[int, Json], None]:
        """The events of a run of a conversation after number `after`, each with its number; the last is `run_done`.

        Closing the generator early does not stop the run. When the connection breaks it raises Problem with the code
        `connection_lost`; call it again with the last number.
        """
        import httpx

        started = False
        try:
            url = f"/api/runs/{run}/events?after={after}"
            async with self._session().stream("GET", url) as response:
                if response.status_code >= 400:
                    raise _refusal(response.status_code, await response.aread())
                number, started = after, True
                async for line in response.aiter_lines():
                    field, _, value = line.partition(":")
                    if field == "id":
                        number = int(value)
                    elif field == "data":
                        event: Json = json.loads(value)
                        yield number, event
                        if event.get("type") == "run_done":
                            return
        except httpx.TransportError as error:
            if not started:
                raise self._unreachable(error) from error
        raise Unavailable(
            "The server closed the stream before the reply was complete.", code="connection_lost"
        )

    async def status(self) -> Json:
        """`/status`: workers, slots, queue."""
        return await self._request("GET", "/status")

    async def capabilities(self) -> Json:
        """`/api/capabilities`: the models and their abilities."""
        return await self._request("GET", "/api/capabilities")

    def _session(self) -> httpx.AsyncClient:
        import httpx

        if self._http is None:
            # No read timeout: a request may wait in the queue for an unknown time.
            self._http = httpx.AsyncClient(
                base_url=self.base_url,
                headers=self._headers,
                timeout=httpx.Timeout(10, read=None),
                trust_env=self._proxied,
                # Not by `trust_env`, which is off for this machine: SSL_CERT_FILE is about it too.
                verify=self._trust or httpx.create_ssl_context(),
            )
        return self._http

    async def _request(
        self, method: str, path: str, body: Json | None = None, content: bytes | None = None
    ) -> Json:
        response = await self._answer(method, path, json=body, content=content)
        if response.status_code == 204:
            return {}
        try:
            answer: Json = response.json()
        except ValueError:
            raise Unavailable(f"The server at {self.base_url} is not a Duologue server.") from None
        return answer

    async def _answer(self, method: str, path: str, **options: Any) -> httpx.Response:
        import httpx

        try:
            response = await self._session().request(method, path, **options)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if response.status_code >= 400:
            raise _refusal(response.status_code, response.content)
        return response

    async def connect(self, path: str) -> ClientConnection:
        """Open a WebSocket. The caller closes it."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

        url = "ws" + self.base_url.removeprefix("http") + path
        try:
            return await connect(
                url,
                additional_headers=self._headers,
                max_size=MAX_MESSAGE,
                proxy=True if self._proxied else None,
                ssl=(self._trust or True) if url.startswith("wss:") else None,
            )
        except InvalidStatus as refused:
            raise _refusal(refused.response.status_code, refused.response.body or b"") from None
        except (InvalidHandshake, InvalidURI, OSError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> Unavailable:
        if _is_about_certificate(error):
            return Unavailable(
                f"The certificate of {self.base_url} is not signed by an authority that this machine knows. If the server made it itself (--tls), "
                f"set SSL_CERT_FILE to a copy of {self.base_url}/ca.crt."
            )
        return Unavailable(f"No server answers at {self.base_url} ({error}).", code="unreachable")


def _is_about_certificate(error: BaseException | None) -> bool:
    """Whether a connection failed because its certificate is not trusted."""
    import ssl

    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def audio_in(message: Mapping[str, Any]) -> bytes:
    """The audio of a `/ws/chat` message: 16-bit mono at 24 kHz when the request set `audio_format` to s16. Raises BadRequest
    when it is not valid base64."""
    data = message.get("audio_data")
    return from_base64(data, "audio_data") if isinstance(data, str) else b""


async def receive(socket: ClientConnection) -> str | bytes:
    """The next frame. Raises Unavailable (`connection_lost`) when the socket has closed."""
    from websockets.exceptions import ConnectionClosed

    try:
        return await socket.recv()
    except ConnectionClosed as closed:
        reason = closed.rcvd.reason if closed.rcvd else ""
        sentence = f"The server closed the socket before the reply was complete. {reason}".rstrip()
        raise Unavailable(sentence, code="connection_lost") from None


def _refusal(status: int, body: bytes | bytearray) -> Problem:
    """The Problem of an HTTP error response, whatever its body is."""
    try:
        error = json.loads(body)["error"]
        return _problem({"status": status, **error})
    except (ValueError, KeyError, TypeError):
        return Problem(f"The server answered with status {status}.", code="http_error", status=status)


def _problem(error: Json) -> Problem:
    message = str(
        error.get("message") or error.get("error") or "The server reported an error without a message."
    )
    status = int(error.get("status", 500))
    kind = Unauthorized if status == 401 else Problem
    return kind(message, code=str(error.get("code") or Problem.code), status=status, param=error.get("param"))
