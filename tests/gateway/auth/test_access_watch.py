"""The work of users without access ends; the work of others does not."""

import pytest

from duologue.errors import Unavailable
from duologue.gateway.auth.access_watch import end_work
from duologue.gateway.auth.keys import Keys
from duologue.store.database import Database
from duologue.store.users import Users

pytestmark = pytest.mark.anyio


class Clock:
    at = 1000

    def __call__(self) -> int:
        return self.at


class Work:
    def __init__(self, *users: str, failing: bool = False) -> None:
        self.users, self.failing = set(users), failing

    def working_users(self):
        return self.users

    async def stop_work(self, user: str) -> None:
        if self.failing:
            raise Unavailable("The database is away.")
        self.users.discard(user)


@pytest.fixture
def now():
    return Clock()


@pytest.fixture
async def users(now):
    async with Database.memory() as database:
        yield Users(database, now)


@pytest.fixture
async def keys(users, now):
    await users.add_key("ada")
    keys = Keys(None, now=now)
    await keys.use(users)
    return keys


async def test_the_work_of_a_disabled_user_ends_and_that_of_others_goes_on(users, keys):
    bob, eve = await users.add_key("bob"), await users.add_key("eve")
    keys.outdated()
    runs, batches = Work(bob.account.id, eve.account.id), Work(bob.account.id)
    await end_work(keys, [runs, batches])
    assert bob.account.id in runs.users
    await users.change("bob", disabled=True)
    keys.outdated()
    await end_work(keys, [runs, batches])
    assert runs.users == {eve.account.id}
    assert batches.users == set()


async def test_so_does_the_work_of_one_whose_last_key_is_revoked_or_expires(users, keys, now):
    bob = await users.add_key("bob", expires=2000)
    eve = await users.add_key("eve")
    keys.outdated()
    work = Work(bob.account.id, eve.account.id)
    now.at = 1999
    await end_work(keys, [work])
    assert len(work.users) == 2
    now.at = 2000
    await end_work(keys, [work])
    assert work.users == {eve.account.id}
    await users.revoke("eve")
    keys.outdated()
    await end_work(keys, [work])
    assert work.users == set()


async def test_a_reset_key_ends_no_work(users, keys):
    bob = await users.add_key("bob")
    work = Work(bob.account.id)
    await users.reset_key("bob")
    keys.outdated()
    await end_work(keys, [work])
    assert work.users == {bob.account.id}


async def test_without_keys_everyone_works():
    work = Work("local")
    await end_work(Keys(None), [work])
    assert work.users == {"local"}


async def test_what_cannot_be_stopped_now_stops_nothing_else(users, keys):
    broken, other = Work("user_gone", failing=True), Work("user_gone")
    await end_work(keys, [broken, other])
    assert other.users == set()


async def test_without_work_the_database_is_not_asked(users, keys):
    before = keys.register
    keys.outdated()
    await end_work(keys, [Work()])
    assert keys.register is before
