"""Tool servers over HTTP: what there is and how it is, adding and removing, resources, prompts, signing in.

Owns the routes under `/api/mcp` and their bodies. Who asks is in `scope["state"]`: only an admin changes anything,
and only one who used a key adds a server that runs a command.
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
"""Keeps a file for a user: the user, its bytes, name and MIME type."""
CALLBACK = "/api/mcp/oauth/callback"
Name = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=10_000)]


class ToolRouteBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewServer(ToolRouteBody):
    name: Name
    config: dict[str, Any] = Field(description="The server in the words of the familiar mcpServers JSON.")


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
        default="prompt", description="Whose argument it is: a prompt's, or of a pattern of resources."
    )
    name: Text = Field(description="The prompt's name, or the pattern.")
    argument: Text
    value: Text = ""
    context: dict[str, Text] = Field(default={}, max_length=64, description="The other arguments so far.")


def router(toolbox: Toolbox, keep: KeepFor) -> APIRouter:
    """The routes under `/api/mcp`. `keep` keeps what comes as bytes, as a file of the user who asked for it."""
    routes = APIRouter(prefix="/api/mcp", tags=["tool servers"])
    _server_routes(routes, toolbox)
    _login_routes(routes, toolbox)
    _capability_routes(routes, toolbox, keep)
    return routes


def _server_routes(routes: APIRouter, toolbox: Toolbox) -> None:
    @routes.get("", summary="Tool servers, how they are and what they offer")
    async def servers(request: Request) -> Response:
        """Every tool server as you have it, the built-in tools first, each with its tools."""
        user = _user(request)
        tools = await toolbox.tools(user)
        rows = [_health(health, tools.get(health.name, ())) for health in await toolbox.servers(user)]
        if request.scope["state"].get("role") != "admin":
            # A command's arguments are the operator's business, and hold keys all too often.
            rows = [row | {"address": ""} for row in rows]
        return _json({"servers": rows})

    @routes.post("/servers", status_code=201, summary="Add a tool server")
    async def add(request: Request, body: NewServer) -> Response:
        """Adds a server, or gives an added one another configuration. For admins; a server that runs a command only
        for an admin who used a key."""
        user, keyed = _admin(request)
        health = await toolbox.registry.add(body.name, body.config, user=user, keyed=keyed)
        return _json(_health(health), 201)

    @routes.patch("/servers/{name}", summary="Switch a tool server off or on")
    async def switch(request: Request, name: str, body: Switch) -> Response:
        """Switches an added server off or on, for everybody. For admins."""
        user, keyed = _admin(request)
        health = await toolbox.registry.switch(name, disabled=body.disabled, user=user, keyed=keyed)
        return _json(_health(health))

    @routes.delete("/servers/{name}", status_code=204, summary="Remove a tool server")
    async def remove(request: Request, name: str) -> Response:
        """Forgets an added server and every sign-in at it. For admins."""
        _admin(request)
        await toolbox.registry.remove(name)
        return Response(status_code=204)

    @routes.post("/servers/{name}/reconnect", summary="Try a tool server now")
    async def reconnect(request: Request, name: str) -> Response:
        """Connects anew, and answers when that has come to something. A server that is ready is left alone unless an
        admin asks: others may be using it."""
        user = _user(request)
        health = next((one for one in await toolbox.servers(user) if one.name == name), None)
        if health is None or health.phase != "ready" or request.scope["state"].get("role") == "admin":
            health = await toolbox.reconnect(name, user)
        return _json(_health(health) | {"address": ""})

    @routes.get("/servers/{name}/log", summary="A tool server's log")
    async def log(request: Request, name: str) -> Response:
        """The last lines of what the server, its program and the connection said, without secrets. For admins."""
        user, _ = _admin(request)
        return _json({"lines": await toolbox.log(name, user)})


def _login_routes(routes: APIRouter, toolbox: Toolbox) -> None:
    @routes.post("/servers/{name}/login", summary="Sign in at a tool server")
    async def sign_in(request: Request, name: str) -> Response:
        """Begins to sign you in at a server that wants it; open the address in `login`."""
        redirect = str(request.base_url).rstrip("/") + CALLBACK
        return _json(_health(await toolbox.registry.sign_in(name, _user(request), redirect)))

    @routes.delete("/servers/{name}/login", status_code=204, summary="Sign out of a tool server")
    async def sign_out(request: Request, name: str) -> Response:
        """Forgets your sign-in at a server."""
        await toolbox.registry.sign_out(name, _user(request))
        return Response(status_code=204)

    @routes.get("/oauth/callback", summary="The way back from a sign-in", response_class=HTMLResponse)
    async def callback(
        code: Annotated[str, Query(max_length=4096)] = "",
        state: Annotated[str, Query(max_length=512)] = "",
        iss: Annotated[str | None, Query(max_length=2048)] = None,
        error: Annotated[str, Query(max_length=512)] = "",
        error_description: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """Where a tool server's sign-in page sends the browser. Open without a key: no cookie comes along from
        there, and what it brings is only worth something together with the secret `state`."""
        try:
            if error:
                await toolbox.registry.reject_sign_in(state, error_description or error)
                return _page("You are not signed in", f"The server says: {error_description or error}.")
            name = await toolbox.registry.complete_sign_in(AuthorizationResponse(code, state, iss))
        except Problem as problem:
            return _page("You are not signed in", problem.message, problem.status)
        return _page("You are signed in", f"Duologue can use {name} for you now. This window can be closed.")


def _capability_routes(routes: APIRouter, toolbox: Toolbox, keep: KeepFor) -> None:
    def keep_for(user: str) -> Keep:
        async def keep_file(data: bytes, name: str, mime: str) -> Content:
            return await keep(user, data, name, mime)

        return keep_file

    @routes.get("/resources", summary="What can be attached from tool servers")
    async def resources(request: Request) -> Response:
        """Resources and patterns of more, by server."""
        found = await toolbox.resources(_user(request))
        return _json(
            {
                "servers": [
                    {"server": name, "resources": listed, "templates": templates}
                    for name, (listed, templates) in found.items()
                ]
            }
        )

    @routes.post("/resources/read", summary="Read a resource")
    async def read(request: Request, body: ResourceBody) -> Response:
        """A resource as it is now, as content that a message can carry."""
        user = _user(request)
        return _json({"content": await toolbox.read(body.server, body.uri, user=user, keep=keep_for(user))})

    @routes.get("/prompts", summary="Prompts of tool servers")
    async def prompts(request: Request) -> Response:
        """The prompts there are, by server, with their arguments."""
        found = await toolbox.prompts(_user(request))
        return _json({"servers": [{"server": name, "prompts": listed} for name, listed in found.items()]})

    @routes.post("/prompts/get", summary="Fill in a prompt")
    async def prompt(request: Request, body: PromptBody) -> Response:
        """A prompt with its arguments filled in, as messages."""
        user = _user(request)
        filled = await toolbox.prompt(body.server, body.name, body.arguments, user=user, keep=keep_for(user))
        messages = [{"role": role, "text": text} for role, text in filled.messages]
        return _json({"description": filled.description, "messages": messages})

    @routes.post("/complete", summary="Complete an argument")
    async def complete(request: Request, body: CompletionBody) -> Response:
        """Values an argument may take that begin as `value` does."""
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
    # The address holds the code of the sign-in: it goes to no one from here.
    return HTMLResponse(html, status, headers={"cache-control": "no-store", "referrer-policy": "no-referrer"})
