"""Running completions on llama.cpp's server object: its chunks as pieces, its errors as Problems, its facts about itself.

Called by `engine`, always in a lane's thread: everything here blocks, without the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines.contracts import FillTokens, GenerationEnded, Piece
from duologue.engines.decoding.fill_tokens import find_fill_tokens
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.request import CompletionChunk, prefill_request, problem_of, token_logprobs
from duologue.errors import EngineFailed
from duologue.threads import Emit
from duologue.values.events import Finish, Progress

NEVER_FIRST = "]"
"""A text whose token no JSON text begins with."""

OnChunk = Callable[[CompletionChunk], bool]
"""Called with each chunk; False ends the completion."""
Run = Callable[[dict[str, Any], OnChunk], None]
"""Runs one completion, as `complete` does."""

_decode = msgspec.json.Decoder(CompletionChunk)


def complete(server: Any, request: dict[str, Any], on_chunk: OnChunk) -> None:
    """Run one completion, passing each chunk to `on_chunk` until that returns False. Raises what `on_chunk` raises, and the
    engine's refusals as Problems.

    Ending early frees the slot before its next task begins: the engine takes a cancel ahead of every new request.
    """
    failure: Exception | None = None

    def callback(data: bytes) -> bool:
        nonlocal failure
        try:
            chunk = _decode.decode(data)
            if chunk.error is not None:
                raise problem_of(chunk.error)
            return not on_chunk(chunk)
        except Exception as error:  # noqa: BLE001
            # An exception that reached the library would be swallowed there.
            failure = error
            return True

    try:
        server.handle_completions(msgspec.json.encode(request), callback)
    except (RuntimeError, ValueError) as error:
        raise EngineFailed(f"The engine failed: {error}.") from error
    if failure is not None:
        raise failure


def complete_text(run: Callable[[OnChunk], None]) -> str:
    """The text of one completion that `run` runs."""
    pieces: list[str] = []

    def on_chunk(chunk: CompletionChunk) -> bool:
        pieces.extend(choice.text for choice in chunk.choices)
        return True

    run(on_chunk)
    return "".join(pieces)


class PromptReading:
    """Turns the chunks of the steps of one prompt into its progress, and emits it."""

    def __init__(self, total: int, emit: Emit[Progress]) -> None:
        self._total, self._emit = total, emit
        self._cached: int | None = None
        self.read = -1
        """Tokens of the prompt that are in the cache."""
        self.left = False
        """Whether the consumer left."""

    @property
    def cached(self) -> int:
        """Tokens that were in the cache before the first step."""
        return self._cached or 0

    def on_chunk(self, chunk: CompletionChunk) -> bool:
        prompt = chunk.prompt_progress
        # llama.cpp generates one token even when asked for none; it is dropped.
        if prompt is None:
            return True
        if self._cached is None:
            self._cached = prompt.cache
        if prompt.processed > self.read:  # a step begins where the last one ended
            self.read = prompt.processed
            self.left = not self._emit(Progress(self.read, self._total, self._cached))
        return not self.left


class ReplyReader:
    """Turns the chunks of one generation into pieces and emits them.

    `top`: alternatives per token, None without logprobs; `silent`: no tokens were requested, so the one that llama.cpp
    generates nevertheless is dropped; `constrained`: the reply has to be JSON. `markers`: the texts of control tokens. The library
    passes on no token ids, but one token with such a text can be no other.
    """

    def __init__(
        self,
        emit: Emit[Piece | Progress | GenerationEnded],
        top: int | None,
        silent: bool,
        constrained: bool,
        markers: Collection[str] = (),
    ) -> None:
        self._markers = markers
        self._emit = emit
        self._json: list[str] | None = [] if constrained else None
        self._top = top
        self._silent = silent
        self._tokens = 0
        self._cached: int | None = None
        self.began = False
        """Whether any chunk came."""
        self.ended = False
        """Whether the last chunk came, with the reason of the end."""
        self.left = False
        """Whether the consumer left before the end."""

    @property
    def generated(self) -> int:
        """Tokens generated so far."""
        return self._tokens

    def read_ahead(self, progress: Progress) -> bool:
        """Emit the progress of a part of the prompt that is read before; what was cached then counts."""
        self._cached = progress.cached
        self.left = not self._emit(progress)
        return not self.left

    def on_chunk(self, chunk: CompletionChunk) -> bool:
        self.began = True
        listening = self._emit(self._item(chunk))
        self.left = not listening
        return listening

    def _item(self, chunk: CompletionChunk) -> Piece | Progress | GenerationEnded:
        prompt = chunk.prompt_progress
        if prompt is not None:
            if self._cached is None:
                self._cached = prompt.cache
            return Progress(prompt.processed, prompt.total, self._cached)
        choice = chunk.choices[0] if chunk.choices else None
        if choice is not None and choice.finish_reason is None:
            # Tokens that are a part of a character come with the one that completes it.
            tokens, self._tokens = chunk.timings.predicted_n - self._tokens, chunk.timings.predicted_n
            if self._silent:
                return Piece("", 0)
            if self._json is not None:
                self._json.append(choice.text)
            is_control = tokens == 1 and choice.text in self._markers
            return Piece(choice.text, tokens, token_logprobs(choice.logprobs, self._top), is_control)
        self.ended = True
        finish: Finish = "length" if choice is None or choice.finish_reason == "length" else "stop"
        if finish == "stop":
            self._check_json()
        generated = 0 if self._silent else (chunk.usage.completion_tokens if chunk.usage else self._tokens)
        return GenerationEnded("length" if self._silent else finish, generated, self._cached or 0)

    def _check_json(self) -> None:
        # The engine drops a schema that is too complex in the middle of a reply, without an error.
        if self._json is None:
            return
        try:
            msgspec.json.decode("".join(self._json))
        except msgspec.DecodeError as error:
            raise EngineFailed(
                "The engine could not hold the reply to the JSON schema: it is too complex. Use a simpler one."
            ) from error


class ModelFacts(Struct, frozen=True):
    """What only the loaded model knows: the context of a slot in tokens, its default sampling in the engine's names, the
    tokens that begin every text, a token that begins no JSON text, and the texts of its control tokens as far as known. With a
    projector, what it takes besides text, and the text that stands for a medium in a request."""

    context: int
    settings: dict[str, Any]
    leading: tuple[int, ...]
    never_first: int
    markers: tuple[str, ...] = ()
    modalities: tuple[str, ...] = ()
    media_marker: str = ""
    fill: FillTokens | None = None
    """The tokens by which it fills in a gap."""


def read_facts(run: Run, client: LlamaHttpClient, possible: Sequence[str] = ()) -> ModelFacts:
    """Ask the loaded model; `run` runs a completion. `possible`: texts that may be control tokens. Also evaluates once, which touches all weights: the first chat need not wait for the disk."""
    properties = client.properties()
    settings = properties["default_generation_settings"]
    able = properties.get("modalities") or {}
    # It says "video" wherever it sees, but reads one only with an FFmpeg of its own; the gateway makes pictures of videos.
    modalities = tuple(name for name, key in (("image", "vision"), ("audio", "audio")) if able.get(key))
    bos = client.tokenize("", add_special=True)
    never_first = client.tokenize(NEVER_FIRST)
    bare = client.tokenize("a")
    # A tokenizer may also end every text with a token (EOS); that one is not for prompts.
    with_specials = client.tokenize("a", add_special=True)
    leading = (
        with_specials[: len(with_specials) - len(bare)] if with_specials[-len(bare) :] == bare else bos[:1]
    )
    run(prefill_request(0, [*leading, *bare]), lambda chunk: True)
    markers = tuple(marker for marker in possible if len(client.tokenize(marker)) == 1)
    return ModelFacts(
        int(settings["n_ctx"]),
        settings["params"],
        leading,
        never_first[-1],
        markers,
        modalities,
        str(properties.get("media_marker") or "") if modalities else "",
        find_fill_tokens(client.tokenize),
    )
