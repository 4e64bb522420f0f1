"""The stream of an OpenAI-compatible server as the engine's events.

Used by `engine`. `EventLines` splits bytes into the data of server-sent events, wherever the network cut them;
`ReplyTranslator` turns each into events and knows how the reply ended. Pure, with the time as an argument.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from duologue.engines.openai_remote.error_text import error_in
from duologue.engines.openai_remote.raw_text import RawText, TextReading, new_call_id
from duologue.engines.openai_remote.reply_sound import ReplySound
from duologue.engines.openai_remote.request import CHARACTERS_A_TOKEN
from duologue.engines.openai_remote.response_json import json_of
from duologue.errors import EngineFailed
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Finish,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    Timings,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)

MAX_LINE = 16 * 1024 * 1024
"""Bytes one event may have; a whole reply is far smaller."""
DONE = b"[DONE]"
FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
BROKEN = {
    "content_filter": "its content filter ended the reply",
    "abort": "it aborted the reply",
    "error": "it could not finish the reply",
    "network_error": "it could not finish the reply",
    "insufficient_system_resource": "it ran out of resources in the middle of the reply",
}
"""Why a reply that ended for this reason is not a whole one."""
AS_IT_IS = TextReading()


class EventLines:
    """Bytes in, the data of complete events out. Comments, names, blank lines and anything else are skipped. Every byte is
    read once, however small the pieces."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that are complete now. Raises EngineFailed for one without an end."""
        *lines, rest = data.split(b"\n")
        events: list[bytes] = []
        for line in lines:
            self._add(line)
            events += self.finish()
        self._add(rest)
        return events

    def finish(self) -> list[bytes]:
        """The data of the line so far, as if it had ended here."""
        line = b"".join(self._pieces).removesuffix(b"\r")
        self._pieces.clear()
        self._size = 0
        if line.startswith((b'{"error"', b"error:")):
            # Older llama-servers and Ollama put an error into the stream without the word "data".
            return [line.removeprefix(b"error:").strip()]
        if not line.startswith(b"data:"):
            return []
        value = line[5:].strip()
        return [value] if value else []

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MAX_LINE:
            raise EngineFailed(f"The upstream sent an event of more than {MAX_LINE:,} bytes.", status=502)


class UpstreamError(Exception):
    """The upstream reported an error in its stream; the text is its own message."""


