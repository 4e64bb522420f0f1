"""MiniCPM-o 4.5: the weights' own code, which is run only where the settings name it, as a chat engine with a duplex view.

Loaded by `registry`. Owns the model, its one thread, its voices, and which view it serves. One reply or one call at a time: the model's code
keeps its state in the model. Every reply reads its messages anew, and what it left in the cache is dropped with it, so an abandoned reply
leaves nothing behind.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from typing import Any

import anyio

from duologue.engines.contracts import DuplexOptions, DuplexView
from duologue.engines.device_failures import device_errors
from duologue.engines.minicpmo.duplex_methods import choose_duplex
from duologue.engines.minicpmo.model_loading import LoadedModel, read_model
from duologue.engines.minicpmo.model_messages import estimated_tokens, is_interleaved, model_messages
from duologue.engines.minicpmo.reference_voice import ReferenceVoice, VocoderVoices, choose_voice
from duologue.engines.minicpmo.reply_events import ReplyEvents
from duologue.engines.minicpmo.reply_methods import (
    MOST_TOKENS,
    ReplyMethods,
    ReplyOptions,
    cached_tokens,
    choose_methods,
    set_mode,
)
from duologue.engines.minicpmo.temporary_folder import TemporaryFolder
from duologue.engines.minicpmo.unit_session import UnitSession
from duologue.engines.optional_library import load_in_thread
from duologue.errors import Busy, ContextExceeded, EngineFailed, Problem, Unsupported
from duologue.threads import Emit, ThreadLane
from duologue.values.events import Event, Started
from duologue.values.messages import Message
from duologue.values.requests import ChatRequest, ModelCard

AHEAD = 32
"""Events that may be ahead of the reader."""
SAMPLING = (
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "repetition_penalty",
    "repetition_window",
    "length_penalty",
)
"""`repetition_window` counts in calls alone."""
DEFAULTS: dict[str, float | int | str | bool | tuple[str, ...]] = {
    "max_tokens": MOST_TOKENS,
    "temperature": 0.7,
    "top_p": 0.8,
    "top_k": 100,
    "repetition_penalty": 1.02,
    "length_penalty": 1.0,
}


async def load(options: dict[str, Any]) -> MiniCPMEngine:
    """The engine. Options: see `MiniCPMOptions`. Raises StartFailed: without the folder of the weights, the libraries, or the consent to
    run the code in it."""
    folder = TemporaryFolder()
    try:
        loaded = await load_in_thread(lambda: read_model(options))
    except BaseException:
        folder.close()
        raise
    return MiniCPMEngine(loaded, folder)


class MiniCPMEngine:
    """Implements `contracts.ChatEngine` and `contracts.OmniEngine`. `folder`: where the model's code leaves its files."""

    def __init__(self, loaded: LoadedModel, folder: TemporaryFolder) -> None:
        self._model: Any = loaded.model
        self._loaded, self._folder = loaded, folder
        self._lane = ThreadLane(1)
        self._vocoder = VocoderVoices(loaded.model)
        self._duplex = choose_duplex(loaded.model)
        self._in_call = False
        self._card = card_of(loaded)

    @property
    def card(self) -> ModelCard:
        return self._card

    @asynccontextmanager
    async def chat(self, slot: int, request: ChatRequest) -> AsyncIterator[AsyncIterator[Event]]:
        """The reply's events. Leaving ends the work within ten tokens or a second of speech; where the model has no method that can be
        stopped (`reply_methods`), when the reply is complete. Raises Busy during a call, and what `choose_voice` raises."""
        if self._in_call:
            raise Busy(f"{self._card.name} is in a call and answers nobody else meanwhile.")
        voice = None
        if request.speak_as is not None:
            if "audio" not in self._card.outputs:
                raise Unsupported(
                    f"{self._card.name} was loaded without its voice and only writes.", param="modalities"
                )
            voice = choose_voice(request.speak_as, request.speak_like, request.messages, self._loaded.voices)

        def step(emit: Emit[Event]) -> None:
            with device_errors(self._card.name):
                self._reply(request, voice, emit)

        async with self._lane.stream(step, AHEAD) as events:
            yield events

    @asynccontextmanager
    async def duplex(self) -> AsyncIterator[DuplexView]:
        """As `OmniEngine.duplex`. The first call makes the model's duplex object, which loads the vocoder once more; later ones switch
        in milliseconds. Raises Busy during another call."""
        if self._in_call:
            raise Busy(f"{self._card.name} is in a call already.")
        session = UnitSession(
            self._card.name, self._duplex, self._lane, self._folder, self._call_voice, self._count_slices
        )
        self._in_call = True
        try:
            yield session
        except Problem:
            # Report why the call failed, not what went wrong while switching back.
            with suppress(Problem):
                await self._leave(session)
            raise
        except BaseException:
            await self._leave(session)
            raise
        await self._leave(session)

    async def _leave(self, session: UnitSession) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await self._lane.run(session.leave)
            finally:
                self._vocoder.forget_current()
                self._in_call = False

    async def close(self) -> None:
        """Drop the model, once its thread is done."""
        with anyio.CancelScope(shield=True):
            await self._lane.run(self._folder.close)
        self._model = None

    # ---- in the model's thread

    def _reply(self, request: ChatRequest, voice: ReferenceVoice | None, emit: Emit[Event]) -> None:
        if self._model is None:
            raise EngineFailed("The model was closed.")
        began = time.perf_counter()
        if not emit(Started(self._card.name, self._card.context)):
            return
        set_mode(self._model, "STREAMING")
        messages = model_messages(request.messages, voice)
        estimate = estimated_tokens(messages)
        if estimate > 2 * self._card.context:
            raise ContextExceeded(
                f"The conversation takes about {estimate} tokens, but this model's maximum context length is {self._card.context} with the reply. "
                "Shorten it or start a new chat.",
                param="messages",
            )
        options = ReplyOptions(
            request.sampling,
            voice is not None,
            bool(request.thinking) and voice is None,
            request.media.max_slices,
            request.media.image_ids,
            request.media.interleave or is_interleaved(request.messages),
        )
        methods = choose_methods(self._model, options)
        reply = ReplyEvents(began, estimate, options.most, request.stop)
        try:
            if voice is not None:
                self._vocoder.take(voice)
            tokens = methods.prefill(messages)
            if not emit(reply.prefilled(time.perf_counter(), tokens, methods.unapplied)):
                return
            if self._write(methods, reply, emit):
                after = cached_tokens(self._model) if tokens is not None else None
                generated = None if after is None or tokens is None else max(0, after - tokens)
                for event in reply.finished(time.perf_counter(), generated):
                    emit(event)
        finally:
            # Nothing of this reply is in the next one, whether it was completed or not.
            self._model.reset_session(reset_token2wav_cache=False)
            self._folder.clean()

    def _write(self, methods: ReplyMethods, reply: ReplyEvents, emit: Emit[Event]) -> bool:
        """Generate the reply. False: the reader has left."""
        with closing(methods.pieces()) as pieces:
            for written in pieces:
                for event in reply.feed(written, time.perf_counter()):
                    if not emit(event):
                        return False
                if reply.stop is not None:
                    break
        return True

    def _call_voice(self, messages: Sequence[Message], options: DuplexOptions) -> ReferenceVoice | None:
        if "audio" not in self._card.outputs:
            return None
        return choose_voice(options.voice.name, options.voice.sample, messages, self._loaded.voices)

    def _count_slices(self, picture: Any, slices: int) -> int:
        """The whole picture, and the pieces it is cut into."""
        processor = getattr(getattr(self._model, "processor", None), "image_processor", None)
        grid_of: Callable[..., Any] | None = getattr(processor, "get_sliced_grid", None)
        grid = grid_of(picture.size, slices) if grid_of is not None and slices > 1 else None
        return 1 if grid is None else 1 + int(grid[0]) * int(grid[1])


def card_of(loaded: LoadedModel) -> ModelCard:
    """What the model is and can do."""
    return ModelCard(
        name=loaded.name,
        engine="minicpmo",
        context=loaded.context,
        trained_context=loaded.context,
        slots=1,
        size=loaded.size,
        description="MiniCPM-o, run by the code that comes with its weights",
        modalities=("text", "image", "audio"),
        outputs=("text", "audio") if loaded.speaks else ("text",),
        voices=tuple(loaded.voices) if loaded.speaks else (),
        clones=loaded.speaks,
        verbs=("thinking", "duplex"),
        sampling=SAMPLING,
        defaults=DEFAULTS,
        media_options=("max_slices", "image_ids", "interleave"),
        warnings=loaded.warnings,
        device=loaded.device,
    )
