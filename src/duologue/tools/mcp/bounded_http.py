"""The HTTP client for MCP servers: bounds on every answer, and the last failure kept for the error message.

Every request of a session passes here, those of a sign-in too. An answer is bounded in bytes and parts, is never
compressed (a kilobyte can stand for a gigabyte), and is read at a bounded rate. Requests that have no limit of their own
get one: what a sign-in fetches, and what the server only has to acknowledge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import httpx2
import msgspec

from duologue.tools.mcp.message_bounds import BodyMeter, MessageTooLarge, Pace

ANSWER_SECONDS = 20.0
"""Time limit of a request that no caller limits, with its body."""
SIDE_BYTES = 1024 * 1024
"""Maximum bytes of an answer that is not the server's own: metadata, registrations and tokens of a sign-in."""
COOKIES = 50


class TransportState:
    """The observed state of a connection: whether its stream ended, and the last HTTP status and failure."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.trouble = ""
        self.status = 0
        self.refused: Exception | None = None
        self.on_end = _nothing

    def end(self) -> None:
        """Mark the stream as ended."""
        self.ended.set()
        self.on_end()


def _nothing() -> None:
    return


class _Head(msgspec.Struct):
    id: str | int | None = None
    method: str = ""


class BoundedClient(httpx2.AsyncClient):
    """An HTTP client for the server at `endpoint`. It records failures: the SDK turns most of them into "connection
    closed"."""

    state: TransportState
    endpoint: httpx2.URL

    def bound(self, state: TransportState, endpoint: str) -> None:
        """Apply the bounds. Called once, before the first request."""
        self.state, self.endpoint = state, httpx2.URL(endpoint)
        self._pace = Pace()
        self.headers["accept-encoding"] = "identity"
        self.event_hooks = {"request": [self._limit_request], "response": [self._limit_response]}

    async def send(self, request: httpx2.Request, **options: object) -> httpx2.Response:
        try:
            if self._is_acknowledged(request):
                with anyio.fail_after(ANSWER_SECONDS):
                    response = await super().send(request, **options)  # type: ignore[arg-type]
            else:
                response = await super().send(request, **options)  # type: ignore[arg-type]
        except TimeoutError:
            self.state.trouble = f"It did not answer within {ANSWER_SECONDS:g} seconds."
            self.state.refused = httpx2.ReadTimeout(self.state.trouble, request=request)
            raise self.state.refused from None
        except Exception as error:
            self.state.trouble = str(error) or type(error).__name__
            self.state.refused = error
            raise
        if response.status_code >= 400:
            self.state.trouble = f"It answered {response.status_code} {response.reason_phrase[:200]}."
        self.state.status, self.state.refused = response.status_code, None
        return response

    def _is_acknowledged(self, request: httpx2.Request) -> bool:
        """Whether the server only has to confirm this request. Its callers wait for it without a limit of their own."""
        if request.method != "POST":
            return request.method == "DELETE"
        try:
            head = msgspec.json.decode(request.content, type=_Head)
        except (msgspec.MsgspecError, httpx2.RequestNotRead):
            return False
        return head.id is None or not head.method

    def _is_side_request(self, request: httpx2.Request) -> bool:
        return request.url != self.endpoint

    async def _limit_request(self, request: httpx2.Request) -> None:
        if self._is_side_request(request) and request.headers.get("accept") != "text/event-stream":
            timeout = dict(request.extensions.get("timeout") or {}) | {"read": ANSWER_SECONDS}
            request.extensions = dict(request.extensions) | {"timeout": timeout}

    async def _limit_response(self, response: httpx2.Response) -> None:
        if len(self.cookies.jar) > COOKIES:
            self.cookies.jar.clear()
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            self.state.trouble = "It sent a compressed answer although it was asked not to."
            raise httpx2.RemoteProtocolError(self.state.trouble, request=response.request)
        events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        side = self._is_side_request(response.request) and not events
        short = side or self._is_acknowledged(response.request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedBody(
            response.stream,
            BodyMeter(SIDE_BYTES, events=events) if side else BodyMeter(events=events),
            self._pace,
            self.state,
            deadline=anyio.current_time() + ANSWER_SECONDS if short else float("inf"),
        )


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(
        self,
        inner: httpx2.AsyncByteStream,
        meter: BodyMeter,
        pace: Pace,
        state: TransportState,
        *,
        deadline: float,
    ) -> None:
        self._inner = inner
        self._meter = meter
        self._pace = pace
        self._state = state
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = self._inner.__aiter__()
        while True:
            try:
                with anyio.fail_after(max(0.0, self._deadline - anyio.current_time())):
                    piece = await pieces.__anext__()
                messages = self._meter.add(piece)
            except StopAsyncIteration:
                return
            except TimeoutError:
                self._state.trouble = f"It did not finish its answer within {ANSWER_SECONDS:g} seconds."
                raise httpx2.ReadTimeout(self._state.trouble) from None
            except MessageTooLarge as problem:
                self._state.trouble = problem.message
                # The SDK turns only these two into the answer to the one request.
                error = httpx2.SSEError if self._meter.events else httpx2.StreamError
                raise error(problem.message) from None
            yield piece
            wait = self._pace.wait(len(piece), messages, anyio.current_time())
            if wait:
                await anyio.sleep(wait)

    async def aclose(self) -> None:
        await self._inner.aclose()
