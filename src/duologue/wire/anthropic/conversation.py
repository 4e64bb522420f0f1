"""Anthropic's messages as Duologue's: their content blocks become messages, parts, thoughts and tool calls.

Owns the translation. A tool's result, a block of the user's, becomes a message of its own. Messages of one role that follow each other
become one, as that API says. A system message has to be the first for many chat templates: one before the first reply joins the system
prompt, where it stays in the cache, and a later one stands in a message of the user. Used by `messages_body`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, structs
from pydantic import Field

from duologue.errors import Unsupported
from duologue.values.events import Event, Failed, Fitted
from duologue.values.messages import Message, Part, Role, TextPart, ToolCall
from duologue.wire.anthropic.content_blocks import (
    AnyBlock,
    Blocks,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    parts_of,
)
from duologue.wire.anthropic.thoughts import hidden_thought
from duologue.wire.anthropic.tool_ids import inner_id
from duologue.wire.validation import Body

BILLING = "x-anthropic-billing-header:"
"""Begins a block that some agents put before their system prompt. It says nothing to a model and differs in each request, so that
nothing after it could come from the prompt cache."""
PARAGRAPH = "\n\n"
_PLACE = re.compile(r"messages\[\d+\]\.content\[\d+\]")


class AnthropicMessage(Body):
    role: Literal["user", "assistant", "system"]
    content: Blocks = Field(description="A text, or blocks.")


class TranslatedMessages(Struct, frozen=True):
    """`places`: the paths of the parts of `messages` -> the paths of their blocks in the request. `open`: the last message is the
    assistant's, and is to be continued."""

    messages: tuple[Message, ...]
    places: dict[str, str]
    open: bool


class _Draft:
    """A message that blocks are added to."""

    def __init__(self, role: Role, tool_call_id: str | None = None) -> None:
        self.role, self.tool_call_id = role, tool_call_id
        self.parts: list[Part] = []
        self.places: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []

    def add(self, parts: Sequence[Part], place: str, between: str) -> None:
        """Add parts. `between` parts two texts that no line break parts."""
        for part in parts:
            before = self.parts[-1] if self.parts else None
            if isinstance(part, TextPart) and isinstance(before, TextPart):
                parted = before.text.endswith("\n") or part.text.startswith("\n")
                part = part if parted or not between else TextPart(between + part.text)
            self.parts.append(part)
            self.places.append(place)

    def message(self) -> Message:
        return Message(
            self.role,
            tuple(self.parts),
            reasoning=PARAGRAPH.join(self.thoughts) or None,
            tool_calls=tuple(self.calls),
            tool_call_id=self.tool_call_id,
        )


class _Translation:
    def __init__(self, references: Mapping[str, Sequence[Part]]) -> None:
        self._references = references
        self.drafts: list[_Draft] = []

    def system(self, blocks: Sequence[TextBlock]) -> None:
        for index, block in enumerate(blocks):
            if block.text and not block.text.startswith(BILLING):
                self._last("system").add([TextPart(block.text)], f"system[{index}]", PARAGRAPH)

    def message(self, message: AnthropicMessage, where: str) -> None:
        if message.role == "system":
            self._late_system(message, where)
            return
        between = PARAGRAPH
        for index, block in enumerate(message.content):
            place = f"{where}[{index}]"
            if isinstance(block, ToolResultBlock):
                self._result(block, place)
            elif isinstance(block, ToolUseBlock):
                arguments = msgspec.json.encode(block.input).decode()
                self._last("assistant").calls.append(ToolCall(inner_id(block.id), block.name, arguments))
            elif isinstance(block, ThinkingBlock):
                if thought := block.thinking or hidden_thought(block.signature):
                    self._last("assistant").thoughts.append(thought)
            elif parts := parts_of(block, place, self._references):
                self._last(message.role).add(parts, place, between)
                if message.role == "assistant":  # its texts stand as it wrote them
                    between = ""

    def _late_system(self, message: AnthropicMessage, where: str) -> None:
        has_replied = any(draft.role == "assistant" for draft in self.drafts)
        if not has_replied and not (self.drafts and self.drafts[0].role == "system"):
            self.drafts.insert(0, _Draft("system"))
        for index, block in enumerate(message.content):
            if not isinstance(block, TextBlock) or not block.text:
                continue
            draft = self._last("user") if has_replied else self.drafts[0]
            text = f"<system>\n{block.text}\n</system>" if has_replied else block.text
            draft.add([TextPart(text)], f"{where}[{index}]", PARAGRAPH)

    def _result(self, block: ToolResultBlock, where: str) -> None:
        draft = _Draft("tool", inner_id(block.tool_use_id))
        self.drafts.append(draft)
        contents: Sequence[AnyBlock] = block.content or ()
        for index, content in enumerate(contents):
            place = f"{where}.content[{index}]"
            draft.add(parts_of(content, place, self._references), place, PARAGRAPH)
        first = draft.parts[0] if draft.parts else None
        if block.is_error and not (isinstance(first, TextPart) and "error" in first.text[:50].lower()):
            draft.parts.insert(0, TextPart("Error: " if draft.parts else "Error"))
            draft.places.insert(0, where)

    def _last(self, role: Role) -> _Draft:
        """The last message, if it has this role; else a new one."""
        if not self.drafts or self.drafts[-1].role != role:
            self.drafts.append(_Draft(role))
        return self.drafts[-1]


def conversation(
    system: Sequence[TextBlock],
    messages: Sequence[AnthropicMessage],
    references: Mapping[str, Sequence[Part]],
) -> TranslatedMessages:
    """The messages of a request. Raises BadRequest, Unsupported; each names its field."""
    translation = _Translation(references)
    translation.system(system)
    for at, message in enumerate(messages):
        translation.message(message, f"messages[{at}].content")
    drafts = translation.drafts
    last = drafts[-1] if drafts else None
    if last is not None and last.role == "assistant" and not last.parts and not last.calls:
        drafts.pop()  # an empty beginning: nothing to continue
        last = drafts[-1] if drafts else None
    places = {
        f"messages[{at}].content[{index}]": place
        for at, draft in enumerate(drafts)
        for index, place in enumerate(draft.places)
    }
    is_open = last is not None and last.role == "assistant"
    return TranslatedMessages(tuple(draft.message() for draft in drafts), places, is_open)


def relocated(problem: Unsupported, places: Mapping[str, str]) -> Unsupported:
    """The problem of a request, with the paths and names that the client knows."""
    message, param = problem.message, problem.param
    if param == "continue_final_message":
        param = "messages"
        message = (
            f"messages: the last one is the assistant's, and{message.removeprefix('continue_final_message:')}"
        )
    return Unsupported(_moved(message, places), code=problem.code, param=_moved(param or "", places) or None)


def relocated_event(event: Event, places: Mapping[str, str]) -> Event:
    """An event of a request with media, with the paths that the client knows."""
    match event:
        case Failed():
            message, param = _moved(event.message, places), event.param
            return structs.replace(event, message=message, param=param and _moved(param, places))
        case Fitted():
            notes = tuple(structs.replace(note, where=_moved(note.where, places)) for note in event.notes)
            return structs.replace(event, notes=notes)
    return event


def _moved(text: str, places: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda found: places.get(found[0], found[0]), text)
