"""OpenAI's transcriptions, both sides: the fields of the form, and the transcript in each of its formats.

Owns `json`, `text`, `srt`, `vtt` and `verbose_json`, the events of a stream, and how words become lines of subtitles. Used by
`gateway.dialects.audio`.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import ConfigDict, Field, WithJsonSchema

from duologue.errors import BadRequest, Unsupported
from duologue.values.speech import SpeechCard, TimedWord, Transcript
from duologue.wire.collected_reply import broken_off
from duologue.wire.speech import event
from duologue.wire.validation import MEGABYTE, Body, RequestLimits

LINE = 42
"""Characters of one line of subtitles; a segment has at most two."""
MAX_SEGMENT = 7.0
"""Seconds of one segment."""
PAUSE = 0.7
"""Seconds of silence that end a segment."""
LISTS = (
    "timestamp_granularities",
    "include",
    "known_speaker_names",
    "known_speaker_references",
    "keywords",
    "languages",
)
"""Fields of the form that may be repeated, with or without `[]` after their names."""

_SENTENCE = re.compile(r"[.!?…。！？][\"')\]»”’]*$")


class TranscriptionFields(Body):
    """The fields of the form of `POST /v1/audio/transcriptions`, without its file. Form values are strings, so types are
    converted."""

    model_config = ConfigDict(strict=False, extra="allow", allow_inf_nan=False, frozen=True)

    model: str = ""
    language: str = Field(default="", max_length=35)
    prompt: str = ""
    response_format: Annotated[
        Literal["json", "text", "srt", "verbose_json", "vtt", "diarized_json"],
        WithJsonSchema({"type": "string", "enum": ["json", "text", "srt", "verbose_json", "vtt"]}),
    ] = "json"
    temperature: float | None = Field(default=None, ge=0, le=1)
    timestamp_granularities: list[Literal["word", "segment"]] = Field(default_factory=list)
    include: list[str] = Field(default_factory=list)
    stream: bool = False
    chunking_strategy: Any = None

    def check(self, card: SpeechCard | None, limits: RequestLimits) -> None:
        """Raises BadRequest or Unsupported for what the engine cannot do; each names its field."""
        if len(self.prompt.encode()) > limits.text_mb * MEGABYTE:
            raise BadRequest(
                f"prompt is larger than {limits.text_mb} MB (setting limits.text_mb).", param="prompt"
            )
        engine = card.recogniser.engine if card is not None else ""
        if self.response_format == "diarized_json":
            raise Unsupported(
                f"diarized_json: {engine or 'the recogniser'} does not distinguish speakers, nor does any other recogniser of this "
                "version. WhisperX and OpenAI's gpt-4o-transcribe-diarize do.",
                param="response_format",
            )
        if self.timestamp_granularities and self.response_format != "verbose_json":
            raise BadRequest(
                "timestamp_granularities requires response_format to be verbose_json.",
                param="timestamp_granularities",
            )
        if "word" in self.timestamp_granularities and card is not None and not card.word_times:
            raise Unsupported(
                f"timestamp_granularities: {engine or 'the recogniser'} gives no word timestamps.",
                param="timestamp_granularities",
            )
        self._check_language(card)

    def _check_language(self, card: SpeechCard | None) -> None:
        supported = card.hears if card is not None else ()
        language = self.language.lower().replace("_", "-").partition("-")[0]
        if language and supported and all(tag.lower().partition("-")[0] != language for tag in supported):
            engine = card.recogniser.engine if card is not None else ""
            raise Unsupported(
                f"language: {engine or 'the recogniser'} supports only {', '.join(supported)}. docs/models.md lists recognisers for "
                "other languages, and how to install one.",
                param="language",
            )

    @property
    def needs_timestamps(self) -> bool:
        """Whether the response format has timestamps."""
        return self.response_format in ("srt", "vtt", "verbose_json")

    def ignored(self) -> tuple[str, ...]:
        """Fields that were sent and are not applied."""
        unapplied = ("temperature", "chunking_strategy", "include")
        return tuple(name for name in unapplied if getattr(self, name) not in (None, [])) + self.unknown()


class RecordingTranscript(Struct, frozen=True):
    """The transcript of a recording, and the recording's length in seconds."""

    transcript: Transcript
    seconds: float


class Segment(Struct, frozen=True):
    """Words of a subtitle; times in seconds."""

    start: float
    end: float
    text: str


def body(fields: TranscriptionFields, recording: RecordingTranscript) -> tuple[bytes, str]:
    """The body in the requested format, and its media type."""
    text = recording.transcript.text
    match fields.response_format:
        case "text":
            return f"{text}\n".encode(), "text/plain; charset=utf-8"
        case "srt":
            return srt(segments(recording)).encode(), "application/x-subrip; charset=utf-8"
        case "vtt":
            return vtt(segments(recording)).encode(), "text/vtt; charset=utf-8"
        case "verbose_json":
            return msgspec.json.encode(_verbose(fields, recording)), "application/json"
    answer = {"text": text, "usage": _usage(recording)} | _understood(recording.transcript)
    return msgspec.json.encode(answer), "application/json"


