"""Data types shared by the toolbox and its callers: offered tools and outcomes of tool calls.

Pure data, independent of connections and protocols.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from duologue.values.conversations import Approval, Content, TextContent

BUILTIN = "builtin"
"""The name of the server whose tools are built in."""


class OfferedTool(Struct, frozen=True):
    """A tool as a model sees it. `name` is unique in an offer; `tool` is its name at `server`; `parameters` is its
    compacted JSON Schema. `read_only` tools run without approval."""

    name: str
    server: str
    tool: str
    title: str = ""
    description: str = ""
    parameters: dict[str, object] = {}
    read_only: bool = False


class LeftOut(Struct, frozen=True):
    """A server whose tools are not offered, and the reason as a sentence."""

    server: str
    reason: str


class Offer(Struct, frozen=True):
    """The tools for one model turn. `system` holds the servers' instructions for the system prompt, "" without any."""

    tools: tuple[OfferedTool, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    system: str = ""


class ElicitationAnswer(Struct, frozen=True):
    """A person's answer to a server's elicitation; `values` are the form's, empty unless accepted."""

    decision: Literal["accept", "decline", "cancel"]
    values: dict[str, object] = {}


class ToolOutcome(Struct, frozen=True):
    """The result of a tool call. The text of a failed one tells the model what it can do about it."""

    content: tuple[Content, ...]
    failed: bool = False


Report = Callable[[str, float, float], Awaitable[None]]
"""Reports progress of a running tool: message, progress, total (0: unknown)."""
Ask = Callable[[Approval], Awaitable[ElicitationAnswer]]
"""Puts a server's question to the user who made the tool call."""
Keep = Callable[[bytes, str, str], Awaitable[Content]]
"""Stores a file (bytes, name, MIME type) and returns the content that refers to it."""


def failure(sentence: str) -> ToolOutcome:
    """A failed outcome with the text `sentence`."""
    return ToolOutcome((TextContent(sentence),), failed=True)