class ReplyTranslator:
    """One reply. `began` is when it was requested, in seconds; `prompt` the estimated tokens of the prompt; `ignored` the fields of
    the request that the server cannot apply. `sound`: for a reply that the model speaks itself; other sound is left out. `reading`: how
    text is read in which the server leaves thoughts and tool calls."""

    def __init__(
        self,
        began: float,
        prompt: int,
        ignored: tuple[str, ...] = (),
        sound: ReplySound | None = None,
        reading: TextReading = AS_IT_IS,
    ) -> None:
        self._began = began
        self._prompt = prompt
        self._ignored = ignored
        self._sound = sound
        self._written = False
        """Whether the text came as content, and not as the transcript of the sound."""
        self._first: float | None = None
        self._prefilled = False
        self._finish: Finish | None = None
        self._broken: str | None = None
        self._stop: str | None = None
        self._usage: Usage | None = None
        self._characters = 0
        self._tool_calls = _ToolCalls()
        self._raw = RawText(reading)

    @property
    def over(self) -> bool:
        """Whether the reply has all that it may have, whatever the server would still send."""
        return self._raw.over

    def feed(self, data: bytes, now: float) -> list[Event]:
        """The events of one piece of data. Raises UpstreamError with the upstream's own message, or ValueError for
        anything but a JSON object."""
        chunk = json_of(data)
        if not isinstance(chunk, dict):
            raise ValueError("not an object")
        message = error_in(chunk)
        if message is not None:
            raise UpstreamError(message)
        self._usage = _usage(chunk.get("usage")) or self._usage
        choice = _first(chunk.get("choices"))
        if choice is None:
            return []
        # A server that does not stream although it was asked to sends `message`.
        delta = choice.get("delta") or choice.get("message")
        if delta is None and "text" in choice:  # a completion of a raw prompt
            delta = {"content": choice["text"]}
        if isinstance(delta, dict) and chunk.get("modality") == "audio":
            delta = {"audio": {"data": _text(delta.get("content"))}}  # vLLM-Omni
        events = self._deltas(delta, choice.get("logprobs")) if isinstance(delta, dict) else []
        if events and self._first is None:
            self._first = now
        self._end(choice)
        return self._with_prefilled(events)

    def finished(self, now: float) -> list[Event] | None:
        """The last events once the upstream has ended; None when it ended in the middle of the reply. Raises UpstreamError where it
        gave up."""
        if self._broken is not None:
            raise UpstreamError(self._broken)
        if self._finish is None and not self.over:
            return None
        events: list[Event] = [*self._raw.finish()]
        events += [AudioDelta(pcm) for pcm in self._sound.finish()] if self._sound else []
        events += map(self._numbered, self._tool_calls.rest())
        finish = self._finish
        if (
            finish != "length" or self.over
        ):  # some servers say stop after tool calls, and tool_calls without one
            finish = "tool_calls" if self._tool_calls.opened or self._raw.complete else "stop"
            if self._raw.truncated:
                finish = "length"
        first = self._first if self._first is not None else now
        timings = Timings(
            prefill=(first - self._began) * 1000,
            generate=(now - first) * 1000,
            first=(first - self._began) * 1000,
        )
        usage = self._usage or Usage(self._prompt, -(-self._characters // CHARACTERS_A_TOKEN), estimated=True)
        return [*self._with_prefilled([*events, Done(finish, usage, timings, self._stop)])]

    def _with_prefilled(self, events: list[Event]) -> list[Event]:
        if not events or self._prefilled:
            return events
        self._prefilled = True
        return [Prefilled(None, ignored=self._ignored), *events]

    def _deltas(self, delta: dict[str, Any], logprobs: object) -> list[Event]:
        events: list[Event] = []
        reasoning = _reasoning(delta)
        if reasoning:
            events += [*self._raw.native_thought(), ReasoningDelta(reasoning)]
        content = _text(delta.get("content")) or _text(delta.get("refusal"))
        if content:
            self._written = True
            events += self._raw.feed(content, _logprobs(logprobs))
        events += self._spoken(delta.get("audio"))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                events += self._raw.native_call()
                events += (self._numbered(delta) for delta in self._tool_calls.feed(call))
        self._characters += len(reasoning) + len(content)
        return events

    def _numbered(self, delta: ToolCallDelta) -> ToolCallDelta:
        """With a number after those of the calls that came as text."""
        return replace(delta, index=delta.index + self._raw.calls) if self._raw.calls else delta

    def _spoken(self, audio: object) -> list[Event]:
        """The sound of a piece, and its transcript where the text does not come as content too."""
        if not isinstance(audio, dict):
            return []
        events: list[Event] = []
        transcript = "" if self._written else _text(audio.get("transcript"))
        if transcript:
            self._characters += len(transcript)
            events.append(TextDelta(transcript))
        if self._sound is not None and (data := _text(audio.get("data"))):
            events += [AudioDelta(pcm) for pcm in self._sound.feed(data)]
        return events

    def _end(self, choice: dict[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = FINISHES.get(reason, "stop")
            self._broken = error_in(choice) or BROKEN.get(reason)
            # The stop string, where the server says it (vLLM, Duologue).
            stop = choice.get("stop_reason") or choice.get("stop_str")
            self._stop = stop if isinstance(stop, str) else None


class _ToolCalls:
    """Tool calls in pieces. Servers disagree: some count with `index`, some give every tool call the index 0 and a new
    id, some leave out either; some send arguments as an object."""

    def __init__(self) -> None:
        self._places: dict[object, int] = {}
        self._ids: dict[int, str] = {}
        self._waiting: dict[int, list[str]] = {}
        self._named: dict[int, str] = {}
        self._arguments: dict[int, list[str]] = {}
        self._bare: set[int] = set()
        self._count = 0

    @property
    def opened(self) -> bool:
        return bool(self._named)

    def feed(self, call: dict[str, Any]) -> list[ToolCallDelta]:
        value = call.get("function")
        function: dict[str, Any] = value if isinstance(value, dict) else {}
        place = self._place(call, function)
        arguments = function.get("arguments")
        piece = (
            arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        )
        name = function.get("name")
        if piece:
            self._bare.discard(place)
            self._arguments.setdefault(place, []).append(piece)
        if place in self._named:
            return [ToolCallDelta(place, piece)] if piece else []
        self._waiting.setdefault(place, []).append(piece)
        if not isinstance(name, str) or not name:
            return []
        self._named[place] = name
        beginning = "".join(self._waiting.pop(place))
        if not beginning:
            self._bare.add(place)
        return [ToolCallDelta(place, beginning, self._ids[place], name)]

    def rest(self) -> list[ToolCallDelta]:
        """Empty arguments for tool calls whose arguments never came."""
        return [ToolCallDelta(place, "{}") for place in sorted(self._bare)]

    def _place(self, call: dict[str, Any], function: dict[str, Any]) -> int:
        """The number, from 0, of the tool call that this piece belongs to."""
        value = call.get("id")
        identity = value if isinstance(value, str) and value else None
        index = call.get("index")
        key: object = index if isinstance(index, int) else identity
        place = self._places.get(key) if key is not None else self._count - 1
        if place is None or place < 0 or self._is_another(place, identity, function.get("name")):
            place = self._count
            self._count += 1
            self._ids[place] = identity or new_call_id()
        self._places[key] = place
        return place

    def _is_another(self, place: int, identity: str | None, name: object) -> bool:
        """Whether a piece that counts as `place` begins another tool call: servers that give every tool call the same index begin
        each with a name, and some of them repeat name or id, or make a new id, with every piece."""
        if place not in self._named or not isinstance(name, str) or not name:
            return False
        if name != self._named[place]:
            return True
        if identity == self._ids[place]:
            return False
        begun = "".join(self._arguments.get(place, ()))
        return _is_json(begun) if begun else identity is not None


def _is_json(text: str) -> bool:
    if not text.rstrip().endswith(("}", "]")):
        return False
    try:
        json_of(text.encode())
    except ValueError:
        return False
    return True


def _reasoning(delta: dict[str, Any]) -> str:
    """The thought in a delta, by the first of its names: some servers send it under several. Mistral sends it as parts of the
    content, and what OpenRouter sends may be a summary."""
    thought = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
    if not thought and isinstance(details := delta.get("reasoning_details"), list):
        parts = [part for part in details if isinstance(part, dict)]
        thought = "".join(_text(part.get("text")) or _text(part.get("summary")) for part in parts)
    if not thought and isinstance(content := delta.get("content"), list):
        thought = "".join(_text(part.get("thinking")) for part in content if isinstance(part, dict))
    return thought


def _first(choices: object) -> dict[str, Any] | None:
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return None


def _text(value: object) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return ""


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict) or not isinstance(value.get("completion_tokens"), int):
        return None
    return Usage(
        _count(value, "prompt_tokens"),
        _count(value, "completion_tokens"),
        _count(value.get("prompt_tokens_details"), "cached_tokens"),
        _count(value.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(value: object, name: str) -> int:
    number = value.get(name) if isinstance(value, dict) else None
    return number if isinstance(number, int) else 0


def _logprobs(value: object) -> tuple[TokenLogprob, ...]:
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        return _older_logprobs(value) if isinstance(value, dict) else ()
    return tuple(_logprob(entry) for entry in content if isinstance(entry, dict))


def _older_logprobs(value: dict[str, Any]) -> tuple[TokenLogprob, ...]:
    """Of completions of a raw prompt: lists side by side, and the alternatives by their text."""
    tokens, numbers, tops = (value.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(tokens, list) or not isinstance(numbers, list) or len(tokens) != len(numbers):
        return ()
    tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
    return tuple(
        _logprob({"token": token, "logprob": number, "top_logprobs": _listed(top)})
        for token, number, top in zip(tokens, numbers, tops, strict=True)
    )


def _listed(top: object) -> list[dict[str, Any]]:
    found = top.items() if isinstance(top, dict) else ()
    return [{"token": token, "logprob": number} for token, number in found]


def _logprob(entry: dict[str, Any]) -> TokenLogprob:
    token = _text(entry.get("token"))
    data, number, top = entry.get("bytes"), entry.get("logprob"), entry.get("top_logprobs")
    return TokenLogprob(
        token,
        float(number) if isinstance(number, int | float) else 0.0,
        bytes(data) if isinstance(data, list) else token.encode(),
        tuple(_logprob(other) for other in top if isinstance(other, dict)) if isinstance(top, list) else (),
    )
