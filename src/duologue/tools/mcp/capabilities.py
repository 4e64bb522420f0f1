"""What an MCP server offers: its tools, resources, prompts, and its own words about itself. Pure data."""

from __future__ import annotations

from msgspec import Struct


class ServerTool(Struct, frozen=True):
    """A tool as its server describes it; `schema` is its JSON Schema, whole."""

    name: str
    title: str = ""
    description: str = ""
    schema: dict[str, object] = {}
    read_only: bool = False


class ServerResource(Struct, frozen=True, omit_defaults=True):
    """Something a server lets be read, at `uri`; `size` in bytes, 0 where unknown."""

    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""
    size: int = 0


class ResourceTemplate(Struct, frozen=True, omit_defaults=True):
    """A pattern of URIs, with {names} in braces to be filled in."""

    template: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""


class PromptArgument(Struct, frozen=True, omit_defaults=True):
    name: str
    title: str = ""
    description: str = ""
    required: bool = False


class ServerPrompt(Struct, frozen=True, omit_defaults=True):
    """A prompt a person can ask a server for."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class About(Struct, frozen=True):
    """A server's own words about itself, and the version of the protocol spoken with it."""

    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""


class Listing(Struct, frozen=True):
    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()


class FilledPrompt(Struct, frozen=True):
    """A prompt with its arguments filled in: (role, text) in order, and what came with it as files."""

    description: str
    messages: tuple[tuple[str, str], ...]
