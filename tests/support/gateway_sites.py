"""Several gateways over one schema of PostgreSQL, in one process: `from tests.support.gateway_sites import sites`.

Each is a `Site` (`conversation_service.py`) with a data folder, a membership and a model of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.support.conversation_service import Site, opened_site
from tests.support.store_fixtures import emptied, shared_schema

from duologue.config import Settings
from duologue.config.machines.cluster import ClusterSettings
from duologue.gateway.cluster.membership import Membership
from duologue.store.database import Database

LEASE_S = 60.0
"""Long, so that a busy machine loses none; a gateway that shall be dead is made so by `die`."""


class GatewaySite(Site):
    """One of them."""

    membership: Membership

    def look(self) -> None:
        """Look who lives, as it does every third of a lease."""
        self.membership.link.looked.notify()

    async def end(self, run: str, outcome: str) -> None:
        """Wait until a run has ended with this outcome, as this gateway sees it."""
        await until(lambda: self._has_ended(run))
        assert (await self.ann.get(f"/api/runs/{run}")).json()["outcome"] == outcome

    async def _has_ended(self, run: str) -> bool:
        return (await self.ann.get(f"/api/runs/{run}")).json().get("outcome") is not None


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until this is so."""
    with anyio.fail_after(60):
        # Nothing tells when the database changes.
        while not await is_so():  # noqa: ASYNC110
            await anyio.sleep(0.02)


@asynccontextmanager
async def opened_gateway(url: str, folder: Path, name: str) -> AsyncIterator[GatewaySite]:
    data = folder / name
    data.mkdir(parents=True, exist_ok=True)
    cluster = ClusterSettings(address=f"http://{name}:8006", lease_s=LEASE_S)
    membership = Membership(Settings(data=data, cluster=cluster))
    async with opened_site(data, join=membership.joined, database=url, cluster=cluster) as site:
        made = GatewaySite(site.service, site.model, site.clock)
        made.membership = membership
        yield made


@pytest.fixture
async def schema(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncIterator[str]:
    """The address of a schema without rows."""
    url = await shared_schema(request.session)
    try:
        yield url
    finally:
        async with Database.opened(url, tmp_path, now=lambda: 0) as database:
            await emptied(database)


@pytest.fixture
async def sites(schema: str, tmp_path: Path) -> AsyncIterator[tuple[GatewaySite, GatewaySite]]:
    """Two gateways."""
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(opened_gateway(schema, tmp_path, "one"))
        two = await stack.enter_async_context(opened_gateway(schema, tmp_path, "two"))
        yield one, two


async def die(site: GatewaySite) -> None:
    """End the lease of a gateway in the database, as if it had not been renewed for long. The gateway itself goes on."""
    from sqlalchemy import update

    from duologue.store.schema.tables import gateways

    async with site.service.stores.durable.writing() as connection:
        this = update(gateways).where(gateways.c.id == site.membership.id)
        await connection.execute(this.values(lease_until=0))
