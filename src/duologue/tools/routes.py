"""The HTTP API of tool servers: health, adding and removing, resources, prompts, sign-in.

Owns the routes under `/api/mcp` and their bodies. The user is in `scope["state"]`: only admins change servers, and
only an admin who used a key adds one that runs a command.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from duologue.errors import Forbidden, Problem
from duologue.tools.mcp.login import AuthorizationResponse
from duologue.tools.toolbox import Toolbox
from duologue.tools.values import Keep
from duologue.values.conversations import Content

KeepFor = Callable[[str, bytes, str, str], Awaitable[Content]]
"""Stores a file for a user: (user, bytes, name, MIME type) -> content."""
CALLBACK = "/api/mcp/oauth/callback"
Name = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=10_000)]


class ToolRouteBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewServer(ToolRouteBody):
    name: Name
    config: dict[str, Any] = Field(description="The server, in the format of an entry of mcpServers.")


class Switch(ToolRouteBody):
    disabled: bool


class ResourceBody(ToolRouteBody):
    server: Name
    uri: Text


class PromptBody(ToolRouteBody):
    server: Name
    name: Text
    arguments: dict[str, Text] = Field(default={}, max_length=64)


class CompletionBody(ToolRouteBody):
    server: Name
    kind: Literal["prompt", "resource"] = Field(
        default="prompt", description="Whether the argument belongs to a prompt or a resource template."
    )
    name: Text = Field(description="The prompt's name or the resource template.")
    argument: Text
    value: Text = ""
    context: dict[str, Text] = Field(default={}, max_length=64, description="The arguments filled in so far.")


def router(toolbox: Toolbox, keep: KeepFor) -> APIRouter:
    """The routes under `/api/mcp`. `keep` stores binary contents as files of the requesting user."""
    routes = APIRouter(prefix="/api/mcp", tags=["tool servers"])
    _server_routes(routes, toolbox)
    _login_routes(routes, toolbox)
    _capability_routes(routes, toolbox, keep)
    return routes


def _server_routes(routes: APIRouter, toolbox: Toolbox) -> None:
    @routes.get("", summary="List tool servers with their health and tools")
    async def servers(request: Request) -> Response:
        """Every tool server with its tools, the built-in tools first."""
        user = _user(request)
        tools = await toolbox.tools(user)
        rows = [_health(health, tools.get(health.name, ())) for health in await toolbox.servers(user)]
        if request.scope["state"].get("role") != "admin":
            # Command lines often contain keys, so only admins see them.
            rows = [row | {"address": ""} for row in rows]
        return _json({"servers": rows})

    @routes.post("/servers", status_code=201, summary="Add a tool server")
    async def add(request: Request, body: NewServer) -> Response:
        """Adds a server, or replaces the configuration of an added one. For admins; a server that runs a command
        requires an admin who used a key."""
        user, keyed = _admin(request)
        health = await toolbox.registry.add(body.name, body.config, user=user, keyed=keyed)
        return _json(_health(health), 201)

    @routes.patch("/servers/{name}", summary="Disable or enable a tool server")
    async def switch(request: Request, name: str, body: Switch) -> Response:
        """Disables or enables an added server for all users. For admins."""
        user, keyed = _admin(request)
        health = await toolbox.registry.switch(name, disabled=body.disabled, user=user, keyed=keyed)
        return _json(_health(health))

    @routes.delete("/servers/{name}", status_code=204, summary="Remove a tool server")
    async def remove(request: Request, name: str) -> Response:
        """Removes an added server and all sign-ins to it. For admins."""
        _admin(request)
        await toolbox.registry.remove(name)
        return Response(status_code=204)

    @routes.post("/servers/{name}/reconnect", summary="Reconnect a tool server")
    async def reconnect(request: Request, name: str) -> Response:
        """Reconnects and answers after the attempt. Only admins can reconnect a server that is ready: others may be
        using it."""
        user = _user(request)
        health = next((one for one in await toolbox.servers(user) if one.name == name), None)
        if health is None or health.phase != "ready" or request.scope["state"].get("role") == "admin":
            health = await toolbox.reconnect(name, user)
        return _json(_health(health) | {"address": ""})

    @routes.get("/servers/{name}/log", summary="Read a tool server's log")
    async def log(request: Request, name: str) -> Response:
        """The last log lines of the server, its program and the connection, without secrets. For admins."""
        user, _ = _admin(request)
        return _json({"lines": await toolbox.log(name, user)})


def _login_routes(routes: APIRouter, toolbox: Toolbox) -> None:
    @routes.post("/servers/{name}/login", summary="Sign in to a tool server")
    async def sign_in(request: Request, name: str) -> Response:
        """Starts a sign-in to a server that requires it; open the address in `login`."""
        redirect = str(request.base_url).rstrip("/") + CALLBACK
        return _json(_health(await toolbox.registry.sign_in(name, _user(request), redirect)))

    @routes.delete("/servers/{name}/login", status_code=204, summary="Sign out of a tool server")
    async def sign_out(request: Request, name: str) -> Response:
        """Deletes your sign-in to a server."""
        await toolbox.registry.sign_out(name, _user(request))
        return Response(status_code=204)

    @routes.get("/oauth/callback", summary="OAuth callback", response_class=HTMLResponse)
    async def callback(
        code: Annotated[str, Query(max_length=4096)] = "",
        state: Annotated[str, Query(max_length=512)] = "",
        iss: Annotated[str | None, Query(max_length=2048)] = None,
        error: Annotated[str, Query(max_length=512)] = "",
        error_description: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """The redirect target of a tool server's sign-in page. Needs no key: the browser sends no cookie on this
        cross-site redirect, and the request is only valid with the secret `state`."""
        try:
            if error:
                await toolbox.registry.reject_sign_in(state, error_description or error)
                return _page("You are not signed in", f"The server reported: {error_description or error}.")
            name = await toolbox.registry.complete_sign_in(AuthorizationResponse(code, state, iss))
        except Problem as problem:
            return _page("You are not signed in", problem.message, problem.status)
        return _page("You are signed in", f"Duologue can now use {name} for you. You can close this window.")


def _capability_routes(routes: APIRouter, toolbox: Toolbox, keep: KeepFor) -> None:
    def keep_for(user: str) -> Keep:
        async def keep_file(data: bytes, name: str, mime: str) -> Content:
            return await keep(user, data, name, mime)

        return keep_file

    @routes.get("/resources", summary="List resources of tool servers")
    async def resources(request: Request) -> Response:
        """Resources and resource templates, by server."""
        resources = await toolbox.resources(_user(request))
        return _json(
            {
                "servers": [
                    {"server": name, "resources": listed, "templates": templates}
                    for name, (listed, templates) in resources.items()
                ]
            }
        )

    @routes.post("/resources/read", summary="Read a resource")
    async def read(request: Request, body: ResourceBody) -> Response:
        """Reads a resource as content for a message."""
        user = _user(request)
        return _json({"content": await toolbox.read(body.server, body.uri, user=user, keep=keep_for(user))})

    @routes.get("/prompts", summary="List prompts of tool servers")
    async def prompts(request: Request) -> Response:
        """Prompts with their arguments, by server."""
        prompts = await toolbox.prompts(_user(request))
        return _json({"servers": [{"server": name, "prompts": listed} for name, listed in prompts.items()]})

    @routes.post("/prompts/get", summary="Fill in a prompt")
    async def prompt(request: Request, body: PromptBody) -> Response:
        """Fills in a prompt and returns its messages."""
        user = _user(request)
        filled = await toolbox.prompt(body.server, body.name, body.arguments, user=user, keep=keep_for(user))
        messages = [{"role": role, "text": text} for role, text in filled.messages]
        return _json({"description": filled.description, "messages": messages})

    @routes.post("/complete", summary="Complete an argument")
    async def complete(request: Request, body: CompletionBody) -> Response:
        """Completions of `value` for an argument."""
        values = await toolbox.complete(
            body.server,
            body.kind,
            body.name,
            body.argument,
            body.value,
            body.context,
            user=_user(request),
        )
        return _json({"values": values})


def _user(request: Request) -> str:
    return str(request.scope["state"]["user"])


def _admin(request: Request) -> tuple[str, bool]:
    """The user, and whether they used a key. Raises Forbidden."""
    state = request.scope["state"]
    if state.get("role") != "admin":
        raise Forbidden("Only an admin may change tool servers or read their logs.", code="admin_needed")
    return str(state["user"]), state.get("keyed") is True


def _health(health: Any, tools: Any = ()) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(health)
    if tools:
        row["offers"] = [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "read_only": tool.read_only,
            }
            for tool in tools
        ]
    return row


def _json(value: Any, status: int = 200) -> Response:
    return Response(
        msgspec.json.encode(value),
        status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def _page(title: str, sentence: str, status: int = 200) -> HTMLResponse:
    html = f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
    html += f"<h1>{escape(title)}</h1><p>{escape(sentence)}</p></html>"
    # The URL holds the authorization code, which must not leak in a Referer header.
    return HTMLResponse(html, status, headers={"cache-control": "no-store", "referrer-policy": "no-referrer"})
