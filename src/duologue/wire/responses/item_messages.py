"""Items of the Responses API as the messages that every engine knows.

Owns how items join: a thought, an answer and the tool calls after it are one message of the assistant. The paths of parts begin with
`input[3]` for items of the request and with `history[3]` for those that the server stored. Used by `response_body`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import Detail, Message, Part, TextPart, ToolCall
from duologue.wire import media_parts
from duologue.wire.openai import OpenAIAudioContent
from duologue.wire.responses.item_bodies import (
    AnyItem,
    AnyItemContent,
    CustomToolCallItem,
    CustomToolCallOutputItem,
    FunctionCallItem,
    FunctionCallOutputItem,
    ItemFileContent,
    ItemImageContent,
    ItemRefusalContent,
    ItemTextContent,
    ItemVideoContent,
    MessageItem,
    ReasoningItem,
    ReferenceItem,
)
from duologue.wire.responses.response_tools import called_name
from duologue.wire.validation import ROLES
from duologue.wire.validation_errors import shortened

SEALED = "drt1."
"""What `encrypted_content` begins with: the thought itself follows, in base64. Nothing about it is secret."""
DETAILS: dict[str, Detail] = {"low": "low", "high": "high", "original": "high"}


class PlacedItem(Struct, frozen=True):
    """An item and its path in the request."""

    where: str
    item: AnyItem


def placed(items: Sequence[AnyItem], name: str) -> list[PlacedItem]:
    """Items with their paths: `name[0]`, `name[1]` ..."""
    return [PlacedItem(f"{name}[{index}]", item) for index, item in enumerate(items)]


def sealed(thought: str) -> str:
    """A thought as a client sends it back, where it asked for `reasoning.encrypted_content`."""
    return SEALED + base64.urlsafe_b64encode(thought.encode()).decode()


def _unsealed(content: str) -> str:
    """The thought of `sealed`; empty for what another server made."""
    if not content.startswith(SEALED):
        return ""
    try:
        return base64.urlsafe_b64decode(content.removeprefix(SEALED)).decode()
    except (binascii.Error, ValueError):
        return ""


def references(items: Sequence[PlacedItem]) -> Iterator[media_parts.MediaReference]:
    """The parts that have to be fetched or read first. Raises BadRequest, Unsupported."""
    for entry in items:
        for index, content in enumerate(_contents(entry.item)):
            found = _reference(content, _place(entry, index))
            if found is not None:
                yield found


def messages(items: Sequence[PlacedItem], read: Mapping[str, Sequence[Part]]) -> tuple[Message, ...]:
    """The messages of the items. `read`: what `references` named, by its path. Raises BadRequest, Unsupported."""
    turns = _Turns()
    for entry in items:
        match entry.item:
            case MessageItem(role="assistant"):
                turns.answer(_parts(entry, read))
            case MessageItem() as message:
                turns.add(Message(ROLES[message.role], _parts(entry, read)))
            case ReasoningItem() as thought:
                turns.thought(_thought(thought))
            case FunctionCallItem() as asked:
                turns.call(ToolCall(asked.call_id, called_name(asked.name, asked.namespace), asked.arguments))
            case CustomToolCallItem() as asked:
                name = called_name(asked.name, asked.namespace)
                turns.call(ToolCall(asked.call_id, name, custom_arguments(asked.input)))
            case FunctionCallOutputItem() | CustomToolCallOutputItem() as output:
                turns.result(output.call_id, _parts(entry, read), entry.where)
            case ReferenceItem():
                raise BadRequest(f"{entry.where} refers to an item that was not found.", param=entry.where)
    return turns.finished()


def custom_arguments(text: str) -> str:
    """The arguments of a custom tool's call: models call it as a function with one text."""
    return msgspec.json.encode({"input": text}).decode()


