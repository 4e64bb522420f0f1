"""`GET /api/gateways`."""

import httpx
import pytest
from fastapi import FastAPI

from duologue.config import Settings
from duologue.gateway.auth.middleware import admin
from duologue.gateway.cluster.gateway_routes import router
from duologue.gateway.cluster.membership import Membership

pytestmark = pytest.mark.anyio


async def test_a_gateway_alone_lists_itself(tmp_path):
    membership = Membership(Settings(data=tmp_path))
    app = FastAPI()
    app.include_router(router(membership))
    app.dependency_overrides[admin] = lambda: None
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        [listed] = (await client.get("/api/gateways")).json()["gateways"]
    assert (listed["id"], listed["own"], listed["living"]) == (membership.id, True, True)
    assert {"instance", "address", "version", "protocol", "started", "lease_until"} <= listed.keys()
