"""The headers with what is left of a key's limits."""

import httpx
import pytest
from fastapi import FastAPI

from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.sessions import LoginSessions
from duologue.gateway.usage.limit_headers import LimitHeaders, duration

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.12, "120ms"), (7.5, "7.5s"), (61, "1m1s"), (360, "6m0s"), (18_180, "5h3m0s")],
)
def test_a_time_is_written_as_openai_does(seconds, text):
    assert duration(seconds) == text


async def asked(usage, key, path="/v1/chat/completions", headers=None):
    app = FastAPI()

    @app.post("/v1/chat/completions")
    @app.post("/v1/messages")
    @app.post("/api/other")
    async def answer():
        with usage.meter.request("chat", "small", user="x", tokens=100) as request:
            request.counted(prompt=10, completion=10)
        return {}

    guarded = Authentication(
        LimitHeaders(app, usage.meter), usage.keys, LoginSessions(usage.keys), cookie=cookie_name(1)
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url="http://localhost") as http:
        told = await http.post(path, headers={"Authorization": f"Bearer {key.value}", **(headers or {})})
    return {name: value for name, value in told.headers.items() if "ratelimit" in name}


async def test_a_key_without_limits_gets_none(usage):
    assert await asked(usage, usage.ada) == {}


async def test_openais_names(usage):
    await usage.limit(usage.bob, requests_per_minute=5, tokens_per_minute=1000, tokens_per_day=2000)
    assert await asked(usage, usage.bob) == {
        "x-ratelimit-limit-requests": "5",
        "x-ratelimit-remaining-requests": "4",
        "x-ratelimit-reset-requests": "1m1s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "980",
        "x-ratelimit-reset-tokens": "1m1s",
        "x-ratelimit-limit-tokens-day": "2000",
        "x-ratelimit-remaining-tokens-day": "1980",
        "x-ratelimit-reset-tokens-day": "12h0m0s",
    }
    assert await asked(usage, usage.bob, "/api/other") == {}


async def test_anthropics_names(usage):
    await usage.limit(usage.bob, tokens_per_minute=1000)
    assert await asked(usage, usage.bob, "/v1/messages") == {
        "anthropic-ratelimit-tokens-limit": "1000",
        "anthropic-ratelimit-tokens-remaining": "980",
        "anthropic-ratelimit-tokens-reset": "2024-10-04T12:01:01Z",
    }
