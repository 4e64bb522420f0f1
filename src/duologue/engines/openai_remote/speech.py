"""Recognition and speech by any server with OpenAI's `/v1/audio/transcriptions` and `/v1/audio/speech`: speaches,
Kokoro-FastAPI, vLLM, another Duologue, or a paid service.

Loaded by `registry`. Owns the requests and the parsing of responses; the connection is `speech_client`. A server that is
down when this one starts does not prevent the start; requests then report what is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from msgspec import Struct

from duologue.engines.asr.incremental import SHORTEST
from duologue.engines.asr.qwen_languages import tag_of
from duologue.engines.audio.pcm import no_speech
from duologue.engines.contracts import RecogniserEngine, SpeakerEngine, SpeechChunk, StreamingTranscriber
from duologue.engines.openai_remote.response_json import json_of
from duologue.engines.openai_remote.speech_client import SpeechClient
from duologue.engines.openai_remote.wav_stream import WavHeaderStripper
from duologue.engines.options import read_options
from duologue.engines.tts.clause_split import check_length
from duologue.engines.tts.kokoro_voices import LANGUAGES, choose_voice, voice_of
from duologue.errors import BadRequest
from duologue.resampler import Resampler
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE, samples, wav_header
from duologue.values.speech import TimedWord, Transcript, Voice

OPENAI_VOICES = (
    "alloy",
    "ash",
    "ballad",
    "coral",
    "echo",
    "fable",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
)
"""The voices where neither the settings nor the server list any."""
LONGEST = 4096
"""Characters these servers take in one request."""
MOST_VOICES = 1000
_RATE = re.compile(r"rate=(\d{4,6})")
_KOKORO = re.compile(rf"[{''.join(LANGUAGES)}][fm]_[a-z]+")


class RemoteRecogniserOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`url` with or without /v1; `words`: whether the model has word timestamps."""

    url: str = ""
    key: str = ""
    model: str = "whisper-1"
    language: str = ""
    words: bool = True


class RemoteSpeakerOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`voice` is the default one, `voices` those that are listed, `language` what they speak; `rate` the Hz of bare samples
    where the response does not say."""

    url: str = ""
    key: str = ""
    model: str = "tts-1"
    voice: str = ""
    voices: tuple[str, ...] = ()
    language: str = "en"
    rate: int = SPOKEN_RATE


class RemoteRecogniser:
    """Implements `contracts.RecogniserEngine`. An utterance is sent once, when it is over: each request may cost money."""

    limitation = ""
    partial_results = False

    def __init__(self, client: SpeechClient, options: RemoteRecogniserOptions) -> None:
        self._client = client
        self._options = options
        self._words = options.words

    @property
    def name(self) -> str:
        return self._options.model

    @property
    def languages(self) -> tuple[str, ...]:
        return ()

    @property
    def word_timestamps(self) -> bool:
        return self._words

    @asynccontextmanager
    async def stream(self, *, language: str = "", prompt: str = "") -> AsyncIterator[StreamingTranscriber]:
        """A transcriber for one utterance, which is sent when it is over."""
        yield _CollectedUtterance(self, language, prompt)

    async def transcribe(
        self, pcm: bytes, *, language: str = "", prompt: str = "", word_timestamps: bool = False
    ) -> Transcript:
        """Transcribe a recording. Leaving closes the connection. Raises Problems."""
        if samples(pcm) < SHORTEST:
            return Transcript("", understood=False)
        if word_timestamps and self._words:
            try:
                return await self._request(pcm, language, prompt, word_timestamps=True)
            except BadRequest as problem:
                # Not every model has word timestamps, and only the error tells.
                if "timestamp" not in problem.message and "format" not in problem.message:
                    raise
                self._words = False
        return await self._request(pcm, language, prompt, word_timestamps=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _request(self, pcm: bytes, language: str, prompt: str, *, word_timestamps: bool) -> Transcript:
        fields: dict[str, Any] = {
            "model": self._options.model,
            "response_format": "verbose_json" if word_timestamps else "json",
        }
        if word_timestamps:
            fields["timestamp_granularities[]"] = ["word"]
        if main := (language or self._options.language).partition("-")[0].lower():
            fields["language"] = main
        if prompt:
            fields["prompt"] = prompt
        wav = wav_header(HEARD_RATE, len(pcm)) + pcm
        content = await self._client.post_form(
            "/audio/transcriptions", fields, ("speech.wav", wav, "audio/wav")
        )
        try:
            return transcript_of(json_of(content))
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise self._client.failed("sent something that is not a transcript") from error


class _CollectedUtterance:
    """Implements `contracts.StreamingTranscriber`: collects the sound until the end."""

    def __init__(self, recogniser: RemoteRecogniser, language: str, prompt: str) -> None:
        self._recogniser = recogniser
        self._language = language
        self._prompt = prompt
        self._sound = bytearray()

    async def feed(self, pcm: bytes) -> str:
        self._sound += pcm
        return ""

    async def finish(self) -> Transcript:
        return await self._recogniser.transcribe(
            bytes(self._sound), language=self._language, prompt=self._prompt
        )


class RemoteSpeaker:
    """Implements `contracts.SpeakerEngine`. These servers have no word timestamps."""

    def __init__(
        self, client: SpeechClient, options: RemoteSpeakerOptions, voices: tuple[Voice, ...]
    ) -> None:
        self._client = client
        self._options = options
        self._voices = voices

    @property
    def name(self) -> str:
        return self._options.model

    @property
    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause, as it arrives. Leaving closes the connection. Raises NotFound for an unknown voice, and
        the server's Problems."""
        body: dict[str, Any] = {
            "model": self._options.model,
            "input": clause,
            "voice": choose_voice(self._voices, voice, language),
            "response_format": "pcm",
            "speed": max(0.25, min(4.0, speed)),
        }
        check_length(clause, LONGEST)
        if not any(map(str.isalnum, clause)):
            yield no_speech()
            return
        async with (
            self._client.post_for_sound("/audio/speech", body) as sound,
            aclosing(self._chunks(sound.kind, sound.pieces)) as chunks,
        ):
            yield chunks

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _chunks(self, kind: str, pieces: AsyncIterator[bytes]) -> AsyncGenerator[SpeechChunk]:
        if not any(sign in kind for sign in ("pcm", "wav", "l16", "octet-stream", "raw")) and kind:
            raise self._client.failed(f"sent {kind.partition(';')[0]} where samples (pcm) were requested")
        match = _RATE.search(kind)
        wav, resampler = WavHeaderStripper(), None
        try:
            async for piece in pieces:
                pcm = wav.feed(piece)
                if pcm and resampler is None:
                    rate = wav.rate or (int(match[1]) if match else self._options.rate)
                    resampler = Resampler(rate, SPOKEN_RATE)
                if resampler is not None and (sound := resampler.feed(pcm)):
                    yield SpeechChunk(sound)
        except ValueError as error:
            raise self._client.failed(f"sent {error}, where 16-bit mono was requested") from error
        if resampler is not None and (rest := resampler.finish()):
            yield SpeechChunk(rest)


