"""Writes calls with each parameter between tags, as the chat templates of those families do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tests.support.gbnf import admits
from tests.support.tool_call_families import TOOLS, Call, calls_of, read_reply

from duologue.text.output.parsed import ParsedReply
from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls
from duologue.text.toolcalls.catalogue import tool_format
from duologue.text.toolcalls.tagged_calls import TaggedCalls

Parameter = Callable[[str, object], str]


def shown(value: object) -> str:
    """A value as templates print it: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def writer(
    call: str, parameter: Parameter, call_end: str, *, before: str = "", after: str = ""
) -> Callable[[Sequence[Call]], str]:
    """Writes calls: `call` with `{}` for the name, the parameters, `call_end`; `before` and `after` around all of them."""

    def write(calls: Sequence[Call]) -> str:
        inner = "".join(
            call.replace("{}", one.name)
            + "".join(parameter(key, value) for key, value in one.arguments.items())
            + call_end
            for one in calls
        )
        return f"{before}{inner}{after}"

    return write


def read(format: str, raw: str) -> ParsedReply:
    return read_reply(format, raw)


def values(format: str, raw: str) -> list[tuple[str, object]]:
    """The calls in a reply that is nothing else."""
    reply = read(format, raw)
    assert reply.content == ""
    return [(name, json.loads(arguments)) for name, arguments in calls_of(reply)]


def admitted(format: str, raw: str) -> bool:
    """Whether the grammar of optional calls of `TOOLS` admits this."""
    return admits(optional_tool_calls(AllowedToolCalls(format, TOOLS)).text, raw)


def tagged(name: str) -> TaggedCalls:
    format = tool_format(name)
    assert isinstance(format, TaggedCalls)
    return format
