"""Sign-ins as people see them: listed, noted, ended."""

import pytest

from duologue.store.accounts.login_rows import Seen, login_id
from duologue.store.users import Users

pytestmark = pytest.mark.anyio
DAY = 24 * 3600 * 1000


@pytest.fixture
def users(database, clock):
    return Users(database, clock)


async def opened(users, clock, digest: bytes, user: str, **known) -> None:
    await users.logins.open(digest, user, clock() + DAY, **known)
    clock.forward(1)


async def test_logins_are_listed_by_when_they_were_last_used(users, clock):
    await opened(users, clock, b"a", "ada", address="10.0.0.1", agent="Firefox, Linux")
    await opened(users, clock, b"b", "ada")
    await opened(users, clock, b"c", "bob")
    ids = [login.id for login in await users.logins.all("ada")]
    assert ids == [login_id(b"b"), login_id(b"a")]
    await users.logins.note_seen({b"a": Seen(clock() + 5, "10.0.0.2")})
    first = (await users.logins.all("ada"))[0]
    assert (first.id, first.address, first.agent) == (login_id(b"a"), "10.0.0.2", "Firefox, Linux")
    assert first.last_seen == clock() + 5 > first.created
    assert len(await users.logins.all()) == 3


async def test_an_expired_login_is_not_listed(users, clock):
    await opened(users, clock, b"a", "ada")
    clock.forward(DAY)
    assert await users.logins.all() == []


async def test_a_login_is_ended_by_its_id_by_its_user_or_an_admin(users, clock):
    await opened(users, clock, b"a", "ada")
    assert await users.logins.end(login_id(b"a"), "bob") is None
    assert await users.logins.end("login_none") is None
    ended = await users.logins.end(login_id(b"a"), "ada")
    assert ended is not None
    assert ended.user == "ada"
    await opened(users, clock, b"b", "ada")
    assert await users.logins.end(login_id(b"b")) is not None
    assert (await users.register()).logins == {}


async def test_all_others_end_and_this_one_stays(users, clock):
    for digest in (b"a", b"b", b"c"):
        await opened(users, clock, digest, "ada")
    await opened(users, clock, b"d", "bob")
    assert await users.logins.end_all("ada", but=b"b") == 2
    assert set((await users.register()).logins) == {b"b", b"d"}
    assert await users.logins.end_all("ada") == 1


async def test_an_id_says_nothing_of_the_digest(users):
    digest = bytes(range(32))
    assert digest.hex()[:12] not in login_id(digest)
