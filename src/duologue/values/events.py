"""The events of a generation, from the queue to its end.

A closed union with exactly one terminal event, `Done` or `Failed`. Engines send them, and every public chat dialect encodes
them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.mouth import MouthKey
from duologue.values.speech import TranscribedPart

Finish = Literal["stop", "length", "tool_calls", "cancelled"]


class TokenLogprob(Struct, frozen=True):
    """One token of the reply and its alternatives. `data` are the token's bytes (a token may be half a character)."""

    token: str
    logprob: float
    data: bytes
    top: tuple[TokenLogprob, ...] = ()


class Usage(Struct, frozen=True):
    """Token counts. `cached` of `input` came from the prompt cache; `reasoning` of `output` is reasoning.
    `estimated`: the engine does not count, and these are estimates."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False


class Timings(Struct, frozen=True):
    """Milliseconds: `queue` waiting for a slot, `prefill` reading the prompt, `generate` writing, `first` from
    request to first delta."""

    queue: float = 0.0
    prefill: float = 0.0
    generate: float = 0.0
    first: float = 0.0


class Queued(Struct, frozen=True, tag="queued"):
    """Waiting for a slot; added by the gateway. `position` counts from 1, `wait` is the estimate in seconds."""

    ticket: str
    position: int
    wait: float
    length: int


class Started(Struct, frozen=True, tag="started"):
    """The request has a slot and the engine begins. `context` is the chat's context in tokens, after division by slots."""

    model: str
    context: int = 0


class Progress(Struct, frozen=True, tag="progress"):
    """Prompt tokens processed so far, of `total`; `cached` of them came from an earlier turn."""

    processed: int
    total: int
    cached: int = 0


class Prefilled(Struct, frozen=True, tag="prefilled"):
    """The prompt is in the cache. `input` tokens count the prompt and the generation prompt; None where the engine
    learns it only at the end. `ignored`: request fields this engine cannot apply."""

    input: int | None
    cached: int = 0
    ignored: tuple[str, ...] = ()


class FittingNote(Struct, frozen=True):
    """One change. `where` is the part's path in the request; `became` what the model got instead; `count` how many
    (frames), `seconds` of how much sound or video."""

    where: str
    kind: Literal["image", "audio", "video"]
    became: Literal["text", "frames", "frames_and_sound", "resized", "left_out"]
    count: int = 0
    seconds: float = 0.0


class Fitted(Struct, frozen=True, tag="fitted"):
    """What was made of parts that the model cannot take as they are: sent once, before `Started`, by the gateway.
    `transcripts`: sound that was written down. `notes`: one for each change, for `fitted` in the answers."""

    transcripts: tuple[TranscribedPart, ...] = ()
    notes: tuple[FittingNote, ...] = ()


class TextDelta(Struct, frozen=True, tag="text"):
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


class ReasoningDelta(Struct, frozen=True, tag="reasoning"):
    text: str


class ToolCallDelta(Struct, frozen=True, tag="tool_call"):
    """A piece of tool call `index` (from 0). `id` and `name` come once, with the first piece; the `arguments` pieces join to the
    JSON text."""

    index: int
    arguments: str = ""
    id: str | None = None
    name: str | None = None


class ReplyWord(Struct, frozen=True):
    """A spoken word: samples at 24 kHz from the reply's first sample; `at`..`to` is its range in the written text."""

    text: str
    start: int
    end: int
    at: int
    to: int


class AudioDelta(Struct, frozen=True, tag="audio"):
    """Audio of the reply: 16-bit mono at 24 kHz, and the words that begin in it. `mouth`: the keys that became known with it."""

    pcm: bytes
    words: tuple[ReplyWord, ...] = ()
    mouth: tuple[MouthKey, ...] = ()


class Embedded(Struct, frozen=True, tag="embedded"):
    """The vectors of the next `count` inputs of an `EmbeddingRequest`, in their order and of the same size: bytes as of
    `values.embeddings.vectors`."""

    data: bytes
    count: int


class Ranked(Struct, frozen=True, tag="ranked"):
    """The scores of the next documents of a `RerankRequest`, in their order: bytes as of `values.embeddings.vectors`."""

    data: bytes


class Done(Struct, frozen=True, tag="done"):
    """The end. `stop` is the stop string that ended the reply, when one did."""

    finish: Finish
    usage: Usage = Usage()
    timings: Timings = Timings()
    stop: str | None = None


class Failed(Struct, frozen=True, tag="failed"):
    """The end, in error. `code` is stable, `message` a sentence for a person, `status` the HTTP status it maps to,
    `param` the field of the request at fault when there is one, `retry_after` the seconds after which another try is worth
    it, where that is known."""

    code: str
    message: str
    status: int = 500
    param: str | None = None
    retry_after: float | None = None


Event = (
    Queued
    | Fitted
    | Started
    | Progress
    | Prefilled
    | TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | AudioDelta
    | Embedded
    | Ranked
    | Done
    | Failed
)

Delta = TextDelta | ReasoningDelta | ToolCallDelta
Terminal = (Done, Failed)

# Failures that more than one part of the gateway gives or recognises, by their codes: a reply ends with one of them when its worker or
# the server goes away.
WORKER_LOST = Failed(
    "worker_lost",
    "The worker that was writing this reply ended unexpectedly. It is being restarted; please try again.",
    503,
)
ENGINE_STALLED = Failed(
    "engine_stalled",
    "The model made no progress for so long that this reply was given up. If it does not recover, its worker is replaced; please try "
    "again in a moment.",
    503,
)
RESTARTED = Failed(
    "worker_restarted",
    "An admin restarted the worker of this reply. Please try again in a moment.",
    503,
)
STOPPING = Failed("server_stopping", "The server is shutting down. Please try again once it is back.", 503)