def segments(recording: RecordingTranscript) -> list[Segment]:
    """The transcript in segments for subtitles. One ends with a sentence, at a pause, or when two lines are full."""
    words = recording.transcript.words
    if not words:
        text = recording.transcript.text
        return [Segment(0.0, recording.seconds, text)] if text else []
    done: list[Segment] = []
    current: list[TimedWord] = []
    for word in words:
        if current and _ends(current, word):
            done.append(_segment(current))
            current = []
        current.append(word)
    done.append(_segment(current))
    return done


def _ends(segment: Sequence[TimedWord], following: TimedWord) -> bool:
    """Whether a segment ends before the following word."""
    length = sum(len(word.text) + 1 for word in segment) + len(following.text)
    return (
        _SENTENCE.search(segment[-1].text) is not None
        or following.start - segment[-1].end > PAUSE
        or following.end - segment[0].start > MAX_SEGMENT
        or length > 2 * LINE
    )


def _segment(words: Sequence[TimedWord]) -> Segment:
    return Segment(words[0].start, words[-1].end, " ".join(word.text for word in words))


def srt(subtitles: Iterable[Segment]) -> str:
    """Subtitles in SubRip format."""
    return "".join(
        f"{number}\n{_clock(segment.start, ',')} --> {_clock(segment.end, ',')}\n{_lines(segment.text)}\n\n"
        for number, segment in enumerate(subtitles, 1)
    )


def vtt(subtitles: Iterable[Segment]) -> str:
    """Subtitles in WebVTT format."""
    return "WEBVTT\n\n" + "".join(
        f"{_clock(segment.start, '.')} --> {_clock(segment.end, '.')}\n{_lines(_escaped(segment.text))}\n\n"
        for segment in subtitles
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _lines(text: str) -> str:
    """A text on one line, or on two broken at the space nearest to the middle."""
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


def _verbose(fields: TranscriptionFields, recording: RecordingTranscript) -> dict[str, object]:
    transcript = recording.transcript
    granularities = fields.timestamp_granularities or ["segment"]
    answer: dict[str, object] = {
        "task": "transcribe",
        "language": transcript.language or fields.language,
        "duration": round(recording.seconds, 3),
        "text": transcript.text,
        "usage": _usage(recording),
    } | _understood(transcript)
    if "segment" in granularities:
        answer["segments"] = [
            _segment_body(number, segment, transcript, fields.temperature or 0.0)
            for number, segment in enumerate(segments(recording))
        ]
    if "word" in granularities:
        answer["words"] = [
            {"word": word.text, "start": round(word.start, 3), "end": round(word.end, 3)}
            for word in transcript.words
        ]
    return answer


def _segment_body(
    number: int, segment: Segment, transcript: Transcript, temperature: float
) -> dict[str, object]:
    """A segment with every field that clients of this format expect; those that no engine here provides are 0 or empty."""
    confidence = transcript.confidence
    raw = segment.text.encode()
    return {
        "id": number,
        "seek": 0,
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "tokens": [],
        "temperature": temperature,
        "avg_logprob": 0.0 if confidence is None else round(math.log(max(confidence, 1e-9)), 4),
        "compression_ratio": round(len(raw) / len(zlib.compress(raw)), 4),
        "no_speech_prob": 0.0 if transcript.understood else 1.0,
    }


def _usage(recording: RecordingTranscript) -> dict[str, object]:
    return {"type": "duration", "seconds": round(recording.seconds, 3)}


def _understood(transcript: Transcript) -> dict[str, object]:
    """An extension of OpenAI's fields: there was speech, but the engine rejected its own transcript."""
    return {} if transcript.understood else {"understood": False}


class TranscriptStream:
    """Encodes pieces of text, then the `RecordingTranscript`, as server-sent events (`stream: true`). An `http.sse.Encoder`."""

    def __init__(self) -> None:
        self.note = b": listening\n\n"
        self.ended = False

    def encode(self, item: str | RecordingTranscript) -> bytes:
        """The event of a piece of text, or the last event."""
        if isinstance(item, str):
            return event({"type": "transcript.text.delta", "delta": item}) if item else b""
        self.ended = True
        fields: dict[str, object] = {"type": "transcript.text.done", "text": item.transcript.text}
        return event(fields | {"usage": _usage(item)} | _understood(item.transcript))

    def close(self) -> None:
        """Raises EngineFailed when the transcript has not ended."""
        if not self.ended:
            raise broken_off()
