"""The way to a hub or another server that has models: requests, redirects, refusals, patience.

Owns what may be asked (https alone, http on loopback), who gets to see the token (the hub's own origin, never the
server a redirect leads to), and what a status means for a person. Knows no file and no repository.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import httpx

from duologue.errors import (
    BadRequest,
    Busy,
    EngineFailed,
    Forbidden,
    ModelNotFound,
    Problem,
    Unauthorized,
    Unavailable,
)
from duologue.models.hub.reference import HUB, check_address, is_loopback, shown
from duologue.models.hub.resume import Stopped

Result = TypeVar("Result")

TIMEOUT = httpx.Timeout(60.0, connect=15.0)
MAX_REDIRECTS = 5
ATTEMPTS = 6
"""Tries in a row that bring nothing new; a download that moves on between two failures goes on for ever."""
FIRST_ATTEMPTS = 3
"""Tries of a question before anything was downloaded: a person without a network should hear so soon."""
KEPT_SOCKETS = 8
"""Connections remembered to be ended from outside; there are one or two, each of a server that was led to."""
LONGEST_WAIT = 60.0
"""Seconds. A server that asks for more is left alone, and the person told."""


class TransientFailure(Exception):
    """A failure that may pass: its `reason` in a sentence. `problem` is what to tell when it does not pass, `wait` the
    seconds the server asked for."""

    def __init__(self, reason: str, problem: Problem, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.problem = problem
        self.wait = wait


class HubConnection:
    """Requests to the hub at `hub` and to any other address. `token` is the hub's; it appears in no message. `notice`
    is told, in a line, of every pause before another try. `stop()` ends it from another thread: whatever it does, or is
    asked for later, then raises Stopped.

    Raises BadRequest when the hub's address may not be asked. Use as a context manager.
    """

    def __init__(
        self,
        hub: str = HUB,
        token: str | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.hub = check_address(hub.rstrip("/"))
        self._origin = _origin(httpx.URL(self.hub))
        self._token = (token or "").strip()
        self._sleep = sleep
        self._notice = notice
        self.stopped = False
        self._sockets: deque[socket.socket] = deque(maxlen=KEPT_SOCKETS)
        # Proxies of the environment are for the world outside, not for a server on this machine.
        self._client = httpx.Client(
            timeout=TIMEOUT,
            headers={"User-Agent": "duologue", "Accept-Encoding": "identity"},
            trust_env=not is_loopback(httpx.URL(self.hub).host),
        )

    def __enter__(self) -> HubConnection:
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def stop(self) -> None:
        """End what runs, at once where a socket is open: a read that waits for a silent server would wait on."""
        self.stopped = True
        for opened in tuple(self._sockets):
            with suppress(OSError):
                # Of the connection below any encryption: the thread that reads may be inside that.
                socket.socket.shutdown(opened, socket.SHUT_RDWR)

    @contextmanager
    def get(
        self, url: str, subject: str, headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx.Response]:
        """The answer to one GET, its body unread. `subject` is what a refusal is about.

        Raises Problem when asking again is no use, Interrupted when it may be, Stopped; also while the body is read
        inside.
        """
        try:
            response = self._follow(url, headers or {})
            try:
                if response.status_code >= 300:
                    self._refuse(response, subject)
                yield response
            finally:
                response.close()
        except (httpx.TransportError, httpx.StreamError) as error:
            if self.stopped:
                raise Stopped from error
            raise _unreachable(httpx.URL(url).host, error) from error
        except (httpx.InvalidURL, UnicodeError):
            raise BadRequest(f"{shown(url)} is no address.", code="address_refused") from None

    def patiently(
        self,
        step: Callable[[], Result],
        progress: Callable[[], int] = int,
        attempts: int = FIRST_ATTEMPTS,
    ) -> Result:
        """What `step` returns, tried again after interruptions with growing pauses, `attempts` times in a row; as long
        as `progress` grows between them there is no end of patience. Raises the interruption's problem when it is over.
        """
        attempt, before = 0, progress()
        while True:
            try:
                return step()
            except TransientFailure as broken:
                if self.stopped:
                    raise Stopped from broken
                if progress() > before:
                    attempt, before = 0, progress()
                wait = pause(attempt, broken.wait, attempts)
                if wait is None:
                    raise broken.problem from broken
                self._notice(f"{broken.reason} Trying again in {wait:.0f} s.")
                self._sleep(wait)
                attempt += 1

    def _follow(self, url: str, headers: Mapping[str, str]) -> httpx.Response:
        """The first answer that is no redirect."""
        address = httpx.URL(check_address(url))
        may_stay_here = is_loopback(address.host)
        for _ in range(MAX_REDIRECTS + 1):
            sent = dict(headers)
            if self._token and _origin(address) == self._origin:
                sent["Authorization"] = f"Bearer {self._token}"
            request = self._client.build_request(
                "GET", address, headers=sent, extensions={"trace": self._trace}
            )
            response = self._client.send(request, stream=True)
            location = response.headers.get("location")
            if response.status_code not in (301, 302, 303, 307, 308) or not location:
                return response
            response.close()
            address = address.join(location)
            check_address(str(address))
            if is_loopback(address.host) and not may_stay_here:
                raise BadRequest(
                    f"{shown(url)} leads to an address on this machine; that is not followed.",
                    code="address_refused",
                )
        raise EngineFailed(f"{shown(url)} leads from one address to the next without end.", code="hub_failed")

    def _trace(self, step: str, facts: Mapping[str, Any]) -> None:
        """Told of every step of a request: where its socket is learned, and where it can be given up."""
        if self.stopped:
            raise Stopped
        # What encryption is put around gives its descriptor away: then the socket to end is the one around it.
        if step.endswith((".connect_tcp.complete", ".start_tls.complete")):
            opened = facts["return_value"].get_extra_info("socket")
            if isinstance(opened, socket.socket):
                self._sockets.append(opened)

    def _refuse(self, response: httpx.Response, subject: str) -> None:
        problem = refusal(
            response.status_code,
            response.headers.get("x-error-code", ""),
            subject,
            host=response.url.host,
            has_token=bool(self._token),
        )
        wait = response.headers.get("retry-after", "")
        if response.status_code in (408, 425, 429) or response.status_code >= 500:
            reason = f"{response.url.host} answered {response.status_code}."
            raise TransientFailure(reason, problem, float(wait) if wait.isdigit() else None)
        raise problem


def connect(
    environ: Mapping[str, str] = os.environ,
    *,
    sleep: Callable[[float], None] = time.sleep,
    notice: Callable[[str], None] = lambda line: None,
) -> HubConnection:
    """The way to the hub, as the variables of its own tools say: HF_ENDPOINT and HF_TOKEN. Raises BadRequest."""
    return HubConnection(
        environ.get("HF_ENDPOINT") or HUB, environ.get("HF_TOKEN"), sleep=sleep, notice=notice
    )


def pause(attempt: int, asked: float | None, attempts: int = ATTEMPTS) -> float | None:
    """Seconds to wait after the try numbered `attempt` (from 0) of `attempts` was fruitless; None to give up."""
    if attempt >= attempts - 1 or (asked is not None and asked > LONGEST_WAIT):
        return None
    return float(2**attempt) if asked is None else asked


def refusal(status: int, reason: str, subject: str, *, host: str, has_token: bool) -> Problem:
    """What a status (300 and above) means for a person. `reason` is the hub's own code for it."""
    with_token = "with your HF_TOKEN" if has_token else "without a token (HF_TOKEN)"
    if reason == "GatedRepo" or status == 403:
        return Forbidden(
            f"{host} does not hand out {subject} {with_token}. Its licence may have to be accepted first: open its "
            "page there, accept, make a token that may read it, and set HF_TOKEN.",
            code="hub_forbidden",
        )
    if reason in ("RepoNotFound", "EntryNotFound", "RevisionNotFound") or status in (404, 410):
        private = " If it is private, set HF_TOKEN." if not has_token else ""
        return ModelNotFound(f"{host} has no {subject}. Check the spelling.{private}")
    if status == 401:
        advice = (
            "HF_TOKEN is not accepted" if has_token else "there is none such, or it is private: set HF_TOKEN"
        )
        return Unauthorized(f"{host} refuses {subject}: {advice}.", code="hub_unauthorized")
    if status == 429:
        return Busy(
            f"{host} says there were too many requests. Try again in some minutes"
            f"{'' if has_token else '; with HF_TOKEN set it allows more'}.",
            code="hub_busy",
        )
    return EngineFailed(
        f"{host} answered {status} when asked for {subject}. Try again later.", code="hub_failed", status=502
    )


def _unreachable(host: str, error: Exception) -> TransientFailure:
    kind = "no answer" if isinstance(error, httpx.TimeoutException) else str(error) or type(error).__name__
    opened = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
    what = f"The connection to {host} broke" if opened else f"{host} cannot be reached"
    problem = Unavailable(
        f"{what} ({kind}). Is there a network here? A mirror is named by HF_ENDPOINT; without a network, put a GGUF "
        "file into the data folder's models.",
        code="hub_unreachable",
    )
    return TransientFailure(f"{what}.", problem)


def _origin(address: httpx.URL) -> tuple[str, str, int | None]:
    return address.scheme, address.host, address.port
