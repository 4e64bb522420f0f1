"""Spans, for all of the program: begun, entered, ended, and passed to workers. Without a tracer nothing of it does anything.

`set_up` installs the tracer of a process. The current span is a context variable, so tasks inherit it from the task that starts them. A
span that is not sampled stands for all that would be below it: a request that is not traced costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, Protocol, TypeAlias

import anyio
from msgspec import Struct

from duologue.errors import Problem

Kind = Literal["internal", "server", "client"]
Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = Mapping[str, Value]

ERROR_TYPE = "error.type"
OUTCOME = "duologue.outcome"
LONGEST = 200
"""Characters of an attribute: some are names that clients choose."""
LOOK_EVERY = 0.02
"""Seconds between two looks whether all spans have been sent."""


class TraceSpan(Protocol):
    """One span. Ending it twice, or changing it after its end, is without effect."""

    @property
    def recording(self) -> bool:
        """Whether anybody will see it: attributes that cost something are worth their while."""
        ...

    @property
    def traceparent(self) -> str:
        """What is passed to another process; "" where there is no trace."""
        ...

    def set(self, attributes: Attributes) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, code: str) -> None:
        """It ended in error, by this code. Never its message, which may quote what a user wrote."""
        ...

    def end(self) -> None: ...


class Tracer(Protocol):
    """Makes spans and sends them."""

    def start(
        self, name: str, kind: Kind, above: TraceSpan | None, remote: str, attributes: Attributes | None
    ) -> TraceSpan:
        """A span below `above`, or below the span of another process (`remote`, a traceparent), or the first of a new trace."""
        ...

    @property
    def unsent(self) -> int:
        """Spans that have ended and were not sent yet."""
        ...


class TraceSettings(Struct, frozen=True):
    """How a process traces; passed to workers. `endpoint`, `ratio` and `service`: None or "" leave it to the environment's OTEL_*.
    `process`: the name of this process."""

    endpoint: str = ""
    ratio: float | None = None
    service: str = ""
    process: str = "gateway"


class _NoSpan:
    """Stands for every span that nobody records."""

    __slots__ = ("traceparent",)
    recording = False

    def __init__(self, traceparent: str = "") -> None:
        self.traceparent = traceparent

    def set(self, attributes: Attributes) -> None:
        pass

    def rename(self, name: str) -> None:
        pass

    def fail(self, code: str) -> None:
        pass

    def end(self) -> None:
        pass


def unsampled(traceparent: str) -> TraceSpan:
    """A span that is not recorded, of a trace that is passed on."""
    return _NoSpan(traceparent)


NO_SPAN: TraceSpan = _NoSpan()
_current: ContextVar[TraceSpan] = ContextVar("current_span", default=NO_SPAN)
_tracer: Tracer | None = None
_settings: TraceSettings | None = None


def set_up(tracer: Tracer | None, settings: TraceSettings | None = None) -> None:
    """Trace with this tracer from now on, or not at all. `settings`: for the workers."""
    global _tracer, _settings
    _tracer, _settings = tracer, settings


def is_on() -> bool:
    """Whether this process traces."""
    return _tracer is not None


def settings_for(process: str) -> TraceSettings | None:
    """How a process that is started here traces; None: not at all."""
    if _settings is None:
        return None
    return TraceSettings(_settings.endpoint, _settings.ratio, _settings.service, process)


def current() -> TraceSpan:
    """The span that the running task is in."""
    return _current.get()


def traceparent() -> str:
    """What is passed to a process that does a part of the current work; "" where that is not traced."""
    return "" if _tracer is None else _current.get().traceparent


def leave() -> None:
    """What this task does from here on belongs to no span: it outlives the request that started it."""
    _current.set(NO_SPAN)


def start(
    name: str, *, kind: Kind = "internal", attributes: Attributes | None = None, remote: str = ""
) -> TraceSpan:
    """Begin a span below the current one; with `remote` below that of another process. It does not become the current one."""
    if _tracer is None:
        return NO_SPAN
    above = _current.get()
    if remote:
        return _tracer.start(name, kind, None, remote, attributes)
    if above is NO_SPAN:
        return _tracer.start(name, kind, None, "", attributes)
    return _tracer.start(name, kind, above, "", attributes) if above.recording else above


def below(traceparent: str, name: str, *, attributes: Attributes | None = None) -> EnteredSpan:
    """A span of work that another process asked for, to be entered; none where that is not traced."""
    if _tracer is None or not traceparent:
        return NOT_ENTERED
    return EnteredSpan(start(name, kind="server", attributes=attributes, remote=traceparent))


def span(
    name: str, *, kind: Kind = "internal", attributes: Attributes | None = None, remote: str = ""
) -> EnteredSpan:
    """A span to be entered: `with span("load"):`. Inside it is the current one; it ends with the block, in error where that raises."""
    if _tracer is None:
        return NOT_ENTERED
    return EnteredSpan(start(name, kind=kind, attributes=attributes, remote=remote))


class EnteredSpan:
    """Makes a span the current one for a block, and ends it."""

    __slots__ = ("_before", "_span")

    def __init__(self, span: TraceSpan) -> None:
        self._span = span
        self._before: TraceSpan = NO_SPAN

    def __enter__(self) -> TraceSpan:
        if self._span is not NO_SPAN:
            self._before = _current.get()
            _current.set(self._span)
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._span is NO_SPAN:
            return
        # Not by a token: a generator may be closed by another task than the one that ran it.
        _current.set(self._before)
        if error is not None:
            record_end(self._span, error)
        if self._span is not self._before:
            self._span.end()


NOT_ENTERED = EnteredSpan(NO_SPAN)


def record_end(span: TraceSpan, error: BaseException) -> None:
    """Note how the work of a span was ended by an exception."""
    if not isinstance(error, Exception):
        span.set({OUTCOME: "cancelled"})
        return
    if isinstance(error, BaseExceptionGroup):
        inner: BaseException = error
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        error = inner
    span.fail(error.code if isinstance(error, Problem) else type(error).__name__)


def shortened(value: Value) -> Value:
    """A value of an attribute, as long as it may be."""
    return value[:LONGEST] if isinstance(value, str) else value


async def sent(seconds: float) -> None:
    """Return once every span that has ended was sent, or after so many seconds. For the end of a process."""
    with anyio.move_on_after(seconds):
        while _tracer is not None and _tracer.unsent > 0:  # noqa: ASYNC110 (the SDK's thread tells nobody)
            await anyio.sleep(LOOK_EVERY)