class _Turns:
    """Joins what the assistant said in a row."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._reasoning: str | None = None
        self._answer: tuple[Part, ...] = ()
        self._calls: list[ToolCall] = []
        self._known: set[str] = set()

    def thought(self, text: str) -> None:
        if self._answer or self._calls:
            self._flush()
        self._reasoning = text if self._reasoning is None else f"{self._reasoning}\n{text}"

    def answer(self, parts: tuple[Part, ...]) -> None:
        if self._answer or self._calls:
            self._flush()
        self._answer = parts

    def call(self, tool_call: ToolCall) -> None:
        self._calls.append(tool_call)
        self._known.add(tool_call.id)

    def result(self, call_id: str, parts: tuple[Part, ...], where: str) -> None:
        if call_id not in self._known:
            raise BadRequest(
                f"{where}.call_id answers the call {shortened(call_id)!r}, but no call with this id comes before it.",
                param=f"{where}.call_id",
            )
        self.add(Message("tool", parts, tool_call_id=call_id))

    def add(self, message: Message) -> None:
        self._flush()
        self._messages.append(message)

    def finished(self) -> tuple[Message, ...]:
        self._flush()
        return tuple(self._messages)

    def _flush(self) -> None:
        if self._answer or self._calls:
            said = Message(
                "assistant", self._answer, reasoning=self._reasoning or None, tool_calls=tuple(self._calls)
            )
            self._messages.append(said)
        # A thought that nothing followed, of a reply that was cut off, is left out.
        self._reasoning, self._answer, self._calls = None, (), []


def _thought(item: ReasoningItem) -> str:
    parts = item.content or item.summary
    if parts:
        return "\n".join(part.text for part in parts)
    return _unsealed(item.encrypted_content or "")


def _contents(item: AnyItem) -> Sequence[AnyItemContent]:
    match item:
        case MessageItem():
            return item.content
        case FunctionCallOutputItem() | CustomToolCallOutputItem():
            return item.output
    return ()


def _place(entry: PlacedItem, index: int) -> str:
    name = "content" if isinstance(entry.item, MessageItem) else "output"
    return f"{entry.where}.{name}[{index}]"


def _parts(entry: PlacedItem, read: Mapping[str, Sequence[Part]]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for index, content in enumerate(_contents(entry.item)):
        place = _place(entry, index)
        parts += read[place] if place in read else (_part(content, place),)
    return tuple(parts)


def _reference(content: AnyItemContent, where: str) -> media_parts.MediaReference | None:
    match content:
        case ItemImageContent(image_url=str(url)) if media_parts.is_address(url):
            detail = DETAILS.get(content.detail, "")
            return media_parts.MediaReference(where, "image", url=url, detail=detail)
        case ItemImageContent(image_url=None, file_id=str(id)):
            return media_parts.MediaReference(
                where, "image", stored=id, detail=DETAILS.get(content.detail, "")
            )
        case ItemVideoContent() if media_parts.is_address(content.video_url):
            return media_parts.MediaReference(where, "video", url=content.video_url)
        case OpenAIAudioContent() if media_parts.is_address(content.input_audio.data):
            return media_parts.MediaReference(where, "audio", url=content.input_audio.data)
        case OpenAIAudioContent() if content.input_audio.format != "wav":
            data = media_parts.from_base64(content.input_audio.data, f"{where}.input_audio.data")
            return media_parts.MediaReference(where, "audio", data)
        case ItemFileContent():
            given = content.file_data or content.file_url
            if not given and content.file_id:
                return media_parts.MediaReference(
                    where, "file", name=content.filename, stored=content.file_id
                )
            if not given:
                raise _without_file(where, "file_data")
            place = f"{where}.file_data" if content.file_data else f"{where}.file_url"
            return media_parts.file(given, where, place, content.filename)
    return None


def _part(content: AnyItemContent, where: str) -> Part:
    match content:
        case ItemTextContent():
            return TextPart(content.text)
        case ItemRefusalContent():
            return TextPart(content.refusal)
        case ItemImageContent():
            if not content.image_url:
                raise _without_file(where, "image_url")
            place = f"{where}.image_url"
            data = media_parts.from_data_url(content.image_url, place)[1]
            return media_parts.image(data, place, DETAILS.get(content.detail, ""))
        case ItemVideoContent():
            mime, film = media_parts.from_data_url(content.video_url, f"{where}.video_url")
            return media_parts.video(film, f"{where}.video_url", mime or "video/mp4")
        case OpenAIAudioContent():
            place = f"{where}.input_audio.data"
            return media_parts.wav(media_parts.from_base64(content.input_audio.data, place), place)
        case ItemFileContent():
            raise Unsupported(f"{where} is a file that was not read.", param=where)


def _without_file(where: str, field: str) -> BadRequest:
    sentence = f"{where} needs {field}, or the file_id of a stored file."
    return BadRequest(sentence, param=f"{where}.{field}")