def transcript_of(body: Mapping[str, Any]) -> Transcript:
    """A server's response as a transcript. Raises ValueError, KeyError, TypeError for anything else."""
    text = str(body["text"]).strip()
    words = tuple(
        TimedWord(str(word["word"]).strip(), float(word["start"]), float(word["end"]))
        for word in body.get("words") or ()
        if str(word["word"]).strip()
    )
    probabilities = [
        math.exp(min(0.0, float(segment["avg_logprob"])))
        for segment in body.get("segments") or ()
        if isinstance(segment.get("avg_logprob"), int | float)
    ]
    return Transcript(
        text,
        words,
        tag_of(str(body.get("language") or "")),
        sum(probabilities) / len(probabilities) if probabilities else None,
        understood=bool(text),
    )


def voices_in(entries: Sequence[Any], language: str) -> tuple[Voice, ...]:
    """The voices a server lists: names, or objects with one."""
    voices: dict[str, Voice] = {}
    for entry in entries[:MOST_VOICES]:
        fields = entry if isinstance(entry, dict) else {"name": entry}
        name = next(
            (fields[key] for key in ("id", "voice_id", "voice", "name") if isinstance(fields.get(key), str)),
            "",
        )
        if name:
            tag = fields.get("language")
            voices.setdefault(name, voice_named(name, tag if isinstance(tag, str) and tag else language))
    return tuple(voices.values())


def voice_named(name: str, language: str) -> Voice:
    """A voice by its name alone; a Kokoro name also tells its language."""
    return voice_of(name) if _KOKORO.fullmatch(name) else Voice(name, language)


def default_first(voices: tuple[Voice, ...], default: str, language: str) -> tuple[Voice, ...]:
    """The voices with the default one first, whether the server lists it or not."""
    if not default:
        return voices
    own = next((voice for voice in voices if voice.name == default), voice_named(default, language))
    return (own, *(voice for voice in voices if voice.name != default))


async def load_recogniser(options: dict[str, Any]) -> RecogniserEngine:
    """The recogniser. Options: see `RemoteRecogniserOptions`. Raises StartFailed for an impossible address."""
    settings = read_options(RemoteRecogniserOptions, options, "remote")
    return RemoteRecogniser(SpeechClient(settings.url, settings.key, "voice.recogniser"), settings)


async def load_speaker(options: dict[str, Any]) -> SpeakerEngine:
    """The speaker. Options: see `RemoteSpeakerOptions`. Raises StartFailed for an impossible address. A server that does not
    list its voices is taken to have OpenAI's."""
    settings = read_options(RemoteSpeakerOptions, options, "remote")
    client = SpeechClient(settings.url, settings.key, "voice.speaker")
    entries = settings.voices or await client.fetch_list("/audio/voices", ("voices", "data"))
    voices = voices_in(entries or OPENAI_VOICES, settings.language)
    return RemoteSpeaker(client, settings, default_first(voices, settings.voice, settings.language))
