"""What gateways share is put together only where there can be others."""

from uuid import uuid4

import pytest
from pydantic import SecretStr
from starlette.middleware import Middleware
from tests.support.store_fixtures import clock, database

from duologue.config import Settings
from duologue.gateway.cluster.forwarding import Forwarding, HopReader
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.sharing import Sharing
from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.values.cluster.gateway_entry import GatewayEntry

__all__ = ["clock", "database"]


class Authentication:
    def __init__(self, app: object) -> None: ...


def around(settings: Settings) -> list[object]:
    sharing = Sharing(settings, Membership(settings))
    return [each.cls for each in sharing.around(Middleware(Authentication))]  # type: ignore[arg-type]


def test_on_a_database_in_a_file_nothing_stands_in_the_way_of_a_request(tmp_path):
    settings = Settings(data=tmp_path)
    assert around(settings) == [Authentication]
    assert Sharing(settings, Membership(settings)).mark == ""


def test_on_postgresql_requests_may_come_from_other_gateways_and_go_to_them(tmp_path):
    settings = Settings(data=tmp_path, database=SecretStr("postgresql://somebody@127.0.0.1/somewhere"))
    assert around(settings) == [HopReader, Authentication, Forwarding]
    membership = Membership(settings)
    assert membership.id.startswith(Sharing(settings, membership).mark)


@pytest.mark.anyio
async def test_a_response_is_left_once_no_living_gateway_has_its_mark(database, tmp_path):
    if not database.is_postgresql:
        pytest.skip("a database in a file has one gateway")
    settings = Settings(data=tmp_path)
    membership = Membership(settings)
    sharing = Sharing(settings, membership)
    async with membership.joined(database):
        # Joined since the last look, as while this process was suspended.
        joined = GatewayEntry(uuid4().hex, "other", "", "1", 1, 0, 0)
        await GatewayRows(database).join(joined, 60_000)
        dead = "resp_" + "f" * 32
        responses = [f"resp_{membership.id}", f"resp_{joined.id}", dead]
        assert await sharing._left(responses) == [dead]
