"""OpenAI's transcriptions, both sides: the fields of the form, and what was written down in each of its formats.

Owns `json`, `text`, `srt`, `vtt` and `verbose_json`, the events of a stream, and how words become lines of subtitles.
Knows no engine and no socket.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import ConfigDict, Field

from duologue.errors import BadRequest, Unsupported
from duologue.values.speech import SpeechCard, TimedWord, Transcript
from duologue.wire.collected_reply import broken_off
from duologue.wire.speech import event
from duologue.wire.validation import MEGABYTE, Body, RequestLimits

LINE = 42
"""Characters of one line of subtitles; a segment has at most two."""
LONGEST = 7.0
"""Seconds of one segment, at most."""
PAUSE = 0.7
"""Seconds without a word that end a segment."""
LISTS = (
    "timestamp_granularities",
    "include",
    "known_speaker_names",
    "known_speaker_references",
    "keywords",
    "languages",
)
"""Fields of the form that may come several times, with or without `[]` behind their names."""

_SENTENCE = re.compile(r"[.!?…。！？][\"')\]»”’]*$")


class TranscriptionFields(Body):
    """The fields of the form of `POST /v1/audio/transcriptions`, beside its file. Forms hold texts, so types are converted."""

    model_config = ConfigDict(strict=False, extra="allow", allow_inf_nan=False, frozen=True)

    model: str = ""
    language: str = Field(default="", max_length=35)
    prompt: str = ""
    response_format: Literal["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] = "json"
    temperature: float | None = Field(default=None, ge=0, le=1)
    timestamp_granularities: list[Literal["word", "segment"]] = Field(default_factory=list)
    include: list[str] = Field(default_factory=list)
    stream: bool = False
    chunking_strategy: Any = None

    def check(self, card: SpeechCard | None, limits: RequestLimits) -> None:
        """Raises BadRequest, Unsupported for what cannot be had here; each names its field."""
        if len(self.prompt.encode()) > limits.text_mb * MEGABYTE:
            raise BadRequest(
                f"prompt has more than {limits.text_mb} MB (setting limits.text_mb).", param="prompt"
            )
        engine = card.recogniser.engine if card is not None else ""
        if self.response_format == "diarized_json":
            raise Unsupported(
                f"diarized_json: {engine or 'the recogniser'} does not tell speakers apart, and no recogniser of this version "
                "does. WhisperX does, and OpenAI's gpt-4o-transcribe-diarize.",
                param="response_format",
            )
        if self.timestamp_granularities and self.response_format != "verbose_json":
            raise BadRequest(
                "timestamp_granularities needs response_format to be verbose_json.",
                param="timestamp_granularities",
            )
        if "word" in self.timestamp_granularities and card is not None and not card.word_times:
            raise Unsupported(
                f"timestamp_granularities: {engine or 'the recogniser'} does not tell when each word was said.",
                param="timestamp_granularities",
            )
        self._check_language(card)

    def _check_language(self, card: SpeechCard | None) -> None:
        known = card.hears if card is not None else ()
        asked = self.language.lower().replace("_", "-").partition("-")[0]
        if asked and known and all(tag.lower().partition("-")[0] != asked for tag in known):
            engine = card.recogniser.engine if card is not None else ""
            raise Unsupported(
                f"language: {engine or 'the recogniser'} hears only {', '.join(known)} here. Other recognisers know more languages: "
                "docs/models.md tells which, and how to set one up.",
                param="language",
            )

    @property
    def wants_words(self) -> bool:
        """Whether the answer tells when something was said."""
        return self.response_format in ("srt", "vtt", "verbose_json")

    def ignored(self) -> tuple[str, ...]:
        """Fields that were sent and change nothing."""
        given = ("temperature", "chunking_strategy", "include")
        return tuple(name for name in given if getattr(self, name) not in (None, [])) + self.unknown()


class Heard(Struct, frozen=True):
    """A recording that was written down: the transcript, and the recording's length in seconds."""

    transcript: Transcript
    seconds: float


class Segment(Struct, frozen=True):
    """Some words that are shown together, in seconds."""

    start: float
    end: float
    text: str


def body(fields: TranscriptionFields, heard: Heard) -> tuple[bytes, str]:
    """The answer in the format that was asked for, and its media type."""
    text = heard.transcript.text
    match fields.response_format:
        case "text":
            return f"{text}\n".encode(), "text/plain; charset=utf-8"
        case "srt":
            return srt(segments(heard)).encode(), "application/x-subrip; charset=utf-8"
        case "vtt":
            return vtt(segments(heard)).encode(), "text/vtt; charset=utf-8"
        case "verbose_json":
            return msgspec.json.encode(_verbose(fields, heard)), "application/json"
    said = {"text": text, "usage": _usage(heard)} | _doubt(heard.transcript)
    return msgspec.json.encode(said), "application/json"


