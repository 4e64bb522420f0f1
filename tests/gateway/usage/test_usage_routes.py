"""`/api/usage`, asked through the real check of every request."""

import csv
import io
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.usage.conftest import DAY

from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.sessions import LoginSessions
from duologue.gateway.usage.usage_routes import router
from duologue.http.error_responses import exception_handlers
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def asking(usage, key):
    service = usage.service()
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router(service))
    guarded = Authentication(app, usage.keys, LoginSessions(usage.keys), cookie=cookie_name(1))
    headers = {"Authorization": f"Bearer {key.value}"}
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run, UsageRows(usage.database))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(guarded), base_url="http://localhost", headers=headers
        ) as client:
            yield client
        tasks.cancel_scope.cancel()


def spend(usage):
    usage.meter.count(usage.ada.key.id, "chat", "small", UsageCounts(2, 0, 100, 40, 10))
    usage.meter.count(usage.bob.key.id, "chat", "small", UsageCounts(1, 1, 5, 0, 7))
    usage.meter.count(usage.bob.key.id, "speech", "espeak", UsageCounts(spoken_ms=2500))


async def test_admins_see_every_key_and_users_their_own(usage):
    spend(usage)
    async with asking(usage, usage.ada) as http:
        answer = (await http.get("/api/usage")).json()
        assert (answer["from"], answer["to"], answer["group"]) == ("2024-09-05", DAY, ["day", "key", "model"])
        assert {(row["name"], row["model"]) for row in answer["rows"]} == {
            ("ada", "small"),
            ("bob", "small"),
            ("bob", "espeak"),
        }
    async with asking(usage, usage.bob) as http:
        (row,) = (await http.get("/api/usage?group=user")).json()["rows"]
        assert row == {
            "user": usage.bob.account.id,
            "name": "bob",
            "requests": 1,
            "errors": 1,
            "prompt_tokens": 5,
            "cached_tokens": 0,
            "completion_tokens": 7,
            "total_tokens": 12,
            "sound_in_seconds": 0.0,
            "sound_out_seconds": 2.5,
        }


async def test_usage_outlives_its_key(usage):
    spend(usage)
    await usage.users.revoke(usage.bob.key.id)
    async with asking(usage, usage.ada) as http:
        rows = (await http.get("/api/usage?group=key")).json()["rows"]
        assert {(row["name"], row["prefix"]) for row in rows} == {
            ("ada", usage.ada.key.prefix),
            ("bob", usage.bob.key.prefix),
        }


async def test_as_a_table_for_a_spreadsheet(usage):
    spend(usage)
    async with asking(usage, usage.ada) as http:
        answer = await http.get(f"/api/usage?format=csv&group=key,kind&from={DAY}")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
        assert answer.headers["content-disposition"] == f'attachment; filename="usage_{DAY}_{DAY}.csv"'
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        assert {(row["name"], row["kind"], row["total_tokens"]) for row in rows} == {
            ("ada", "chat", "110"),
            ("bob", "chat", "12"),
            ("bob", "speech", "0"),
        }


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("from=yesterday", "from"),
        ("to=2024-13-01", "to"),
        ("group=colour", "group"),
        ("format=xml", "format"),
        ("from=2024-10-05", "from"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(usage, query, param):
    async with asking(usage, usage.ada) as http:
        answer = await http.get(f"/api/usage?{query}")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_a_key_is_told_its_limits_and_what_is_left(usage):
    await usage.limit(usage.bob, requests_per_minute=5, tokens_per_day=100)
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=30):
        async with asking(usage, usage.bob) as http:
            answer = (await http.get("/api/usage/limits")).json()
    assert answer["running"] == 1
    assert answer["limits"]["tokens_per_day"] == 100
    assert answer["left"] == {
        "requests_per_minute": {"left": 4, "reset": 61.0},
        "tokens_per_day": {"left": 70, "reset": 43_200.0},
    }
