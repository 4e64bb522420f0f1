"""Login sessions of the page: a key is entered once, a cookie serves from then on.

Owns the session tokens and `/api/session`. The database stores only a digest of each token, and logins survive a restart; the
valid ones are in the register of `Keys`. Time is passed in, as ms or as a clock.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from duologue.errors import BadRequest, Forbidden, Unavailable
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.keys import ONLY_JOINS, WORKER
from duologue.gateway.auth.user_agents import described_agent
from duologue.gateway.middleware.address_group import address_group
from duologue.gateway.middleware.proxy import base_of

if TYPE_CHECKING:
    from duologue.gateway.auth.keys import Keys, User

LIFETIME = 30 * 24 * 3600
"""Seconds a login lasts."""
DAY_MS = 24 * 3600 * 1000
BODY_BYTES = 4096
"""The largest body of a login, with room for a key of 1024 characters."""


class LoginSessions:
    """Session tokens and their users. A session ends when it expires or is closed, when a key of its user is revoked, and when
    the key in the settings changes."""

    def __init__(self, keys: Keys, lifetime: int = LIFETIME) -> None:
        self._keys = keys
        self._lifetime = lifetime

    async def open(
        self,
        user: str,
        now: int,
        *,
        until: int = 0,
        address: str = "",
        agent: str = "",
        key: str = "",
        secret: str = "",
    ) -> str:
        """A new token for the user of this id; `now` in ms, `key`: the id of the key that opened it, `secret`: that key, `until`: when it ends, 0 for never;
        `address` and `agent`: from where and by which browser. Raises Unavailable while there is no database, Unauthorized where the key
        was revoked at this moment."""
        if self._keys.users is None:
            raise Unavailable("The server is still starting; try again in a moment.")
        token = secrets.token_urlsafe(32)
        expires = now + self._lifetime * 1000
        await self._keys.users.logins.open(
            self._digest(token),
            user,
            min(expires, until) if until else expires,
            address=address,
            agent=agent,
            key=key,
            secret=hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest() if secret else b"",
        )
        self._keys.outdated()
        return token

    def user(self, token: str, now: int) -> User | None:
        """The user of a session; None if it has ended or never existed."""
        register = self._keys.register
        login = register.logins.get(self._digest(token)) if register else None
        # A login from a time when the clock was years ahead must not last for years. A day is for smaller corrections.
        latest = now + self._lifetime * 1000 + DAY_MS
        if login is None or not now < login.expires <= latest:
            return None
        account = self._keys.account(login.user, now)
        return account and account._replace(key=login.key)

    def note_seen(self, token: str, now: int, address: str) -> None:
        """A session was used at this time (ms) from this address."""
        from duologue.store.accounts.login_rows import Seen

        self._keys.note_seen(self._digest(token), Seen(now, address_group(address)))

    def digest(self, token: str) -> bytes:
        """The stored digest of a token."""
        return self._digest(token)

    async def close(self, token: str) -> None:
        if self._keys.users is not None:
            await self._keys.users.logins.close(self._digest(token))
            self._keys.outdated()

    def _digest(self, token: str) -> bytes:
        return hashlib.sha256(self._keys.pepper + token.encode("utf-8", "surrogatepass")).digest()


def router(
    keys: Keys,
    logins: LoginSessions,
    *,
    cookie: str,
    now: Callable[[], int],
    guessing: GuessGuard | None = None,
) -> APIRouter:
    """`/api/session`: log in with a key, see the current user, log out. `now`: ms since 1970."""
    routes = APIRouter(tags=["session"])
    guard = guessing or GuessGuard()

    @routes.post("/api/session", summary="Log in with a key and get a cookie")
    async def log_in(request: Request) -> Response:
        if not keys.required:
            return JSONResponse({"user": "local", "name": "local", "role": "admin", "required": False})
        try:
            key = _key_of(await request.body())
        except ClientDisconnect:
            raise BadRequest("The request ended before its body was complete.") from None
        user = keys.user(key, now())
        if user is None and await keys.look_again():
            user = keys.user(key, now())
        if user is None:
            raise await guard.refusal(request.client.host if request.client else "", key, param="key")
        if user.role == WORKER:
            raise Forbidden(ONLY_JOINS, code="worker_key")
        token = await logins.open(
            user.id,
            now(),
            key=user.key,
            secret=key,
            until=keys.end_of(user.key),
            address=address_group(request.client.host) if request.client else "",
            agent=described_agent(request.headers.get("user-agent", "")),
        )
        response = JSONResponse({"user": user.id, "name": user.name, "role": user.role, "required": True})
        response.set_cookie(
            cookie,
            token,
            max_age=LIFETIME,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            path=base_of(request.scope) or "/",
        )
        return response

    @routes.get("/api/session", summary="The current user")
    async def current_user(request: Request) -> dict[str, Any]:
        state = request.scope["state"]
        user = {name: state[name] for name in ("user", "name", "role")}
        return user | {"required": keys.required}

    @routes.delete("/api/session", summary="Log out", status_code=204)
    async def log_out(request: Request) -> Response:
        if token := request.cookies.get(cookie):
            await logins.close(token)
        response = Response(status_code=204)
        path = base_of(request.scope) or "/"
        response.delete_cookie(cookie, path, httponly=True, samesite="strict")
        return response

    return routes


def _key_of(body: bytes) -> str:
    try:
        key = json.loads(body)["key"]
    except (ValueError, KeyError, TypeError):
        key = None
    if not isinstance(key, str) or not key:
        raise BadRequest('Send {"key": "..."}.', param="key")
    return key
