"""`GET /api/gateways`."""

from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.support.gateway_sites import die, schema, sites

from duologue.config import Settings
from duologue.gateway.auth.middleware import admin
from duologue.gateway.cluster.gateway_routes import router
from duologue.gateway.cluster.membership import Membership

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


async def listed(membership: Membership) -> list[dict[str, Any]]:
    app = FastAPI()
    app.include_router(router(membership))
    app.dependency_overrides[admin] = lambda: None
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        gateways: list[dict[str, Any]] = (await client.get("/api/gateways")).json()["gateways"]
        return gateways


async def test_a_gateway_alone_lists_itself(tmp_path):
    membership = Membership(Settings(data=tmp_path))
    [row] = await listed(membership)
    assert (row["id"], row["own"], row["living"]) == (membership.id, True, True)
    assert (row["running"], row["heard_s"]) == (None, None)
    assert {"instance", "address", "version", "protocol", "started", "lease_until"} <= row.keys()


async def test_each_of_several_is_listed_with_its_running_replies_and_when_it_was_heard(sites):
    one, two = sites
    await one.conversation()
    one.model.hold = anyio.Event()
    assert (await one.send("Hello", 1)).status_code == 202
    rows = {row["id"]: row for row in await listed(two.membership)}
    assert [rows[site.membership.id]["own"] for site in sites] == [False, True]
    assert [rows[site.membership.id]["running"] for site in sites] == [1, 0]
    assert all(0 <= row["heard_s"] <= one.membership.lease_s for row in rows.values())


async def test_one_that_was_not_heard_for_long_is_not_listed(sites):
    one, two = sites
    await die(one)
    assert [row["id"] for row in await listed(two.membership)] == [two.membership.id]
