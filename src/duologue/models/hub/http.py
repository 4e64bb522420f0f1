"""HTTP requests to a hub or another server with models: redirects, errors and retries.

Used by `pull` and `download`. Owns which addresses are allowed (https, http only on loopback), where redirects may lead (no nearer to
this machine than the address that was asked for), which server receives the token (the hub's own origin, never the
target of a redirect), and the sentence for each status.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
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
from duologue.models.hub.reach import Reach, reach_of
from duologue.models.hub.reference import HUB, check_address, is_loopback, redact_url
from duologue.models.hub.resume import Stopped

Result = TypeVar("Result")

TIMEOUT = httpx.Timeout(60.0, connect=15.0)
MAX_REDIRECTS = 5
OTHER_SOURCES = (
    "A mirror is named by HF_ENDPOINT; without a network, put a GGUF file into the data folder's models."
)
"""What helps where the hub cannot be reached."""
ATTEMPTS = 6
"""Attempts in a row without any new bytes; a download that progresses between failures is retried without limit."""
FIRST_ATTEMPTS = 3
"""Attempts before anything was downloaded: a person without a network should learn it soon."""
TRACKED_SOCKETS = 8
"""Open connections that `stop` can close; there are one or two, each to the target of a redirect."""
LONGEST_WAIT = 60.0
"""Seconds. With a longer Retry-After the request fails instead."""


class TransientFailure(Exception):
    """A failure that may pass: its `reason` in a sentence, the `problem` to raise when it does not pass, and the server's
    Retry-After in seconds as `wait`."""

    def __init__(self, reason: str, problem: Problem, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.problem = problem
        self.wait = wait


class HubConnection:
    """Requests to the hub at `hub` and to any other address. `token` is the hub's; it appears in no message. `notice` is
    called with a line for every pause before another attempt. `trust`: what is trusted instead of the usual authorities, and `plain_http`
    allows that, for a gateway that offers its models. `stop()` ends it from another thread: the current request and
    all later ones raise Stopped.

    Raises BadRequest when the hub's address is not allowed. Use as a context manager.
    """

    def __init__(
        self,
        hub: str = HUB,
        token: str | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        notice: Callable[[str], None] = lambda line: None,
        trust: ssl.SSLContext | None = None,
        plain_http: bool = False,
    ) -> None:
        self._plain_http = plain_http
        self.hub = self._checked(hub.rstrip("/"))
        self._origin = _origin(httpx.URL(self.hub))
        self._token = (token or "").strip()
        self._sleep = sleep
        self._notice = notice
        self.stopped = False
        self._sockets: deque[socket.socket] = deque(maxlen=TRACKED_SOCKETS)
        self._reached: dict[str, Reach] = {}
        """Hosts that were connected to directly, and where they were."""
        # The environment's proxies are for other machines, not for a server on this one.
        self._client = httpx.Client(
            timeout=TIMEOUT,
            headers={"User-Agent": "duologue", "Accept-Encoding": "identity"},
            trust_env=not is_loopback(httpx.URL(self.hub).host),
            verify=trust or True,
        )

    def __enter__(self) -> HubConnection:
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def stop(self) -> None:
        """End the current request. An open socket is shut down: a read from a silent server would go on waiting."""
        self.stopped = True
        for connection in tuple(self._sockets):
            with suppress(OSError):
                # The TCP socket below TLS: the reading thread may be inside the TLS object.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    @contextmanager
    def get(
        self,
        url: str,
        subject: str,
        headers: Mapping[str, str] | None = None,
        patience: float | None = None,
    ) -> Iterator[httpx.Response]:
        """The response to one GET, its body unread. `subject` names the thing in error messages; `patience`: seconds of silence that are
        no failure, where they are more than usual.

        Raises Problem for a permanent failure, TransientFailure for one that may pass, and Stopped; also while the body is
        read inside.
        """
        try:
            response = self._follow(url, headers or {}, patience)
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
            raise BadRequest(f"{redact_url(url)} is not an address.", code="address_refused") from None

    def with_retries(
        self,
        step: Callable[[], Result],
        progress: Callable[[], int] = int,
        attempts: int = FIRST_ATTEMPTS,
    ) -> Result:
        """The result of `step`, retried after transient failures with growing pauses, `attempts` times in a row; the count
        starts again whenever `progress` has grown. Raises the failure's problem in the end.
        """
        attempt, before = 0, progress()
        while True:
            try:
                return step()
            except TransientFailure as failure:
                if self.stopped:
                    raise Stopped from failure
                if progress() > before:
                    attempt, before = 0, progress()
                wait = pause(attempt, failure.wait, attempts)
                if wait is None:
                    raise failure.problem from failure
                self._notice(f"{failure.reason} Trying again in {wait:.0f} s.")
                self._sleep(wait)
                attempt += 1

    def _checked(self, url: str) -> str:
        """The address, if it is allowed. Raises BadRequest."""
        return url if self._plain_http and url.startswith("http://") else check_address(url)

    def _follow(self, url: str, headers: Mapping[str, str], patience: float | None) -> httpx.Response:
        """The first response that is not a redirect."""
        timeout = TIMEOUT if patience is None else httpx.Timeout(**{**TIMEOUT.as_dict(), "read": patience})
        address = httpx.URL(self._checked(url))
        nearest = Reach.MACHINE
        for _ in range(MAX_REDIRECTS + 1):
            all_headers = dict(headers)
            if self._token and _origin(address) == self._origin:
                all_headers["Authorization"] = f"Bearer {self._token}"
            host = address.raw_host.decode("ascii")
            if self._reach(host) > nearest:
                raise _leads_inside(url)
            trace = self._tracer(url, host, nearest)
            request = self._client.build_request(
                "GET", address, headers=all_headers, extensions={"trace": trace}, timeout=timeout
            )
            response = self._client.send(request, stream=True)
            nearest = min(nearest, self._reach(host))
            location = response.headers.get("location")
            if response.status_code not in (301, 302, 303, 307, 308) or not location:
                return response
            response.close()
            address = address.join(location)
            self._checked(str(address))
        raise EngineFailed(f"{redact_url(url)} redirects without end.", code="hub_failed")

    def _reach(self, host: str) -> Reach:
        """How near this host is; a name that only a proxy has connected to counts as public."""
        reach = reach_of(host)
        return self._reached.get(host, Reach.PUBLIC) if reach is None else reach

    def _tracer(self, url: str, host: str, nearest: Reach) -> Callable[[str, Mapping[str, Any]], None]:
        """The trace of one request to `host`, which the request for `url` has led to; it may be as near as `nearest`."""
        connecting = ""

        def trace(step: str, facts: Mapping[str, Any]) -> None:
            nonlocal connecting
            self._trace(step, facts)
            if step.endswith(".connect_tcp.started"):
                connecting = str(facts["host"])
            elif step.endswith(".connect_tcp.complete") and connecting == host:  # else it is a proxy
                stream = facts["return_value"]
                try:
                    reach = reach_of(str(stream.get_extra_info("server_addr")[0]))
                except OSError as error:  # it has hung up already
                    raise httpx.ConnectError(str(error)) from error
                assert reach is not None, "a peer has an address"
                self._reached[host] = reach
                if reach > nearest:
                    stream.close()
                    raise _leads_inside(url)

        return trace

    def _trace(self, step: str, facts: Mapping[str, Any]) -> None:
        """Called by httpx at every step of a request: remembers its socket, and raises Stopped."""
        if self.stopped:
            raise Stopped
        # Wrapping a socket in TLS detaches the inner one's descriptor; from then on the wrapper is the one to shut down.
        if step.endswith((".connect_tcp.complete", ".start_tls.complete")):
            connection = facts["return_value"].get_extra_info("socket")
            if isinstance(connection, socket.socket):
                self._sockets.append(connection)

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
            raise TransientFailure(
                reason, problem, float(wait) if re.fullmatch(r"[0-9]{1,9}", wait) else None
            )
        raise problem


def connect(
    environ: Mapping[str, str] = os.environ,
    *,
    sleep: Callable[[float], None] = time.sleep,
    notice: Callable[[str], None] = lambda line: None,
) -> HubConnection:
    """A connection to the hub by the variables of its own tools, HF_ENDPOINT and HF_TOKEN. Raises BadRequest."""
    return HubConnection(
        environ.get("HF_ENDPOINT") or HUB, environ.get("HF_TOKEN"), sleep=sleep, notice=notice
    )


def pause(attempt: int, retry_after: float | None, attempts: int = ATTEMPTS) -> float | None:
    """Seconds to wait after attempt number `attempt` (from 0) of `attempts` failed; None to give up."""
    if attempt >= attempts - 1 or (retry_after is not None and retry_after > LONGEST_WAIT):
        return None
    return float(2**attempt) if retry_after is None else retry_after


def refusal(status: int, reason: str, subject: str, *, host: str, has_token: bool) -> Problem:
    """The Problem for a status of 300 and above. `reason` is the hub's own code for it."""
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
            "HF_TOKEN is not accepted" if has_token else "it does not exist, or it is private: set HF_TOKEN"
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


def _leads_inside(url: str) -> BadRequest:
    return BadRequest(
        f"{redact_url(url)} redirects to an address on this machine or in its network; that is not followed.",
        code="address_refused",
    )


def _unreachable(host: str, error: Exception) -> TransientFailure:
    kind = "no answer" if isinstance(error, httpx.TimeoutException) else str(error) or type(error).__name__
    connected = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
    what = f"The connection to {host} broke" if connected else f"{host} cannot be reached"
    problem = Unavailable(
        f"{what} ({kind}). Is there a network here? {OTHER_SOURCES}", code="hub_unreachable"
    )
    return TransientFailure(f"{what}.", problem)


def _origin(address: httpx.URL) -> tuple[str, str, int | None]:
    return address.scheme, address.host, address.port
