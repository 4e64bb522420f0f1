"""Sessions of the page: a key once, a cookie from then on.

Owns the table of session tokens, the brake on guessing and `/api/session`. Both tables are bounded; time is an
argument. Sessions live in memory: after a restart the page asks for the key again.
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

from duologue.errors import BadRequest, Busy, Unauthorized

if TYPE_CHECKING:
    from duologue.gateway.auth import Keys

LIFETIME = 30 * 24 * 3600
"""Seconds a session lasts."""
SESSIONS = 1000
ATTEMPTS = 5
SECONDS_PER_ATTEMPT = 6.0
ADDRESSES = 10_000


class Logins:
    """Session tokens and whose they are. Only their hashes are kept; the oldest goes when the table is full."""

    def __init__(self, limit: int = SESSIONS, lifetime: float = LIFETIME) -> None:
        self._limit = limit
        self._lifetime = lifetime
        self._sessions: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def open(self, user: str, now: float) -> str:
        """A new token for `user`."""
        while self._sessions and (len(self._sessions) >= self._limit or self._oldest_end() <= now):
            self._sessions.popitem(last=False)
        token = secrets.token_urlsafe(32)
        self._sessions[_hash(token)] = (user, now + self._lifetime)
        return token

    def user(self, token: str, now: float) -> str | None:
        """Whose session this is; None when it is over or never was."""
        user, end = self._sessions.get(_hash(token), (None, 0.0))
        return user if now < end else None

    def close(self, token: str) -> None:
        self._sessions.pop(_hash(token), None)

    def _oldest_end(self) -> float:
        return next(iter(self._sessions.values()))[1]


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


class Brake:
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
    keys: Keys, logins: Logins, *, cookie: str, clock: Callable[[], float] = time.monotonic
) -> APIRouter:
    """`/api/session`: log in with a key, see who one is, log out."""
    routes = APIRouter(tags=["session"])
    brake = Brake()

    @routes.post("/api/session", summary="Log in: a key once, a cookie from then on")
    async def log_in(request: Request) -> Response:
        if not keys.required:
            return JSONResponse({"user": "local", "role": "admin", "required": False})
        key = _key_of(await request.body())
        wait = brake.take(request.client.host if request.client else "", clock())
        if wait > 0:
            raise Busy(f"Too many attempts; try again in {wait:.0f} s.", code="rate_limited")
        user = keys.user(key)
        if user is None:
            raise Unauthorized("The key is wrong.", param="key")
        response = JSONResponse({"user": user.name, "role": user.role, "required": True})
        response.set_cookie(
            cookie,
            logins.open(user.name, clock()),
            max_age=LIFETIME,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    @routes.get("/api/session", summary="Who is asking")
    async def who(request: Request) -> dict[str, Any]:
        state = request.scope["state"]
        return {"user": state["user"], "role": state["role"], "required": keys.required}

    @routes.delete("/api/session", summary="Log out", status_code=204)
    async def log_out(request: Request) -> Response:
        if token := request.cookies.get(cookie):
            logins.close(token)
        response = Response(status_code=204)
        response.delete_cookie(cookie, httponly=True, samesite="strict")
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


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
