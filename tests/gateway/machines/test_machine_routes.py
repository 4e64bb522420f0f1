"""`/api/machines`, for admins."""

import httpx
import pytest
from msgspec.structs import replace
from tests.gateway.machines.join_server import NAME, JoinServer
from tests.support.joined_stand_in import JOIN, JoinedStandIn

from duologue.wire.machines.join_protocol import MachineDevice

pytestmark = pytest.mark.anyio


async def machines(server: JoinServer, key: str = "admin") -> httpx.Response:
    async with httpx.AsyncClient() as http:
        return await http.get(
            f"http://{server.address}/api/machines", headers={"Authorization": f"Bearer {key}"}
        )


async def test_a_machine_is_shown_with_its_devices_and_workers():
    server = JoinServer()
    join = replace(JOIN, devices=(MachineDevice("cuda:0", "A card", 24_000, 20_000),))
    async with server.running():
        worker = JoinedStandIn(server.address, join=join)
        async with worker.joined():
            await worker.ready(slots=3)
            await server.until(NAME, "ready")
            told = (await machines(server)).json()
            assert told["join"] is True
            assert (told["address"], told["fingerprint"]) == ("", "")
            here, box = told["machines"]
            assert (here["machine"], here["workers"]) == ("", [])
            assert box["machine"] == "box"
            assert box["devices"] == [
                {"name": "cuda:0", "description": "A card", "memory": 24_000, "free": 20_000}
            ]
            [row] = box["workers"]
            assert (row["worker"], row["state"], row["reach"], row["slots"], row["busy"]) == (
                NAME,
                "ready",
                "joined",
                3,
                0,
            )
            assert row["lease_left"] is None
            worker.cut()
            await server.until(NAME, "unreachable")
            [row] = (await machines(server)).json()["machines"][1]["workers"]
            assert row["reach"] == row["state"] == "unreachable"
            assert 0 < row["lease_left"] <= 60


async def test_one_that_has_gone_is_shown_with_the_reason():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            server.revoke["user_worker"]()
            [row] = (await machines(server)).json()["machines"][1]["workers"]
            assert (row["reach"], row["detail"], row["slots"]) == ("gone", "its key was revoked", 0)


async def test_nobody_but_admins_sees_it():
    server = JoinServer()
    async with server.running():
        assert (await machines(server, "somebody")).status_code == 403
