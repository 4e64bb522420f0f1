"""What gateways share is put together only where there can be others."""

from pydantic import SecretStr
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.gateway.cluster.forwarding import Forwarding, HopReader
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.sharing import Sharing


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
    sharing = Sharing(settings, membership)
    assert membership.id.startswith(sharing.mark)
    assert not sharing._is_left(f"resp_{membership.id}")
    assert sharing._is_left("resp_" + "f" * 32)
