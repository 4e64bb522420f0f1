"""The worker's spans: of a reply with its prefill and its generation, of a session, and of loading the model.

`app.py` puts them around the work. They belong to the trace that the gateway names; work of which it names none has no span.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import msgspec

from duologue.errors import StartFailed
from duologue.tracing import attributes, spans
from duologue.values.avatars import ClipRequest
from duologue.values.call_events import CallSetup
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import Done, Event, Failed, Prefilled, Started, Terminal
from duologue.values.speech import SpeechRequest
from duologue.wire.worker_protocol import Begin, LoadSpec, Open

log = logging.getLogger(__name__)

Emit = Callable[[Event], Awaitable[None]]


def set_up(settings: str) -> None:
    """Trace as the gateway says, in JSON; "": not at all. An environment of another Python may lack the SDK: the worker then works without
    its spans."""
    if not settings:
        return
    from duologue.tracing.opentelemetry_export import tracer_of

    try:
        chosen = msgspec.json.decode(settings, type=spans.TraceSettings)
        spans.set_up(tracer_of(chosen))
    except StartFailed as failure:
        log.warning("this worker does not trace: %s", failure.message)


def load_span(load_spec: LoadSpec, traceparent: str) -> spans.EnteredSpan:
    """Around loading a model. Without a request that waits for it, it is a trace of its own."""
    asked = {
        attributes.REQUEST_MODEL: load_spec.model,
        attributes.WORKER: load_spec.worker,
        attributes.MODEL_ENGINE: load_spec.engine,
    }
    return spans.span("load model", attributes=asked, remote=traceparent)


def reply_span(begin: Begin, worker: str) -> spans.EnteredSpan:
    """Around a generation, or the making of vectors or scores."""
    request = begin.request
    if isinstance(request, EmbeddingRequest):
        name = "embeddings"
    elif isinstance(request, RerankRequest):
        name = "rerank"
    else:
        name = "chat"
    asked = attributes.operation(name, request.model) | _place(worker, begin)
    return spans.below(begin.traceparent, f"worker {name}", attributes=asked)


def session_span(opening: Open, worker: str) -> spans.EnteredSpan:
    """Around a call, a speech, a transcription or a clip."""
    match opening.request:
        case CallSetup():
            name = "call"
        case SpeechRequest():
            name = "speech"
        case ClipRequest():
            name = "clip"
        case _:
            name = "transcription"
    return spans.below(opening.traceparent, f"worker {name}", attributes=_place(worker, opening))


def _place(worker: str, message: Begin | Open) -> dict[str, spans.Value]:
    return {
        attributes.WORKER: worker,
        attributes.SLOT: message.slot,
        attributes.REQUEST_ID: message.request_id,
    }


@contextmanager
def watched(emit: Emit, span: spans.TraceSpan) -> Iterator[Emit]:
    """`emit`, with a span for reading the prompt and one for writing, and the end of the reply in its own; they end with the block at
    the latest. `emit` itself where nobody records it."""
    if not span.recording:
        yield emit
        return
    stages = _StageSpans(emit, span)
    try:
        yield stages
    finally:
        stages.close()


class _StageSpans:
    """From `Started` to `Prefilled` the prompt is read, from there to the end the reply is written."""

    def __init__(self, emit: Emit, span: spans.TraceSpan) -> None:
        self._emit, self._span = emit, span
        self._stage: spans.TraceSpan | None = None

    async def __call__(self, event: Event) -> None:
        # Most events are pieces of text, and pass.
        if isinstance(event, Started):
            self._span.set({attributes.RESPONSE_MODEL: event.model})
            self._stage = spans.start("prefill")
        elif isinstance(event, Prefilled):
            self._prefilled(event)
        elif isinstance(event, Terminal):
            self._over(event)
        await self._emit(event)

    def _prefilled(self, event: Prefilled) -> None:
        if self._stage is not None:
            if event.input is not None:
                self._stage.set(
                    {attributes.INPUT_TOKENS: event.input, attributes.CACHED_TOKENS: event.cached}
                )
            self._stage.end()
        self._stage = spans.start("generation")

    def _over(self, event: Done | Failed) -> None:
        if isinstance(event, Done):
            self._span.set(attributes.of_end(event))
            if self._stage is not None:
                self._stage.set({attributes.OUTPUT_TOKENS: event.usage.output})
        else:
            self._span.fail(event.code)
            if self._stage is not None:
                self._stage.fail(event.code)
        self.close()

    def close(self) -> None:
        """End the stage that it is in."""
        if self._stage is not None:
            self._stage.end()
            self._stage = None
