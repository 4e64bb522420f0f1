"""Qwen3-Coder, Qwen3.5 and others: parameters between tags instead of JSON.

    <tool_call>
    <function=f>
    <parameter=a>
    x
    </parameter>
    </function>
    </tool_call>

Text parameters are passed on as they are written; what the text is to become JSON is in `parameter_values.py`. Values are not
escaped, so a closing tag counts only where the format goes on after it: a file that contains `</parameter>` is written as it is.
Tolerated: no line ends, a missing wrapper around a tool that is offered, missing closing tags where the next one is clear,
several functions in one wrapper, and JSON as in `hermes.py`. Text that is not a call is returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink
from duologue.text.toolcalls.hermes import HermesScanner
from duologue.text.toolcalls.parameter_values import is_text, parameter_json, parameters_of, types_of
from duologue.text.toolcalls.schema_grammar import MAX_CHOICES, JsonGrammar, literal
from duologue.values.messages import Tool

START, END = "<tool_call>", "</tool_call>"
FUNCTION, FUNCTION_END = "<function=", "</function>"
PARAMETER, PARAMETER_END = "<parameter=", "</parameter>"
LONGEST_NAME = 200
MOST_SPACE = 64
"""Characters between two tags, so that what may still become the end of a value stays short."""

NEXT = Markers((PARAMETER, FUNCTION_END, END))
AFTER = Markers((FUNCTION, END))
ENDS = Markers((PARAMETER_END, FUNCTION_END, PARAMETER))
NAME = re.compile(rf"([^<>\n]{{1,{LONGEST_NAME}}})>")
UNFINISHED_NAME = re.compile(rf"[^<>\n]{{0,{LONGEST_NAME}}}\Z")
SPACE = re.compile(r"[ \t\r\n]*")
FOLLOWED = re.compile(
    rf"{PARAMETER_END}[ \t\r\n]{{0,{MOST_SPACE}}}(?={PARAMETER}|{FUNCTION_END}|{END})"
    rf"|(?={FUNCTION_END}[ \t\r\n]{{0,{MOST_SPACE}}}{END})"
)
"""A value ends before this: its own closing tag, or that of the function, where the format goes on."""
UNDECIDED = re.compile(rf"(?:{PARAMETER_END}|{FUNCTION_END})[ \t\r\n]{{0,{MOST_SPACE}}}")
LAST = re.compile(rf"\n?(?:{PARAMETER_END}\s*)?(?:{FUNCTION_END}\s*)?\Z")

State = Literal["opening", "name", "head", "value", "next", "after", "over"]


class Qwen3Xml:
    """The format."""

    starts: tuple[str, ...] = (START, FUNCTION)
    ends: tuple[str, ...] = (END,)
    in_reasoning = True

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return Qwen3XmlScanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        functions = [
            grammar.add(
                "call",
                f"{literal(f'{FUNCTION}{tool.name}>')} {_NEWLINE} {_parameter_rules(tool, grammar, shaped)} "
                f"{literal(FUNCTION_END)}",
            )
            for tool in tools
        ]
        return grammar.add(
            "region", f"{literal(START)} {_NEWLINE} ({' | '.join(functions)}) {_NEWLINE} {literal(END)}"
        )


FORMAT = Qwen3Xml()
_NEWLINE = r'"\n"'


class Qwen3XmlScanner:
    """One region, from after its opening marker to after `</tool_call>`, or `</function>` where there is no wrapper."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._sink, self._tools = sink, tools
        self._state: State = "opening" if start == START else "name"
        self._wrapped = start == START
        self._json: HermesScanner | None = None
        """Reads the region if JSON is in the wrapper."""
        self._raw = [start]
        """What was read before it was clear that it is a call,"""
        self._raw_at = 0
        """and where in the region it began."""
        self._base = len(start)
        """Where in the region the current text begins."""
        self._pending = ""
        self._gap: list[str] = []
        """Whitespace after a function: structure, unless text follows."""
        self._unclosed = False
        self._name = ""
        self._key = ""
        self._known: Mapping[str, object] = {}
        self._given: set[str] = set()
        self._value: list[str] | None = None
        """A value that is read as a whole; None for one that is passed on as it comes."""
        self._begun = False
        """The value has begun: its first line end was dropped, if it had one."""

    @property
    def unclosed(self) -> bool:
        return self._json.unclosed if self._json is not None else self._unclosed

    def feed(self, text: str) -> str | None:
        if self._json is not None:
            return self._json.feed(text)
        text, self._pending = self._pending + text, ""
        at = 0
        while self._state != "over":
            stop = self._step(text, at)
            if stop is None:
                self._base += len(text) - len(self._pending)
                return None
            at = stop
            if self._json is not None:
                return self._json.feed(text[at:])
        return "".join(self._gap) + text[at:]

    def finish(self) -> bool:
        if self._json is not None:
            return self._json.finish()
        if self._state == "value":
            return self._finish_value()
        if self._state in ("opening", "name", "head"):
            self._raw.append(self._pending)
            self._give_back(0)
            return False
        return self._state == "next"

    # ---- one step: returns where to go on, or None to wait for more text, with the rest kept as pending

    def _step(self, text: str, at: int) -> int | None:
        if self._state == "opening":
            return self._read_opening(text, at)
        if self._state == "name":
            return self._read_name(text, at)
        if self._state == "value":
            return self._read_value(text, at)
        return self._read_next(text, at) if self._state in ("head", "next") else self._read_after(text, at)

    def _read_opening(self, text: str, at: int) -> int | None:
        """After `<tool_call>`: a function, or JSON."""
        stop = _after_space(text, at)
        self._raw.append(text[at:stop])
        marker = AFTER.at(text, stop)
        if marker is None and (stop == len(text) or AFTER.begins(text, stop)):
            return self._wait(text, stop)
        if marker is not None:
            self._raw.append(marker)
            stop += len(marker)
        if marker == FUNCTION:
            self._state = "name"
            return stop
        if marker is None and text[stop] in "{[":
            self._json = HermesScanner("".join(self._raw), self._sink, self._tools)
            return stop
        return self._give_back(stop, unclosed=marker is None)

    def _read_name(self, text: str, at: int) -> int | None:
        match = NAME.match(text, at)
        if match is None:
            if UNFINISHED_NAME.match(text, at):
                return self._wait(text, at)
            return self._give_back(at, unclosed=self._wrapped)
        name = match[1].strip()
        offered = self._wrapped or any(tool.name == name for tool in self._tools)
        if not name or not offered:
            return self._give_back(at, unclosed=self._wrapped)
        self._raw.append(match[0])
        self._name, self._state = name, "head"
        return match.end()

    def _read_next(self, text: str, at: int) -> int | None:
        """Within a function: the next parameter, or its end. In the state "head" nothing of it was passed on yet."""
        stop = _after_space(text, at)
        if self._state == "head":
            self._raw.append(text[at:stop])
        marker = NEXT.at(text, stop)
        if marker is None and (stop == len(text) or NEXT.begins(text, stop)):
            return self._wait(text, stop)
        key = None
        if marker == PARAMETER:
            key = NAME.match(text, stop + len(PARAMETER))
            if key is None and UNFINISHED_NAME.match(text, stop + len(PARAMETER)):
                return self._wait(text, stop)
        if marker is None or (marker == PARAMETER and key is None):
            return self._break(stop)
        if self._state == "head":
            self._open()
        if key is not None:
            self._begin(key[1].strip())
            return key.end()
        self._close()
        return stop if marker == END else stop + len(FUNCTION_END)

    def _read_value(self, text: str, at: int) -> int | None:
        if not self._begun:
            if at == len(text):
                return self._wait(text, at)
            self._begun = True
            at += text[at] == "\n"
        search = at
        while (mark := text.find("<", search)) >= 0:
            end = self._end_of_value(text, mark)
            if end is not None:
                self._add(text[at : mark - (mark > at and text[mark - 1] == "\n")])
                self._end_value()
                return end
            if self._may_end(text, mark):
                return self._hold(text, at, mark)
            search = mark + 1
        return self._hold(text, at, len(text))

    def _read_after(self, text: str, at: int) -> int | None:
        """After a function: the end of the wrapper, another function, or other text."""
        stop = _after_space(text, at)
        self._gap.append(text[at:stop])
        marker = AFTER.at(text, stop)
        if marker is None and (stop == len(text) or AFTER.begins(text, stop)):
            return self._wait(text, stop)
        if marker is not None:
            self._gap = []
        if marker == FUNCTION and self._wrapped:
            self._raw, self._raw_at, self._state = [FUNCTION], self._base + stop, "name"
            return stop + len(FUNCTION)
        self._state = "over"
        return stop + len(END) if marker == END else stop

    # ---- values

    def _end_of_value(self, text: str, mark: int) -> int | None:
        """Where to go on if the value ends at `mark`."""
        match = FOLLOWED.match(text, mark)
        if match is not None:
            return match.end()
        if not text.startswith(PARAMETER, mark):
            return None
        name = NAME.match(text, mark + len(PARAMETER))
        another = name is not None and name[1].strip() in self._known.keys() - self._given
        return mark if another else None

    def _may_end(self, text: str, mark: int) -> bool:
        """Whether more text decides about `mark`."""
        if ENDS.begins(text, mark):
            return True
        if text.startswith(PARAMETER, mark):
            return UNFINISHED_NAME.match(text, mark + len(PARAMETER)) is not None
        closed = UNDECIDED.match(text, mark)
        return closed is not None and (closed.end() == len(text) or NEXT.begins(text, closed.end()))

    def _hold(self, text: str, at: int, until: int) -> int | None:
        """Pass on a value up to `until`, less a line end before it, and keep the rest."""
        if until > at and text[until - 1] == "\n":
            until -= 1
        self._add(text[at:until])
        self._pending = text[until:]
        return None

    def _begin(self, key: str) -> None:
        separator = ", " if self._given else ""
        self._sink.arguments(f"{separator}{json.dumps(key, ensure_ascii=False)}: ")
        self._key, self._state, self._begun = key, "value", False
        self._given.add(key)
        if is_text(key, self._known):
            self._value = None
            self._sink.arguments('"')
        else:
            self._value = []

    def _add(self, text: str) -> None:
        if self._value is not None:
            self._value.append(text)
        elif text:
            self._sink.arguments(json.dumps(text, ensure_ascii=False)[1:-1])

    def _end_value(self) -> None:
        if self._value is None:
            self._sink.arguments('"')
        else:
            self._sink.arguments(parameter_json("".join(self._value), self._known[self._key]))
        self._state = "next"

    def _finish_value(self) -> bool:
        """The reply ends within a value. Whether that cut the call off."""
        match = LAST.search(self._pending)
        closed = match is not None and FUNCTION_END in match[0]
        if not closed or match is None:
            return True
        self._add(self._pending[: match.start()])
        self._end_value()
        self._close()
        return False

    # ---- calls

    def _open(self) -> None:
        self._sink.open(self._name)
        self._sink.arguments("{")
        self._known, self._given = parameters_of(self._name, self._tools), set()
        self._raw, self._state = [], "next"

    def _close(self) -> None:
        self._sink.arguments("}")
        self._sink.close(True)
        self._state = "after"

    def _break(self, at: int) -> int:
        """What follows does not belong to a function. What was passed on of it stands."""
        if self._state == "head":
            return self._give_back(at, unclosed=self._wrapped)
        self._sink.close(False)
        self._state = "over"
        return at

    def _give_back(self, at: int, *, unclosed: bool = False) -> int:
        self._sink.reject("".join(self._raw), self._raw_at)
        self._unclosed, self._state = unclosed, "over"
        return at

    def _wait(self, text: str, at: int) -> int | None:
        self._pending = text[at:]
        return None


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


