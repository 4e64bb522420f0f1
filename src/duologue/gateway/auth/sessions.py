"""Logins of the page: a key once, a cookie from then on.

Owns the tokens, the brake on guessing and `/api/session`. The database keeps a digest of each token, so that a restart
asks nobody again; which of them are valid is in the table of `Keys`. Time is an argument or a clock.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from duologue.errors import BadRequest, Busy, Unauthorized, Unavailable
from duologue.gateway.middleware.proxy import base_of

if TYPE_CHECKING:
    from duologue.gateway.auth.keys import Keys, User

LIFETIME = 30 * 24 * 3600
"""Seconds a login lasts."""
ATTEMPTS = 5
SECONDS_PER_ATTEMPT = 6.0
ADDRESSES = 10_000


class LoginSessions:
    """Tokens and whose they are. A login is over when its time is, when it is closed, when a key of its user is revoked,
    and when the key of the settings becomes another one."""

    def __init__(self, keys: Keys, lifetime: int = LIFETIME) -> None:
        self._keys = keys
        self._lifetime = lifetime

    async def open(self, user: str, now: int) -> str:
        """A new token for the user of this id; `now` in ms. Raises Unavailable while there is no database."""
        if self._keys.users is None:
            raise Unavailable("The server is still starting; try again in a moment.")
        token = secrets.token_urlsafe(32)
        await self._keys.users.open_login(self._digest(token), user, now + self._lifetime * 1000)
        self._keys.outdated()
        return token

    def user(self, token: str, now: int) -> User | None:
        """Whose login this is; None when it is over or never was."""
        register = self._keys.register
        login = register.logins.get(self._digest(token)) if register else None
        return self._keys.account(login.user) if login and now < login.expires else None

    async def close(self, token: str) -> None:
        if self._keys.users is not None:
            await self._keys.users.close_login(self._digest(token))
            self._keys.outdated()

    def _digest(self, token: str) -> bytes:
        return hashlib.sha256(self._keys.pepper + token.encode("utf-8", "surrogatepass")).digest()


class TokenBucket:
    """`burst` at once, then one every `seconds`."""

    def __init__(self, burst: int, seconds: float, now: float) -> None:
        self._burst = burst
        self._seconds = seconds
        self._level = float(burst)
        self._at = now

    def take(self, now: float) -> float:
        """0 when one was there and is taken, else the seconds until one will be."""
        self._level = min(self._burst, self._level + (now - self._at) / self._seconds)
        self._at = now
        if self._level < 1:
            return (1 - self._level) * self._seconds
        self._level -= 1
        return 0.0


class LoginRateLimit:
    """A bucket for each address that tries keys; the address that has been quiet longest is forgotten first."""

    def __init__(
        self, burst: int = ATTEMPTS, seconds: float = SECONDS_PER_ATTEMPT, limit: int = ADDRESSES
    ) -> None:
        self._burst = burst
        self._seconds = seconds
        self._limit = limit
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, address: str, now: float) -> float:
        """0 when the address may try, else the seconds it must wait."""
        bucket = self._buckets.setdefault(address, TokenBucket(self._burst, self._seconds, now))
        self._buckets.move_to_end(address)
        if len(self._buckets) > self._limit:
            self._buckets.popitem(last=False)
        return bucket.take(now)


def router(
    keys: Keys,
    logins: LoginSessions,
    *,
    cookie: str,
    now: Callable[[], int],
    clock: Callable[[], float] = time.monotonic,
) -> APIRouter:
    """`/api/session`: log in with a key, see who one is, log out. `now` in ms since 1970; `clock`, in seconds, slows
    guessing."""
    routes = APIRouter(tags=["session"])
    brake = LoginRateLimit()

    @routes.post("/api/session", summary="Log in: a key once, a cookie from then on")
    async def log_in(request: Request) -> Response:
        if not keys.required:
            return JSONResponse({"user": "local", "name": "local", "role": "admin", "required": False})
        key = _key_of(await request.body())
        wait = brake.take(request.client.host if request.client else "", clock())
        if wait > 0:
            raise Busy(f"Too many attempts; try again in {wait:.0f} s.", code="rate_limited")
        user = keys.user(key, now())
        if user is None:
            raise Unauthorized("The key is wrong.", param="key")
        token = await logins.open(user.id, now())
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

    @routes.get("/api/session", summary="Who is asking")
    async def who(request: Request) -> dict[str, Any]:
        state = request.scope["state"]
        found = {name: state[name] for name in ("user", "name", "role")}
        return found | {"required": keys.required}

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
