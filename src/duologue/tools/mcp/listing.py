"""Reads a server's lists: the SDK's types become ours, cut to sizes that a page and a prompt can bear.

Pure. A server is stored, sent to every open page and offered to models with what is in its lists, so nothing in them is
longer than a reader needs. `ListingReader` counts what it leaves out, for one line in the server's journal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import mcp_types as types

from duologue.tools.mcp.capabilities import (
    PromptArgument,
    ResourceTemplate,
    ServerPrompt,
    ServerResource,
    ServerTool,
)

ENTRIES = 1000
"""Maximum tools, resources or prompts of one server."""
NAME = 128
"""Longest name; it identifies its entry, so a longer one is left out, not cut."""
ADDRESS = 4096
"""Longest URI or template, likewise."""
TITLE = 200
DESCRIPTION = 4000
SCHEMA_BYTES = 128 * 1024
"""Largest schema of one tool, as JSON."""
SCHEMAS_BYTES = 4 * 1024 * 1024
"""All schemas of one server."""
ARGUMENTS = 64

E = TypeVar("E")


class ListingReader:
    """Reads the lists of one server once."""

    def __init__(self) -> None:
        self.left_out = 0
        """Entries that were left out: too many, too large, without a usable name, or named like an earlier one."""
        self._schemas = 0

    def tools(self, entries: Iterable[types.Tool]) -> tuple[ServerTool, ...]:
        return self._read(entries, self._tool, lambda tool: tool.name)

    def resources(self, entries: Iterable[types.Resource]) -> tuple[ServerResource, ...]:
        return self._read(entries, _resource, lambda resource: resource.uri, ADDRESS)

    def templates(self, entries: Iterable[types.ResourceTemplate]) -> tuple[ResourceTemplate, ...]:
        return self._read(entries, _template, lambda template: template.template, ADDRESS)

    def prompts(self, entries: Iterable[types.Prompt]) -> tuple[ServerPrompt, ...]:
        return self._read(entries, _prompt, lambda prompt: prompt.name)

    def _read(
        self,
        entries: Iterable[Any],
        convert: Callable[[Any], E | None],
        key: Callable[[E], str],
        longest: int = NAME,
    ) -> tuple[E, ...]:
        kept: dict[str, E] = {}
        for entry in entries:
            converted = convert(entry) if len(kept) < ENTRIES else None
            if converted is None or not 0 < len(key(converted)) <= longest or key(converted) in kept:
                self.left_out += 1
            else:
                kept[key(converted)] = converted
        return tuple(kept.values())

    def _tool(self, tool: types.Tool) -> ServerTool | None:
        size = len(json.dumps(tool.input_schema))
        if size > SCHEMA_BYTES or self._schemas + size > SCHEMAS_BYTES:
            return None
        self._schemas += size
        hints = tool.annotations
        return ServerTool(
            name=tool.name,
            title=(tool.title or (hints.title if hints else None) or "")[:TITLE],
            description=(tool.description or "")[:DESCRIPTION],
            schema=tool.input_schema,
            read_only=bool(hints and hints.read_only_hint),
        )


def _resource(resource: types.Resource) -> ServerResource:
    return ServerResource(
        uri=str(resource.uri),
        name=resource.name[:TITLE],
        title=(resource.title or "")[:TITLE],
        description=(resource.description or "")[:DESCRIPTION],
        mime=(resource.mime_type or "")[:TITLE],
        size=resource.size or 0,
    )


def _template(template: types.ResourceTemplate) -> ResourceTemplate:
    return ResourceTemplate(
        template=template.uri_template,
        name=template.name[:TITLE],
        title=(template.title or "")[:TITLE],
        description=(template.description or "")[:DESCRIPTION],
        mime=(template.mime_type or "")[:TITLE],
    )


def _prompt(prompt: types.Prompt) -> ServerPrompt:
    return ServerPrompt(
        name=prompt.name,
        title=(prompt.title or "")[:TITLE],
        description=(prompt.description or "")[:DESCRIPTION],
        arguments=tuple(
            PromptArgument(
                one.name[:NAME],
                (one.title or "")[:TITLE],
                (one.description or "")[:DESCRIPTION],
                bool(one.required),
            )
            for one in (prompt.arguments or ())[:ARGUMENTS]
        ),
    )
