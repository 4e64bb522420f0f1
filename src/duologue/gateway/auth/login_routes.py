"""`/api/session/logins`: the browsers in which one is signed in, and signing out of them; admins see and end everyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from duologue.errors import NotFound, Unavailable
from duologue.gateway.auth.middleware import admin, keyed_admin
from duologue.gateway.middleware.admin_act import note
from duologue.http.json_api import user_of

if TYPE_CHECKING:
    from duologue.gateway.auth.keys import Keys
    from duologue.gateway.auth.sessions import LoginSessions
    from duologue.store.accounts.login_rows import Login, LoginRows

ADDRESS = "/api/session/logins"


def router(keys: Keys, logins: LoginSessions, *, cookie: str) -> APIRouter:
    """The routes. `cookie`: the name of the one with a login."""
    routes = APIRouter(tags=["session"], prefix=ADDRESS)

    def own_digest(request: Request) -> bytes:
        token = request.cookies.get(cookie)
        return logins.digest(token) if token else b""

    @routes.get("", summary="Signed-in browsers")
    async def list_logins(
        request: Request,
        everyone: Annotated[bool, Query(description="For admins: those of every user.")] = False,
    ) -> dict[str, Any]:
        """The browsers in which you are signed in, the last used first. `current` marks the one that asks. Times in ms since 1970;
        `last_seen` is accurate to a minute; `address` is an IPv4 address or an IPv6 network (/64)."""
        if everyone:
            admin(request)
        rows = await _rows(keys).all(None if everyone else user_of(request))
        current = _id_of(own_digest(request))
        return {"logins": [_row(row, keys, current) for row in rows]}

    @routes.delete("", summary="Sign out of all other browsers")
    async def end_others(request: Request) -> dict[str, int]:
        """Ends every login of yours except the one that asks. `ended`: how many there were. Your keys stay valid."""
        ended = await _rows(keys).end_all(user_of(request), but=own_digest(request))
        keys.outdated()
        return {"ended": ended}

    @routes.delete("/{id}", summary="Sign out of a browser", status_code=204)
    async def end(id: Annotated[str, Path(max_length=64)], request: Request) -> Response:
        """Ends one login of yours; for admins with a key, of anyone."""
        state, user = request.scope["state"], user_of(request)
        ended = await _rows(keys).end(id, user)
        if ended is None and state["role"] == "admin":
            keyed_admin(request)
            ended = await _rows(keys).end(id)
            note(request.scope, target=_name(keys, ended.user) if ended else id, login=id)
        if ended is None:
            raise NotFound("This sign-in was not found. The browser may have been signed out already.")
        keys.outdated()
        return Response(status_code=204)

    return routes


def _rows(keys: Keys) -> LoginRows:
    if keys.users is None:
        raise Unavailable("The server is still starting; try again in a moment.")
    return keys.users.logins


def _id_of(digest: bytes) -> str:
    from duologue.store.accounts.login_rows import login_id

    return login_id(digest) if digest else ""


def _row(row: Login, keys: Keys, current: str) -> dict[str, Any]:
    fields = ("id", "created", "expires", "last_seen", "address", "agent")
    shown = {name: getattr(row, name) for name in fields}
    return shown | {"user": row.user, "name": _name(keys, row.user), "current": row.id == current}


def _name(keys: Keys, user: str) -> str:
    known = keys.register.accounts.get(user) if keys.register else None
    return known.name if known else user
