"""Stand-ins for the two versions of MiniCPM-o's code: the published one and the demo's patched copy, without PyTorch.

Their methods take exactly the names and defaults of the originals, and insist on what those insist on: a voice for the vocoder before
sound, one message and one sound a prefill, the end of a unit before the next one, one thread at a time. What they "read" goes into a
chain of digests, which stands for the cache: every text, picture and sample that went in changes what they write, say and decide.

The duplex model decides like a listener: while it hears somebody it listens; when a loud unit is followed by a quiet one it speaks,
for three units, and then ends its turn.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from typing import Any

import numpy
from PIL import Image

WORDS = [
    "amber",
    "birch",
    "cedar",
    "dune",
    "ember",
    "fern",
    "grove",
    "heath",
    "iris",
    "juniper",
    "kelp",
    "larch",
    "moss",
    "nettle",
    "oak",
    "pine",
]
LOUD = 0.05
"""The mean of absolute samples above which a unit is speech."""
TURN_UNITS = 3
SPOKEN = 24_000
IMAGE = 64


class Tensor:
    """As much of a tensor as the engine needs."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self._values


class ProcessorMode(Enum):
    CHAT = "chat"
    STREAMING = "streaming"
    DUPLEX = "duplex"


class Cache:
    """What was read so far: its length in tokens, and a digest of all of it."""

    def __init__(self) -> None:
        self.tokens = 0
        self.state = b""
        self.read: list[str] = []

    def feed(self, item: Any) -> None:
        if isinstance(item, str):
            data, tokens, note = b"t" + item.encode(), max(1, len(item) // 4), item
        elif isinstance(item, Image.Image):
            data, tokens, note = b"i" + item.tobytes(), IMAGE, "<picture>"
        else:
            data, tokens, note = b"a" + item.tobytes(), max(1, len(item) // 1600), "<sound>"
        self.state = hashlib.sha256(self.state + data).digest()
        self.tokens += tokens
        self.read.append(note)

    def word(self) -> str:
        return WORDS[self.state[0] % len(WORDS)]

    def sound(self, samples: int, voice: float) -> Any:
        """Its height tells the state, its loudness the voice."""
        pitch = 100 + self.state[1]
        times = numpy.arange(samples, dtype=numpy.float32) / SPOKEN
        return (numpy.sin(2 * numpy.pi * pitch * times) * (0.2 + voice)).astype(numpy.float32)


class OneThread:
    """Raises where a second thread comes in while one is at work."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @contextmanager
    def work(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise AssertionError("two threads use the model at the same time")
        try:
            yield
        finally:
            self._lock.release()


def alone(method: Any) -> Any:
    """The method may be called by one thread at a time."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **how: Any) -> Any:
        with self.one_thread.work():
            return method(self, *args, **how)

    return guarded


class Grids:
    """The image processor's question into how many pieces a picture is cut."""

    def get_sliced_grid(self, image_size, max_slice_nums, nerver_split=False):
        return None if nerver_split or max(image_size) <= 448 or max_slice_nums <= 1 else [1, max_slice_nums]


class Processor:
    image_processor = Grids()


class StockModel:
    """The published code. `words`: how many words it writes; `fails`: what its next call of a method of this name raises."""

    def __init__(self, words: int = 30) -> None:
        self.one_thread = OneThread()
        self.processor = Processor()
        self.cache = Cache()
        self.session_id: str | None = None
        self.token2wav_cache: dict[str, float] | None = None
        self.words = words
        self.thoughts = ""
        self.ending = "<|im_end|>"
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.fails: dict[str, Exception] = {}
        self.voices_computed = 0
        self.wrappers = 0
        self.last_wrapper: StockDuplexStandIn | None = None
        self.generated = 0
        """Words written in all, also of replies that nobody waited for."""
        self.pause = threading.Event()
        self.pause.set()

    def note(self, name: str, **how: Any) -> None:
        self.calls.append((name, how))
        if name in self.fails:
            raise self.fails.pop(name)

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def arguments(self, name: str) -> dict[str, Any]:
        return next(how for called, how in reversed(self.calls) if called == name)

    # ---- the published methods

    @alone
    def reset_session(self, reset_token2wav_cache=True):
        self.note("reset_session", reset_token2wav_cache=reset_token2wav_cache)
        self.cache, self.session_id = Cache(), None
        if reset_token2wav_cache:
            self.token2wav_cache = None

    def init_streaming_processor(self):
        self.note("init_streaming_processor")

    @alone
    def init_token2wav_cache(self, prompt_speech_16k):
        self.note("init_token2wav_cache")
        assert prompt_speech_16k.dtype == numpy.float32
        with tempfile.NamedTemporaryFile(suffix=".wav", delete=False) as left_behind:
            left_behind.write(b"RIFF")
        self.voices_computed += 1
        self.token2wav_cache = {"voice": float(numpy.abs(prompt_speech_16k).mean())}

    def _get_kv_cache_length(self, cache=None):
        return self.cache.tokens

    def chat(
        self,
        image=None,
        msgs=None,
        vision_hidden_states=None,
        max_new_tokens=4096,
        min_new_tokens=0,
        do_sample=True,
        max_inp_length=8192,
        stream=False,
        max_slice_nums=None,
        use_image_id=None,
        enable_thinking=False,
        use_tts_template=False,
        generate_audio=False,
        output_audio_path=None,
        omni_mode=False,
        merge_audio_from_same_content=True,
        tts_sampling_params=None,
        return_prompt=False,
        *,
        num_beams=3,
        temperature=0.7,
        top_p=0.8,
        top_k=100,
        repetition_penalty=1.02,
    ):
        how = {name: value for name, value in locals().items() if name not in ("self", "msgs")}
        self.note("chat", msgs=[dict(one) for one in msgs], **how)
        assert msgs, "msgs is empty"
        assert do_sample or not stream, "if use stream mode, make sure do_sample=True"
        assert num_beams == 1 or not stream
        cache = Cache()
        for number, message in enumerate(msgs):
            assert message["role"] in ("system", "user", "assistant")
            assert number or message["role"] in ("system", "user")
            cache.feed(message["role"])
            for item in message["content"]:
                cache.feed(item)
        cache.feed(f"{max_slice_nums}{use_image_id}{omni_mode}{enable_thinking}")
        pieces = self._in_background(cache, max_new_tokens, enable_thinking)
        return pieces if stream else "".join(pieces)

    def _in_background(self, cache: Cache, most: int, thinks: bool) -> Iterator[str]:
        """As the original: a thread of its own generates, whether the stream is read or not."""
        made: list[str] = []
        ended = threading.Event()
        changed = threading.Condition()

        def generate() -> None:
            with self.one_thread.work():
                for piece in self._text(cache, most, thinks):
                    self.pause.wait(30)
                    with changed:
                        made.append(piece)
                        changed.notify()
            ended.set()
            with changed:
                changed.notify()

        thread = threading.Thread(target=generate)
        thread.start()

        class Stream:
            def __iter__(self):
                return self

            def __next__(self):
                with changed:
                    changed.wait_for(lambda: made or ended.is_set(), 30)
                    if made:
                        return made.pop(0)
                thread.join()
                raise StopIteration

        return Stream()

    def _text(self, cache: Cache, most: int, thinks: bool) -> Iterator[str]:
        if thinks:
            yield f"<think>{self.thoughts or 'hm ' + cache.word()}</think>\n\n"
        for _ in range(min(self.words, most)):
            cache.feed(cache.word())
            self.generated += 1
            yield cache.word() + " "

    @alone
    def streaming_prefill(
        self,
        session_id,
        msgs,
        omni_mode=True,
        max_slice_nums=None,
        use_tts_template=True,
        enable_thinking=False,
        is_last_chunk=False,
    ):
        self.note("streaming_prefill", msgs=msgs, omni_mode=omni_mode, is_last_chunk=is_last_chunk)
        assert session_id is not None, "session_id cannot be None"
        assert len(msgs) == 1
        [message] = msgs
        assert message["role"] in ("system", "user", "assistant")
        assert isinstance(message["content"], list)
        assert sum(isinstance(item, numpy.ndarray) for item in message["content"]) <= 1
        if session_id != self.session_id:
            self.cache, self.session_id = Cache(), session_id
        self.cache.feed(message["role"] if message["role"] != "assistant" else "")
        for item in message["content"]:
            self.cache.feed(item)
        return "prompt"

    def streaming_generate(
        self,
        session_id,
        bos_input=None,
        generate_audio=True,
        audio_token_chunk_size=25,
        tts_sampling_params=None,
        max_new_tokens=256,
        enable_thinking=False,
        use_tts_template=True,
        do_sample=True,
        enable_speculative_snapshot=False,
        teacher_forcing=False,
        teacher_forcing_text="",
        *,
        temperature=0.7,
        top_p=0.8,
        top_k=100,
        repetition_penalty=1.02,
        length_penalty=1.0,
    ):
        how = {name: value for name, value in locals().items() if name != "self"}
        self.note("streaming_generate", **how)
        assert session_id == self.session_id
        # As there: without a voice the subscript of None fails at the first step.
        voice = self.token2wav_cache["voice"] if generate_audio else 0.0  # type: ignore[index]
        words = list(range(min(self.words, max_new_tokens)))
        for start in range(0, len(words), 10):
            with self.one_thread.work():
                text = ""
                for _ in words[start : start + 10]:
                    self.cache.feed(self.cache.word())
                    self.generated += 1
                    text += self.cache.word() + " "
                is_last = start + 10 >= len(words)
                finished = is_last and self.words <= max_new_tokens
                if finished:
                    text += "<|tts_eos|>" if generate_audio else self.ending
            if generate_audio:
                length = SPOKEN if not is_last else SPOKEN // 2
                yield Tensor(self.cache.sound(length, voice)[None]), text
            else:
                yield text, finished

    def as_duplex(self, device=None, **kwargs):
        self.note("as_duplex", **kwargs)
        self.wrappers += 1
        self.last_wrapper = StockDuplexStandIn(self, device=device, **kwargs)
        return self.last_wrapper


class Decoder:
    """The duplex session's cache, with the methods of the original that tell its length and feed a token."""

    def __init__(self) -> None:
        self.cache = Cache()

    def get_cache_length(self):
        return self.cache.tokens

    def embed_token(self, token_id):
        return token_id

    def feed(self, embeds, return_logits=False):
        self.cache.feed(f"<{embeds}>")
        return ("logits", "hidden") if return_logits else None


class DuplexState:
    """What both versions of a duplex session have in common."""

    def __init__(self, model: StockModel) -> None:
        self.model = model
        self.one_thread = model.one_thread
        self.decoder = Decoder()
        self.turn_eos_token_id = 151717
        self.force_listen_count = 0
        self._streaming_generate_count = 0
        self.current_turn_ended = True
        self.pending_logits: object = None
        self.tts_text_start_pos = 0
        self.tts_past_key_values: object = None
        self.tts_current_turn_start_time: object = None
        self.token2wav_resets = 0
        self.voice: float | None = None
        self._was_loud = False
        self._is_loud = False
        self._turn_units = 0
        self._chunk = 0
        self._last: dict[str, Any] = {}
        self.high: int | None = None
        self.low = 0

    def _reset_token2wav_for_new_turn(self):
        self.token2wav_resets += 1

    def begin(self, prompt: str, ref_audio, prompt_wav_path) -> None:
        self.decoder = Decoder()
        self.current_turn_ended, self.pending_logits = True, None
        self._was_loud = self._is_loud = False
        self._turn_units = self._chunk = self._streaming_generate_count = 0
        self.decoder.cache.feed(prompt)
        if ref_audio is not None:
            assert ref_audio.dtype == numpy.float32
            self.decoder.cache.feed(ref_audio)
        self.voice = None
        if prompt_wav_path:
            with wave.open(prompt_wav_path) as file:
                assert file.getframerate() == 16000
                samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
            self.voice = float(numpy.abs(samples / 32768).mean())

    def read(self, audio, frames, slices, texts=None) -> dict[str, Any]:
        costs = dict.fromkeys(
            ("vision_process", "vision_embed", "vision_feed", "audio_process", "audio_embed", "audio_feed"),
            0.001,
        )
        result = {"success": True, "reason": ""} | {f"cost_{name}": value for name, value in costs.items()}
        result["cost_all"] = 0.006
        if audio is None and not frames and not texts:
            return result | {"success": False}
        self.decoder.cache.feed("<unit>")
        for frame in frames or ():
            assert isinstance(frame, Image.Image)
            grid = self.model.processor.image_processor.get_sliced_grid(frame.size, slices)
            for _ in range(1 if grid is None else 1 + grid[0] * grid[1]):
                self.decoder.cache.feed(frame)
        for text in texts or ():
            self.decoder.cache.feed(text)
        if audio is not None:
            if len(audio) < 16_000:
                return result | {"success": False, "reason": "audio not enough"}
            self.decoder.cache.feed(audio)
            self._was_loud, self._is_loud = self._is_loud, bool(numpy.abs(audio).mean() > LOUD)
        self.pending_logits = "logits"
        self._chunk += 1
        return result

    def decide(self, forced: bool, listen_scale: float) -> bool:
        """Whether it listens."""
        if forced:
            return True
        if not self.current_turn_ended:
            return False  # as there: it cannot stop in the middle of a turn
        heard_somebody = self._was_loud and not self._is_loud
        return not heard_somebody or listen_scale > 50

    def result(self, **how: Any) -> dict[str, Any]:
        return {
            "is_listen": True,
            "text": "",
            "audio_waveform": numpy.zeros(SPOKEN, numpy.float32),
            "end_of_turn": False,
            "current_time": self._chunk,
            "cost_llm": 0.004,
            "cost_tts_prep": 0.001,
            "cost_tts": 0.002,
            "cost_token2wav": 0.003,
            "cost_all": 0.01,
            "n_tokens": 0,
            "n_tts_tokens": 0,
        } | how

    def answer(self, forced: bool, listen_scale: float) -> dict[str, Any]:
        if self.pending_logits is None:
            return self.result()
        self.pending_logits = None
        self._streaming_generate_count += 1
        if self.decide(forced, listen_scale):
            self.decoder.cache.feed("<|listen|>")
            return self.result()
        self._turn_units = 1 if self.current_turn_ended else self._turn_units + 1
        ended = self._turn_units >= TURN_UNITS
        self.current_turn_ended = ended
        text = ""
        for _ in range(4):
            self.decoder.cache.feed(self.decoder.cache.word())
            text += self.decoder.cache.word() + " "
        self.tts_text_start_pos = 0 if ended else self.tts_text_start_pos + 26
        sound = None if self.voice is None else self.decoder.cache.sound(SPOKEN, self.voice)
        return self.result(
            is_listen=False, text=text, audio_waveform=sound, end_of_turn=ended, n_tokens=4, n_tts_tokens=25
        )

    def end_unit(self) -> None:
        self.decoder.cache.feed("</unit>")
        if self.high is not None and self.decoder.cache.tokens > self.high:
            self.decoder.cache.tokens = self.low


class StockDuplexStandIn(DuplexState):
    """The published wrapper."""

    def __init__(
        self,
        model: StockModel,
        device=None,
        generate_audio=True,
        ls_mode="explicit",
        max_new_speak_tokens_per_chunk=20,
        text_repetition_penalty=1.05,
        temperature=0.7,
        top_k=100,
        top_p=0.8,
        text_repetition_window_size=512,
        listen_prob_scale=1.0,
        force_listen_count=0,
        tts_temperature=0.8,
        tts_repetition_penalty=1.05,
        enable_float16=False,
        n_timesteps=10,
        chunk_ms=1000,
        first_chunk_ms=1035,
        cnn_redundancy_ms=20,
        sample_rate=16000,
        sliding_window_mode="off",
        basic_window_high_tokens=8000,
        basic_window_low_tokens=6000,
        context_previous_max_tokens=500,
        context_max_units=24,
    ) -> None:
        super().__init__(model)
        self.force_listen_count = force_listen_count
        if sliding_window_mode == "basic":
            self.high, self.low = basic_window_high_tokens, basic_window_low_tokens

    @alone
    def prepare(
        self,
        prefix_system_prompt=None,
        ref_audio=None,
        prompt_wav_path=None,
        context_previous_marker="\n\nprevious: ",
    ):
        self.model.note("prepare", prefix_system_prompt=prefix_system_prompt, prompt_wav_path=prompt_wav_path)
        assert "<|" not in (prefix_system_prompt or ""), "it writes the special tokens itself"
        self.begin(prefix_system_prompt or "Streaming Omni Conversation.", ref_audio, prompt_wav_path)
        return prefix_system_prompt

    @alone
    def streaming_prefill(
        self, audio_waveform=None, frame_list=None, text_list=None, max_slice_nums=1, batch_vision_feed=False
    ):
        self.model.note("duplex.streaming_prefill", max_slice_nums=max_slice_nums)
        return self.read(audio_waveform, frame_list, max_slice_nums, text_list)

    @alone
    def streaming_generate(
        self,
        prompt_wav_path=None,
        max_new_speak_tokens_per_chunk=20,
        decode_mode="sampling",
        temperature=0.7,
        top_k=100,
        top_p=0.8,
        listen_prob_scale=1.0,
        listen_top_k=None,
        text_repetition_penalty=1.05,
        text_repetition_window_size=512,
    ):
        how = {name: value for name, value in locals().items() if name != "self"}
        self.model.note("duplex.streaming_generate", **how)
        forced = self._streaming_generate_count < self.force_listen_count
        result = self.answer(forced, listen_prob_scale)
        self.end_unit()
        return result

    def as_simplex(self, reset_session=True, reset_token2wav_cache=False):
        self.model.note(
            "as_simplex", reset_session=reset_session, reset_token2wav_cache=reset_token2wav_cache
        )
        if reset_session:
            self.model.reset_session(reset_token2wav_cache=reset_token2wav_cache)
        return self.model


class PatchedModel(StockModel):
    """The demo's copy: one prefill for all messages, modes, and the duplex methods on the model."""

    def __init__(self, words: int = 30) -> None:
        super().__init__(words)
        self.duplex = DuplexState(self)
        self.mode = ProcessorMode.STREAMING
        self._must_finalize = False

    @alone
    def set_mode(self, mode):
        assert isinstance(mode, ProcessorMode)
        if mode != self.mode:
            self.note("set_mode", mode=mode.name)
            self.reset_session(reset_token2wav_cache=True)
            self.mode = mode
            self._must_finalize = False

    @alone
    def non_streaming_prefill(
        self,
        session_id,
        msgs,
        image=None,
        omni_mode=False,
        max_slice_nums=None,
        use_image_id=None,
        use_tts_template=False,
        enable_thinking=False,
        stream_input=False,
        max_inp_length=8192,
        merge_audio_from_same_content=True,
    ):
        how = {name: value for name, value in locals().items() if name != "self"}
        self.note("non_streaming_prefill", **how)
        assert self.mode is not ProcessorMode.DUPLEX
        self.session_id = session_id
        for message in msgs:
            self.cache.feed(message["role"])
            for item in message["content"]:
                self.cache.feed(item)
        self.cache.feed(f"{max_slice_nums}{use_image_id}{omni_mode}{enable_thinking}")
        return "prompt"

    def as_duplex(self, device=None, **kwargs):
        raise AssertionError("the patched copy has its duplex methods on the model")

    @alone
    def duplex_prepare(
        self,
        prefix_system_prompt=None,
        suffix_system_prompt=None,
        ref_audio=None,
        prompt_wav_path=None,
        context_previous_marker="\n\nprevious: ",
    ):
        self.note(
            "duplex_prepare",
            prefix_system_prompt=prefix_system_prompt,
            suffix_system_prompt=suffix_system_prompt,
        )
        assert self.mode is ProcessorMode.DUPLEX
        self.duplex.begin(f"{prefix_system_prompt}{suffix_system_prompt}", ref_audio, prompt_wav_path)

    @alone
    def duplex_prefill(self, audio_waveform=None, frame_list=None, max_slice_nums=1):
        self.note("duplex_prefill", max_slice_nums=max_slice_nums)
        if self._must_finalize:
            raise RuntimeError("streaming_prefill called before finalize_unit()!")
        return self.duplex.read(audio_waveform, frame_list, max_slice_nums)

    @alone
    def duplex_generate(
        self,
        decode_mode="greedy",
        temperature=None,
        top_k=None,
        top_p=None,
        listen_prob_scale=None,
        listen_top_k=5,
        text_repetition_penalty=None,
        text_repetition_window_size=None,
        length_penalty=1.1,
        force_listen_override=False,
    ):
        how = {name: value for name, value in locals().items() if name != "self"}
        self.note("duplex_generate", **how)
        # As there: what is left out is passed on as None.
        given = (
            temperature,
            top_k,
            top_p,
            listen_prob_scale,
            text_repetition_penalty,
            text_repetition_window_size,
        )
        if None in given:
            raise TypeError("unsupported operand type(s) for *=: 'Tensor' and 'NoneType'")
        if force_listen_override and not self.duplex.current_turn_ended:
            self.duplex.decoder.feed(self.duplex.turn_eos_token_id)
            self.duplex.current_turn_ended = True
            self.duplex._reset_token2wav_for_new_turn()
        result = self.duplex.answer(force_listen_override, listen_prob_scale)
        self._must_finalize = True
        return result

    @alone
    def duplex_finalize(self):
        self.note("duplex_finalize")
        self._must_finalize = False
        self.duplex.end_unit()
