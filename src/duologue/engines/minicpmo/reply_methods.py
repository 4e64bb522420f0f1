"""The methods with which the model answers messages, and what each can be told.

The published code has one method for text and two for speech; a patched copy of it, as the model's own demo has, reads all messages at
once and may be stopped while it writes text. `choose_methods` looks at the object and assumes nothing. Everything here blocks, and is called in
the model's one thread.
"""

from __future__ import annotations

import queue
import sys
import uuid
from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from duologue.engines.audio.pcm import to_pcm
from duologue.engines.minicpmo.model_messages import ModelMessage
from duologue.errors import DeviceLost
from duologue.values.requests import Sampling

MOST_TOKENS = 2048
"""Tokens of a reply that is not limited."""
SILENCE = 120.0
"""Seconds without a word after which `chat(stream=True)` counts as broken."""
SILENT = (
    f"The model wrote nothing for {SILENCE:.0f} seconds, and its code cannot say why. Its worker is being restarted; please try again "
    "in a moment."
)
BEST_TOKEN = {"temperature": 1.0, "top_k": 1, "top_p": 1e-6}
"""What stands for a temperature of 0: streams are only made by sampling. `top_p` decides between tokens that are equally good, as they often are in
16 bits."""
TURN_END = "<|im_end|>\n"


class Written(NamedTuple):
    """The next text of a reply, special tokens included, and its sound (16-bit mono, 24 kHz). `unfinished`: the model
    has not ended it with this."""

    text: str
    pcm: bytes = b""
    unfinished: bool = False


class ReplyOptions(Struct, frozen=True):
    """How a reply is written. `speaks`: with sound; the vocoder has its voice already. `omni`: pictures and sound alternate."""

    sampling: Sampling = Sampling()
    speaks: bool = False
    thinking: bool = False
    max_slices: int | None = None
    image_ids: bool | None = None
    omni: bool = False

    @property
    def most(self) -> int:
        return self.sampling.max_tokens or MOST_TOKENS

    def arguments(self) -> dict[str, Any]:
        """Those that all methods have in common."""
        asked = self.sampling
        names = ("top_p", "top_k", "repetition_penalty")
        given = {name: value for name in names if (value := getattr(asked, name)) is not None}
        if asked.temperature is not None:
            given |= {"temperature": asked.temperature} if asked.temperature > 0 else BEST_TOKEN
        return {"max_new_tokens": self.most, "do_sample": True, "enable_thinking": self.thinking} | given


class ReplyMethods(Protocol):
    """One reply: `prefill`, then `pieces`. Closing the iterator ends the work, as soon as the methods allow."""

    unapplied: tuple[str, ...]
    """Names of the options that were asked for and that these methods do not take."""

    def prefill(self, messages: Sequence[ModelMessage]) -> int | None:
        """Read the messages. The tokens of the prompt, the beginning of the reply included; None where the methods do not tell."""
        ...

    def pieces(self) -> Generator[Written]: ...


def choose_methods(model: Any, options: ReplyOptions) -> ReplyMethods:
    """The methods of this object for this reply."""
    if hasattr(model, "non_streaming_prefill"):
        return _WholePrefill(model, options)
    return _MessageByMessage(model, options) if options.speaks else _OneShotText(model, options)


def cached_tokens(model: Any) -> int | None:
    """The tokens in the cache of the chat, where the model tells."""
    with suppress(AttributeError, TypeError):
        return int(model._get_kv_cache_length())
    return None


def bound_silence(model: Any) -> None:
    """Have `chat(stream=True)` give up after SILENCE: its code waits for ever for a thread of its own, even for one that has failed."""
    code = sys.modules[type(model).__module__]
    if (streamer := getattr(code, "TextIteratorStreamer", None)) is not None:
        setattr(code, "TextIteratorStreamer", partial(streamer, timeout=SILENCE))  # noqa: B010


def set_mode(model: Any, name: str) -> None:
    """Have a patched model change to this one of its modes; the published one has none."""
    if hasattr(model, "set_mode"):
        modes = vars(sys.modules[type(model).__module__]).get("ProcessorMode")
        model.set_mode(modes[name] if modes is not None else name.lower())


class _OneShotText:
    """Text by `chat(stream=True)`. It cannot be stopped: a reply that nobody wants any more runs to its end."""

    def __init__(self, model: Any, options: ReplyOptions) -> None:
        self._model, self._options = model, options
        self._messages: Sequence[ModelMessage] = ()
        self.unapplied = _unapplied(length_penalty=options.sampling.length_penalty)

    def prefill(self, messages: Sequence[ModelMessage]) -> int | None:
        self._messages = messages
        return None

    def pieces(self) -> Generator[Written]:
        options = self._options
        stream = self._model.chat(
            msgs=[message.plain for message in self._messages],
            stream=True,
            num_beams=1,
            max_slice_nums=options.max_slices,
            use_image_id=options.image_ids,
            omni_mode=options.omni,
            **options.arguments(),
        )
        if isinstance(stream, str):  # a version that takes the argument and does not stream
            yield Written(stream)
            return
        try:
            for text in stream:
                yield Written(text)
        except queue.Empty:
            raise DeviceLost(SILENT) from None
        finally:
            # Its generation is a thread of the model's own code, which must have ended before the next one begins.
            with suppress(queue.Empty):
                for _ in stream:
                    pass


