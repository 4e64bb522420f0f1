"""The settings of MCP servers: programs and addresses whose tools chats may call."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, model_validator

from duologue.config.field_types import HttpUrl, Seconds, UserPath
from duologue.config.section import Section


class McpServer(Section):
    """One MCP server, with the field names of the common `mcpServers` JSON."""

    command: str = Field(
        default="", description="A program that speaks MCP over its standard input and output."
    )
    args: tuple[str, ...] = Field(default=(), description="Its arguments.")
    env: dict[str, str] = Field(
        default={}, description="Environment variables, in addition to a small safe set that is inherited."
    )
    cwd: UserPath | None = Field(default=None, description="The working folder of the command.")
    url: HttpUrl = Field(default="", description="The address of a server, instead of a command.")
    type: Literal["", "stdio", "http", "streamable-http", "sse"] = Field(
        default="", description="The transport; empty: stdio for a command, else streamable HTTP, then SSE."
    )
    headers: dict[str, SecretStr] = Field(default={}, description="HTTP headers sent with every request.")
    disabled: bool = Field(default=False, description="Keep the entry but do not connect.")

    @model_validator(mode="after")
    def _check_transport(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise ValueError("needs either a command or a url")
        return self


class Mcp(Section):
    servers: dict[str, McpServer] = Field(
        default={}, description="MCP servers by name, in the format of `mcpServers` in other programs."
    )
    file: UserPath | None = Field(
        default=None, description="A JSON file with `mcpServers`, in addition to the servers above."
    )
    connect_s: Seconds = Field(
        default=30, description="Seconds a server may take to start and list its tools."
    )