# ---- grammar


def _parameter_rules(tool: Tool, grammar: JsonGrammar, shaped: bool) -> str:
    """The parameters of a tool, in the order of its schema; any, where it does not list them."""
    properties = tool.parameters.get("properties")
    if not shaped or not isinstance(properties, Mapping) or not 0 < len(properties) <= MAX_CHOICES:
        if tool.parameters.get("additionalProperties") is False:
            return '""'
        return f"({literal(PARAMETER)} [a-zA-Z0-9_.-]+ {literal('>')} {_NEWLINE} {_text_rule(grammar)})*"
    required = tool.parameters.get("required")
    rules = []
    for key, schema in properties.items():
        begin = literal(f"{PARAMETER}{key}>\n")
        rule = grammar.add("parameter", f"{begin} {_value_rule(tool, schema, grammar)}")
        rules.append(rule if isinstance(required, list) and key in required else f"{rule}?")
    return " ".join(rules)


def _value_rule(tool: Tool, schema: object, grammar: JsonGrammar) -> str:
    """A value with its closing tag."""
    types = types_of(schema)
    if not types or "string" in types:
        choices = schema.get("enum") if isinstance(schema, Mapping) else None
        if isinstance(choices, list) and types == {"string"}:
            end = f"{_NEWLINE} {literal(PARAMETER_END)} {_NEWLINE}"
            return f"({' | '.join(literal(str(choice)) for choice in choices)}) {end}"
        return _text_rule(grammar)
    shared = {key: tool.parameters[key] for key in ("$defs", "definitions") if key in tool.parameters}
    rule = grammar.schema({**schema, **shared} if isinstance(schema, Mapping) else schema, "argument")
    return f"{rule} {_NEWLINE} {literal(PARAMETER_END)} {_NEWLINE}"


def _text_rule(grammar: JsonGrammar) -> str:
    """Any text up to the first closing tag of a parameter, and that: one rule for each number of its characters seen."""
    if "text-0" not in grammar.rules:
        for seen in range(len(PARAMETER_END)):
            expected = PARAMETER_END[seen]
            following = f"text-{seen + 1}" if seen + 1 < len(PARAMETER_END) else _NEWLINE
            choices = [f"{literal(expected)} {following}"]
            if expected != "<":
                choices.append('"<" text-1')
            choices.append(f"[^<{'' if expected == '<' else expected}] text-0")
            grammar.rules[f"text-{seen}"] = " | ".join(choices)
    return "text-0"