def segments(heard: Heard) -> list[Segment]:
    """What was said in pieces that can be read: a sentence, a pause or the room of two lines ends one."""
    words = heard.transcript.words
    if not words:
        text = heard.transcript.text
        return [Segment(0.0, heard.seconds, text)] if text else []
    found: list[Segment] = []
    held: list[TimedWord] = []
    for word in words:
        if held and _ends(held, word):
            found.append(_segment(held))
            held = []
        held.append(word)
    found.append(_segment(held))
    return found


def _ends(held: Sequence[TimedWord], following: TimedWord) -> bool:
    length = sum(len(word.text) + 1 for word in held) + len(following.text)
    return (
        _SENTENCE.search(held[-1].text) is not None
        or following.start - held[-1].end > PAUSE
        or following.end - held[0].start > LONGEST
        or length > 2 * LINE
    )


def _segment(words: Sequence[TimedWord]) -> Segment:
    return Segment(words[0].start, words[-1].end, " ".join(word.text for word in words))


def srt(found: Iterable[Segment]) -> str:
    """Subtitles in SubRip's form."""
    return "".join(
        f"{number}\n{_clock(segment.start, ',')} --> {_clock(segment.end, ',')}\n{_lines(segment.text)}\n\n"
        for number, segment in enumerate(found, 1)
    )


def vtt(found: Iterable[Segment]) -> str:
    """Subtitles in WebVTT's form."""
    return "WEBVTT\n\n" + "".join(
        f"{_clock(segment.start, '.')} --> {_clock(segment.end, '.')}\n{_lines(_escaped(segment.text))}\n\n"
        for segment in found
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _lines(text: str) -> str:
    """A text on one line or two, broken at the word nearest to its middle."""
    if len(text) <= LINE:
        return text
    gaps = [place for place, letter in enumerate(text) if letter == " "]
    if not gaps:
        return text
    at = min(gaps, key=lambda place: abs(place - len(text) // 2))
    return f"{text[:at]}\n{text[at + 1 :]}"


def _clock(seconds: float, point: str) -> str:
    whole = max(0, round(seconds * 1000))
    hours, rest = divmod(whole, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _verbose(fields: TranscriptionFields, heard: Heard) -> dict[str, object]:
    transcript = heard.transcript
    wanted = fields.timestamp_granularities or ["segment"]
    said: dict[str, object] = {
        "task": "transcribe",
        "language": transcript.language or fields.language,
        "duration": round(heard.seconds, 3),
        "text": transcript.text,
        "usage": _usage(heard),
    } | _doubt(transcript)
    if "segment" in wanted:
        said["segments"] = [
            _segment_body(number, segment, transcript, fields.temperature or 0.0)
            for number, segment in enumerate(segments(heard))
        ]
    if "word" in wanted:
        said["words"] = [
            {"word": word.text, "start": round(word.start, 3), "end": round(word.end, 3)}
            for word in transcript.words
        ]
    return said


def _segment_body(
    number: int, segment: Segment, transcript: Transcript, temperature: float
) -> dict[str, object]:
    """A segment with every field that clients of this format expect; what no engine here tells is 0 or empty."""
    sure = transcript.confidence
    raw = segment.text.encode()
    return {
        "id": number,
        "seek": 0,
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "tokens": [],
        "temperature": temperature,
        "avg_logprob": 0.0 if sure is None else round(math.log(max(sure, 1e-9)), 4),
        "compression_ratio": round(len(raw) / len(zlib.compress(raw)), 4),
        "no_speech_prob": 0.0 if transcript.understood else 1.0,
    }


def _usage(heard: Heard) -> dict[str, object]:
    return {"type": "duration", "seconds": round(heard.seconds, 3)}


def _doubt(transcript: Transcript) -> dict[str, object]:
    """Ours, beside OpenAI's fields: there was speech, and nothing the engine would stand for."""
    return {} if transcript.understood else {"understood": False}


class TranscriptStream:
    """`stream: true`: pieces of text and then `Heard` in, server-sent events out. Fulfils `gateway.sse.Encoder`."""

    def __init__(self) -> None:
        self.note = b": listening\n\n"
        self.ended = False

    def encode(self, item: str | Heard) -> bytes:
        """The event of the next piece of text, or the last one."""
        if isinstance(item, str):
            return event({"type": "transcript.text.delta", "delta": item}) if item else b""
        self.ended = True
        said: dict[str, object] = {"type": "transcript.text.done", "text": item.transcript.text}
        return event(said | {"usage": _usage(item)} | _doubt(item.transcript))

    def close(self) -> None:
        """Raises EngineFailed when the end never came."""
        if not self.ended:
            raise broken_off()