class _MessageByMessage:
    """Speech by the published methods: one prefill for each message, and for each sound of one."""

    def __init__(self, model: Any, options: ReplyOptions) -> None:
        self._model, self._options = model, options
        self._session = uuid.uuid4().hex
        self.unapplied = _unapplied(image_ids=options.image_ids or None)

    def prefill(self, messages: Sequence[ModelMessage]) -> int | None:
        for message in messages:
            if message.role == "user" and hasattr(self._model, "init_streaming_processor"):
                # A sound of an earlier turn is no beginning of this one's.
                self._model.init_streaming_processor()
            segments = _segments(message)
            for number, content in enumerate(segments):
                self._model.streaming_prefill(
                    session_id=self._session,
                    msgs=[{"role": message.role, "content": content}],
                    omni_mode=self._options.omni,
                    max_slice_nums=self._options.max_slices,
                    use_tts_template=True,
                    enable_thinking=self._options.thinking,
                    is_last_chunk=number == len(segments) - 1,
                )
        return _prompt_tokens(self._model, self._options)

    def pieces(self) -> Generator[Written]:
        yield from _generated(self._model, self._session, self._options)


class _WholePrefill:
    """Text and speech by the methods of the patched copy: one prefill for all messages, and text that can be stopped."""

    def __init__(self, model: Any, options: ReplyOptions) -> None:
        self._model, self._options = model, options
        self._session = uuid.uuid4().hex
        self.unapplied: tuple[str, ...] = ()

    def prefill(self, messages: Sequence[ModelMessage]) -> int | None:
        options = self._options
        self._model.reset_session(reset_token2wav_cache=False)
        self._model.non_streaming_prefill(
            session_id=self._session,
            msgs=[message.plain for message in messages],
            omni_mode=options.omni,
            max_slice_nums=options.max_slices,
            use_image_id=options.image_ids,
            use_tts_template=options.speaks,
            enable_thinking=options.thinking,
        )
        return _prompt_tokens(self._model, self._options)

    def pieces(self) -> Generator[Written]:
        yield from _generated(self._model, self._session, self._options)


def _generated(model: Any, session: str, options: ReplyOptions) -> Generator[Written]:
    """The reply to what was prefilled. Its generator runs in this thread, so that closing it ends the work within ten tokens."""
    arguments = options.arguments()
    if options.sampling.length_penalty is not None:
        arguments["length_penalty"] = options.sampling.length_penalty
    stream = model.streaming_generate(
        session_id=session, generate_audio=options.speaks, use_tts_template=options.speaks, **arguments
    )
    try:
        for first, second in stream:
            if options.speaks:
                yield Written(second or "", b"" if first is None else to_pcm(array_of(first)))
            else:
                yield Written(first or "", unfinished=second is False)
    finally:
        stream.close()


def _prompt_tokens(model: Any, options: ReplyOptions) -> int | None:
    """What is in the cache, and the tokens that `streaming_generate` puts before the reply."""
    cached = cached_tokens(model)
    tokenizer = getattr(getattr(model, "processor", None), "tokenizer", None)
    if cached is None or tokenizer is None:
        return cached
    thought = "" if options.thinking else "<think>\n\n</think>\n\n"
    opening = f"<|im_end|>\n<|im_start|>assistant\n{thought}{'<|tts_bos|>' if options.speaks else ''}"
    return cached + len(tokenizer.encode(opening))


def array_of(value: Any) -> Any:
    """A tensor or array as an array in this process's memory."""
    return value.cpu().numpy() if hasattr(value, "cpu") else value


def _segments(message: ModelMessage) -> list[list[Any]]:
    """The content of a message in pieces with one sound each, which is what `streaming_prefill` takes at a time.

    The method writes the markers of a system's and a user's message, and only the bare content of an assistant's.
    """
    if message.role == "assistant":
        text = "".join(item for item in message.content if isinstance(item, str))
        return [[f"{TURN_END}<|im_start|>assistant\n{text}{TURN_END}"]]
    if message.role == "system":
        return [list(message.content)]
    segments: list[list[Any]] = [[]]
    for item in message.content:
        segments[-1].append(item)
        if _is_sound(item):
            segments.append([])
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    return segments


def _is_sound(item: Any) -> bool:
    return not isinstance(item, str) and hasattr(item, "dtype")


def _unapplied(**asked: object) -> tuple[str, ...]:
    return tuple(name for name, value in asked.items() if value is not None)
