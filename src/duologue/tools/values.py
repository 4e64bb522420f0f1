"""What the tools room hands out: tools as a model is offered them, and what became of a call.

Pure data. Knows no server's connection and no protocol.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from duologue.values.conversations import Approval, Content, TextContent

BUILTIN = "builtin"
"""The name of the server whose tools are built in."""


class OfferedTool(Struct, frozen=True):
    """A tool under the name a model knows it by. `server` and `tool` are where it lives and its name there;
    `parameters` is its JSON Schema, compacted; `read_only` ones run without asking anybody."""

    name: str
    server: str
    tool: str
    title: str = ""
    description: str = ""
    parameters: dict[str, object] = {}
    read_only: bool = False


class LeftOut(Struct, frozen=True):
    """A whole server that is not offered now, and a sentence why."""

    server: str
    reason: str


class Offer(Struct, frozen=True):
    """What one model turn may use. `system` is what the servers say about their use, "" where they say nothing."""

    tools: tuple[OfferedTool, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    system: str = ""


class ElicitationAnswer(Struct, frozen=True):
    """A person's answer to what a server asked; `values` are the form's, empty unless accepted."""

    decision: Literal["accept", "decline", "cancel"]
    values: dict[str, object] = {}


class ToolOutcome(Struct, frozen=True):
    """What a call gave. A failed one says in its text what the model can do about it."""

    content: tuple[Content, ...]
    failed: bool = False


Report = Callable[[str, float, float], Awaitable[None]]
"""Told while a tool runs: words, how far it is, and of how much (0 where it does not say)."""
Ask = Callable[[Approval], Awaitable[ElicitationAnswer]]
"""Puts a server's question to the person whose call it is."""
Keep = Callable[[bytes, str, str], Awaitable[Content]]
"""Keeps a file: its bytes, name and MIME type, to the content that stands for it."""


def failure(sentence: str) -> ToolOutcome:
    """A failed outcome that says `sentence`."""
    return ToolOutcome((TextContent(sentence),), failed=True)
