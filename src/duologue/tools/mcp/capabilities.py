"""What an MCP server offers: tools, resources, prompts and its description of itself. Pure data."""

from __future__ import annotations

from msgspec import Struct


class ServerTool(Struct, frozen=True):
    """A tool as its server describes it; `schema` is the complete JSON Schema."""

    name: str
    title: str = ""
    description: str = ""
    schema: dict[str, object] = {}
    read_only: bool = False


class ServerResource(Struct, frozen=True, omit_defaults=True):
    """A resource that can be read at `uri`; `size` in bytes, 0: unknown."""

    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""
    size: int = 0


class ResourceTemplate(Struct, frozen=True, omit_defaults=True):
    """A URI template, with {names} in braces to fill in."""

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
    """A prompt a user can insert from a server."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class About(Struct, frozen=True):
    """A server's description of itself, and the negotiated protocol version."""

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
    """A prompt with its arguments filled in; `messages` are (role, text) in order."""

    description: str
    messages: tuple[tuple[str, str], ...]
