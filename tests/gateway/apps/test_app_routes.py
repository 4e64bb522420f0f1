"""The apps over HTTP: what everybody sees, and what admins switch in either spelling."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.apps.app_routes import router
from duologue.gateway.apps.modes import Abilities
from duologue.http.error_responses import exception_handlers

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def browser(apps: AppRegistry, role: str = "admin") -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router(apps))

    async def with_state(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"request_id": "r-1", "user": "ada", "role": role}
        await app(scope, receive, send)

    transport = httpx.ASGITransport(with_state)
    async with httpx.AsyncClient(transport=transport, base_url="http://duologue") as client:
        yield client


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["app_id"] for row in rows]


async def test_the_list_of_apps_has_only_those_that_can_be_used():
    """The demo's pages take an app that is listed for one that works."""
    apps = AppRegistry(lambda: Abilities(image=False))
    await apps.switch("turnbased", False)
    async with browser(apps, role="user") as client:
        body = (await client.get("/api/apps")).json()
    assert ids(body["apps"]) == ["audio_duplex"]
    assert {row["app_id"]: row["reason"]["code"] for row in body["unavailable"]} == {
        "turnbased": "app_disabled",
        "omni": "modality_unsupported",
    }


async def test_an_admin_switches_an_app_by_its_address_or_by_its_name():
    apps = AppRegistry()
    async with browser(apps) as client:
        switched = await client.put("/api/admin/apps/omni", json={"enabled": False})
        assert (switched.status_code, switched.json()["enabled"]) == (200, False)
        for name in ("app_id", "id"):
            body = {name: "audio_duplex", "enabled": False}
            assert (await client.put("/api/admin/apps", json=body)).json()["enabled"] is False
        assert (await client.get("/api/admin/apps/omni")).json()["reason"]["code"] == "app_disabled"
        rows = (await client.get("/api/admin/apps")).json()["apps"]
    assert [row["enabled"] for row in rows] == [True, False, False]


async def test_users_switch_nothing():
    apps = AppRegistry()
    async with browser(apps, role="user") as client:
        for answer in (
            await client.get("/api/admin/apps"),
            await client.put("/api/admin/apps/omni", json={"enabled": False}),
            await client.put("/api/admin/apps", json={"app_id": "omni", "enabled": False}),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "admin_needed")
    assert apps.is_enabled("omni")


@pytest.mark.parametrize("body", [{}, {"enabled": "perhaps"}, {"enabled": True, "colour": "red"}])
async def test_a_body_that_says_nothing_changes_nothing(body: dict[str, Any]):
    async with browser(AppRegistry()) as client:
        answer = await client.put("/api/admin/apps/omni", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


async def test_an_app_that_does_not_exist_is_named():
    async with browser(AppRegistry()) as client:
        answer = await client.put("/api/admin/apps/holodeck", json={"enabled": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "app_not_found")


async def test_the_addresses_of_the_demos_pages_lead_to_the_page():
    async with browser(AppRegistry()) as client:
        answer = await client.get("/omni")
    assert (answer.status_code, answer.headers["location"]) == (302, ".")
