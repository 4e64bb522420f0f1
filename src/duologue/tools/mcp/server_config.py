"""Configured MCP servers: from the settings, from the `mcpServers` file, and those added by an admin.

Parses the common `mcpServers` JSON, expands `${NAME}`, and decides who may add what. Opens no connections.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from pydantic import ValidationError

from duologue.config.sections.mcp import Mcp, McpServer
from duologue.errors import BadRequest, Forbidden, StartFailed
from duologue.tools.values import BUILTIN

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
# Fields that other programs add to a server's entry and that do not matter for connecting.
FOREIGN = frozenset(
    ("name", "description", "timeout", "autoApprove", "alwaysAllow", "tools", "gallery", "version")
)
SPELLINGS = {"serverUrl": "url", "httpUrl": "url", "transport": "type", "transportType": "type"}
TRANSPORTS = {
    "streamableHttp": "streamable-http",
    "streamable_http": "streamable-http",
    "http-stream": "http",
}


class ServerRow(Protocol):
    """A stored server."""

    @property
    def name(self) -> str: ...
    @property
    def config(self) -> Mapping[str, Any]: ...


class ServerConfig(Struct, frozen=True):
    """One server: how to reach it, and its source: `config` (the operator's) or `admin` (added over the API)."""

    name: str
    server: McpServer
    source: Literal["config", "admin"]

    @property
    def transport(self) -> str:
        if self.server.command:
            return "stdio"
        return {"http": "streamable-http", "": "http or sse"}.get(self.server.type, self.server.type)

    @property
    def address(self) -> str:
        """For display: the command with its arguments, or the URL without user and query."""
        if self.server.command:
            return " ".join((self.server.command, *self.server.args))
        parts = urlsplit(self.server.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values to redact from logs: those of the environment and headers, and the user and query of the URL."""
        headers = [value.get_secret_value() for value in self.server.headers.values()]
        words = [word for value in headers for word in value.split()]
        parts = urlsplit(self.server.url)
        userinfo = parts.netloc.rpartition("@")[0]
        query = [pair.partition("=")[2] for pair in parts.query.split("&")]
        return (*self.server.env.values(), *headers, *words, *userinfo.split(":"), *query)


def load(settings: Mcp, environment: Mapping[str, str] | None = None) -> tuple[ServerConfig, ...]:
    """The operator's servers, sorted by name. Raises StartFailed for an unreadable file or an invalid server."""
    environment = os.environ if environment is None else environment
    servers = {name: _expand_server(name, server, environment) for name, server in settings.servers.items()}
    if settings.file is not None:
        for name, server in _file(settings.file, environment).items():
            servers.setdefault(name, server)
    for name in servers:
        _check_name(name, StartFailed)
    return tuple(ServerConfig(name, servers[name], "config") for name in sorted(servers))


def parse_rows(rows: Iterable[ServerRow]) -> tuple[ServerConfig, ...]:
    """The servers an admin added, sorted by name. Rows this version cannot parse are skipped."""
    configs = []
    for row in rows:
        try:
            configs.append(ServerConfig(row.name, McpServer.model_validate(dict(row.config)), "admin"))
        except ValidationError:
            continue
    return tuple(sorted(configs, key=lambda config: config.name))


def parse_new(name: str, config: Mapping[str, Any], *, keyed: bool, taken: Iterable[str]) -> ServerConfig:
    """Validate a server to be added over the API. `${NAME}` is not expanded: the environment is the operator's.

    Raises BadRequest when it is invalid or its name is taken (name_taken), Forbidden (key_needed) when it is a
    command and the admin did not use a key.
    """
    _check_name(name, BadRequest)
    if name in taken:
        raise BadRequest(f"The configuration already has a server {name!r}.", code="name_taken", param="name")
    server = _parse(name, config, BadRequest)
    if server.command and not keyed:
        raise Forbidden(
            "A server that runs a command can only be added by an admin who used a key, or in the configuration file "
            "(mcp.servers).",
            code="key_needed",
        )
    return ServerConfig(name, server, "admin")


def dump(server: McpServer) -> dict[str, Any]:
    """A server as it is stored: only the fields that were set, with secrets in plain text."""
    values = server.model_dump(mode="json", exclude_unset=True)
    if server.headers:
        values["headers"] = {name: value.get_secret_value() for name, value in server.headers.items()}
    return values


def _check_name(name: str, problem: type[BadRequest] | type[StartFailed]) -> None:
    if name == BUILTIN or not NAME.fullmatch(name):
        raise problem(
            f"{name!r} cannot be the name of an MCP server: use 1 to 64 letters, digits, spaces, dots, - or _, and "
            f"not {BUILTIN!r}.",
            param="name",
        )


def _file(path: Path, environment: Mapping[str, str]) -> dict[str, McpServer]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StartFailed(f"mcp.file: {path} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise StartFailed(f"mcp.file: {path} is not valid JSON ({error}).") from None
    servers = whole.get("mcpServers", whole.get("servers", whole)) if isinstance(whole, dict) else None
    if not isinstance(servers, dict) or not all(isinstance(one, dict) for one in servers.values()):
        raise StartFailed(f'mcp.file: {path} must contain {{"mcpServers": {{NAME: {{...}}}}}}.')
    return {
        name: _parse(name, _expand(config, environment, f"{path}, server {name!r}"), StartFailed)
        for name, config in servers.items()
    }


def _parse(name: str, config: Mapping[str, Any], problem: type[BadRequest] | type[StartFailed]) -> McpServer:
    fields = {SPELLINGS.get(key, key): value for key, value in config.items() if key not in FOREIGN}
    if isinstance(fields.get("type"), str):
        fields["type"] = TRANSPORTS.get(fields["type"], fields["type"])
    if isinstance(fields.get("env"), dict):
        fields["env"] = {key: str(value) for key, value in fields["env"].items()}
    if "enabled" in fields:
        fields["disabled"] = not fields.pop("enabled")
    try:
        return McpServer.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise problem(
            f"MCP server {name!r}: {where + ': ' if where else ''}{what}.", param=where or None
        ) from None


def _expand_server(name: str, server: McpServer, environment: Mapping[str, str]) -> McpServer:
    return McpServer.model_validate(_expand(dump(server), environment, f"mcp.servers.{name}"))


def _expand(value: Any, environment: Mapping[str, str], where: str) -> Any:
    if isinstance(value, str):

        def substitute(match: re.Match[str]) -> str:
            name, default = match.group(1), match.group(2)
            text = environment.get(name, default)
            if text is None:
                raise StartFailed(f"{where}: the environment variable {name} of ${{{name}}} is not set.")
            return text

        return _VARIABLE.sub(substitute, value)
    if isinstance(value, dict):
        return {key: _expand(inner, environment, where) for key, inner in value.items()}
    if isinstance(value, list):
        return [_expand(inner, environment, where) for inner in value]
    return value
