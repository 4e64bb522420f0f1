"""gpt-oss (harmony): every message has a header, which names its channel and, for a call, whom it is for.

    <|channel|>analysis<|message|>Need f.<|end|><|start|>assistant<|channel|>commentary to=functions.f
    <|constrain|>json<|message|>{"a": "x"}<|call|>

(in one line). The prompt ends in `<|start|>assistant`, so that a reply begins inside a header. The recipient may stand with
the role or with the channel, on any channel; text on `commentary` without a recipient is for the user to see, `final` is
the answer, `analysis` is reasoning. A header that never comes to its end, and calls where no tools are offered, are text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, held_text, may_become
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.json_values import ValueScanner, is_json
from duologue.values.messages import Tool

START, CHANNEL, MESSAGE, CALL = "<|start|>", "<|channel|>", "<|message|>", "<|call|>"
CONSTRAIN = "<|constrain|>"
END, RETURN = "<|end|>", "<|return|>"
STARTS = (START, CHANNEL)
ENDS = (CALL, END, RETURN)
ASSISTANT = f"{START}assistant"

AFTER_HEADER = Markers((MESSAGE, START, *ENDS))
AFTER_BODY = Markers((*STARTS, *ENDS))
RECIPIENT = re.compile(r"\bto=([^\s<]+)")
CHANNEL_NAME = re.compile(r"<\|channel\|>\s*(\w*)")
FUNCTIONS = "functions."
NO_TOOL = frozenset(("user", "assistant", "all"))
"""Recipients of messages that are no calls."""
LONGEST_HEADER = 400
SPACE = re.compile(r"[ \t\r\n]*")


class Harmony(ToolFormat):
    """The format."""

    starts = STARTS
    ends = ENDS
    in_reasoning = True
    quotable = False
    frames = True
    opening = ASSISTANT
    inner = (MESSAGE, CONSTRAIN)

    @property
    def trigger(self) -> str:
        return f"{CHANNEL}commentary to={FUNCTIONS}"

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return HarmonyScanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        messages = [
            grammar.add(
                "call",
                f"{literal(f'{tool.name} {CONSTRAIN}json{MESSAGE}')} "
                f"{grammar.schema({'type': 'object', **tool.parameters}, 'arguments') if shaped else 'object'} "
                f"{literal(CALL)}",
            )
            for tool in tools
        ]
        return grammar.add(
            "region", f"{literal(ASSISTANT)}? {literal(self.trigger)} ({' | '.join(messages)})"
        )


FORMAT = Harmony()


class HarmonyScanner:
    """One message: its header, and the arguments if it is a call. Of any other message the region is the header."""

    unclosed = False

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._sink, self._tools = sink, tools
        self._header, self._pending = start, ""
        self._state: Literal["header", "before", "arguments", "after"] = "header"
        self._value = ValueScanner(AFTER_BODY)
        self._arguments: list[str] = []

    @property
    def pending(self) -> HeldText | None:
        """What is held back: a header as a whole, and of a call what may become its end."""
        if self._state == "header":
            return held_text([self._header, self._pending], f"the header of a message, until `{MESSAGE}`")
        return may_become(self._pending, AFTER_BODY.words)

    def feed(self, text: str) -> str | None:
        text, self._pending = self._pending + text, ""
        if self._state == "header":
            return self._read_header(text)
        return self._read_body(text)

    def finish(self) -> bool:
        if self._state == "header":
            self._sink.reject(self._header + self._pending, 0)
            return False
        if self._state == "after":
            self._close()
            return False
        if self._pending and self._state == "arguments":
            self._add(self._pending)
        return True

    def _read_header(self, text: str) -> str | None:
        match = AFTER_HEADER.pattern.search(text)
        hold = AFTER_HEADER.hold(text)
        if match is None or match.start() >= hold:
            self._header += text[:hold]
            self._pending = text[hold:]
            return self._not_a_header("") if len(self._header) > LONGEST_HEADER else None
        self._header += text[: match.start()]
        if match[0] != MESSAGE or len(self._header) > LONGEST_HEADER:
            return self._not_a_header(text[match.start() :])
        return self._begin(text[match.end() :])

    def _not_a_header(self, rest: str) -> str:
        self._sink.reject(self._header, 0)
        rest, self._pending = self._pending + rest, ""
        return rest

    def _begin(self, rest: str) -> str | None:
        """The header is complete: say what the message is, and go on with it."""
        recipient = RECIPIENT.search(self._header)
        if recipient is not None and recipient[1] not in NO_TOOL:
            if not self._tools:
                self._sink.reject(self._header + MESSAGE, 0)
                self._sink.enter("content")
                return rest
            self._sink.open(recipient[1].removeprefix(FUNCTIONS))
            self._state = "before"
            return self._read_body(rest)
        channel = CHANNEL_NAME.search(self._header)
        self._sink.enter("reasoning" if channel is not None and channel[1] == "analysis" else "content")
        return rest

    def _read_body(self, text: str) -> str | None:
        at = 0
        if self._state == "before":
            at = _after_space(text, 0)
            if at == len(text) or (text[at] == "<" and AFTER_BODY.begins(text, at)):
                self._pending = text[at:]
                return None
            self._state = "after" if AFTER_BODY.at(text, at) else "arguments"
        if self._state == "arguments":
            piece, at = self._value.scan(text, at)
            self._add(piece)
            if self._value.state == "more":
                self._pending = text[at:]
                return None
            self._state = "after"
        return self._read_after(text, at)

    def _read_after(self, text: str, at: int) -> str | None:
        """After the arguments: the end of the message. Anything else before it makes them broken, and stands."""
        match = AFTER_BODY.pattern.search(text, at)
        hold = max(at, AFTER_BODY.hold(text))
        if match is None or match.start() >= hold:
            self._add_other(text[at:hold])
            self._pending = text[hold:]
            return None
        self._add_other(text[at : match.start()])
        self._close()
        return text[match.end() if match[0] in ENDS else match.start() :]

    def _add(self, piece: str) -> None:
        if piece:
            self._arguments.append(piece)
            self._sink.arguments(piece)

    def _add_other(self, text: str) -> None:
        if text.strip():
            self._add(text)

    def _close(self) -> None:
        if not self._arguments:
            self._add("{}")
        self._sink.close(is_json("".join(self._arguments)))


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at
