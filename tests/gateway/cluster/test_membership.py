"""Gateways of one PostgreSQL see each other come, stay and go; on SQLite there is one."""

from uuid import uuid4

import anyio
import pytest
from tests.support.store_fixtures import drop_schema, make_schema, memory

from duologue.config import Settings
from duologue.config.machines.cluster import ClusterSettings
from duologue.gateway.cluster.membership import Membership
from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.store.database import Database

__all__ = ["memory"]
pytestmark = pytest.mark.anyio
LEASE_S = 60.0


@pytest.fixture
async def shared(tmp_path, anyio_backend):
    name = f"membership_{uuid4().hex}"
    url = await make_schema(name)
    try:
        async with Database.opened(url, tmp_path, now=lambda: 0) as database:
            yield database
    finally:
        await drop_schema(name)


def member(folder, name: str, lease_s: float = LEASE_S) -> Membership:
    data = folder / name
    data.mkdir(exist_ok=True)
    return Membership(
        Settings(data=data, cluster=ClusterSettings(address=f"http://{name}:8006", lease_s=lease_s))
    )


async def until_seen(member: Membership, *ids: str) -> None:
    with anyio.fail_after(30):
        while {entry.id for entry in member.living} != set(ids):
            await member.link.looked.wait()


async def test_gateways_see_each_other_come_and_go(shared, tmp_path):
    one, two = member(tmp_path, "one", 3.0), member(tmp_path, "two", 3.0)
    async with one.joined(shared) as link:
        assert link.shared
        assert link.gateway == one.id
        async with two.joined(shared):
            await until_seen(two, one.id, two.id)
            await until_seen(one, one.id, two.id)
            assert {entry.address for entry in one.living} == {"http://one:8006", "http://two:8006"}
        await until_seen(one, one.id)
        assert one.holds_lease
    assert await GatewayRows(shared).all() == ()


async def test_a_gateway_that_comes_or_goes_is_seen_long_before_the_next_look(shared, tmp_path):
    one, two = member(tmp_path, "one", 3000.0), member(tmp_path, "two", 3000.0)
    async with one.joined(shared):
        async with two.joined(shared):
            await until_seen(one, one.id, two.id)
        await until_seen(one, one.id)


async def test_a_gateway_that_nobody_lists_any_more_joins_again(shared, tmp_path):
    one = member(tmp_path, "one", 3.0)
    async with one.joined(shared):
        await GatewayRows(shared).leave(one.id)
        with anyio.fail_after(30):
            while not await GatewayRows(shared).all():
                await one.link.looked.wait()


async def test_a_process_of_the_same_data_folder_follows_the_last_one_at_once(shared, tmp_path):
    async with member(tmp_path, "one").joined(shared):
        after_a_kill = member(tmp_path, "one")
        async with after_a_kill.joined(shared):
            assert [entry.id for entry in await GatewayRows(shared).all()] == [after_a_kill.id]


async def test_a_copied_data_folder_is_another_instance(shared, tmp_path):
    one, copy = member(tmp_path, "one"), member(tmp_path, "copy")
    async with one.joined(shared):
        (tmp_path / "copy" / "instance").write_text((tmp_path / "one" / "instance").read_text())
        async with copy.joined(shared):
            assert len(copy.living) == 2


async def test_a_lease_is_held_for_its_time_and_no_longer(shared, tmp_path):
    now = 0.0
    (tmp_path / "one").mkdir()
    settings = Settings(data=tmp_path / "one", cluster=ClusterSettings(lease_s=LEASE_S))
    one = Membership(settings, clock=lambda: now)
    async with one.joined(shared):
        assert one.holds_lease
        now = LEASE_S
        assert not one.holds_lease


async def test_on_sqlite_there_is_one_gateway_and_no_row(memory, tmp_path):
    one = member(tmp_path, "one")
    async with one.joined(memory) as link:
        assert not link.shared
        assert link.gateway == ""
        assert [entry.id for entry in one.living] == [one.id]
        assert one.is_living(one.id)
        assert one.holds_lease
        assert await GatewayRows(memory).all() == ()
    assert not (tmp_path / "one" / "instance").exists()
