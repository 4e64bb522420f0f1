"""Work that goes on after its request ends with the access of the one who began it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from duologue.caller import KEY_OF_SETTINGS
from duologue.errors import AccessRevoked
from duologue.gateway.auth.background_work import BackgroundWork
from duologue.gateway.auth.keys import Keys, wall_clock
from duologue.store.database import Database
from duologue.store.users import NewKey, Users

pytestmark = pytest.mark.anyio


class Place:
    """A user with two keys, whose work is checked when the test says so."""

    def __init__(self, users: Users, keys: Keys, first: NewKey, second: NewKey) -> None:
        self.users, self.keys, self.first, self.second = users, keys, first, second
        self.user = first.account.id
        self.work = BackgroundWork(keys)
        self.ends: list[str] = []

    async def begin(self, key: str, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            with self.work.allowed(self.user, key):
                task_status.started()
                await anyio.sleep_forever()
        except AccessRevoked as revoked:
            self.ends.append(f"{key} {revoked.code}")

    async def check(self) -> None:
        self.keys.outdated()
        await self.keys.refresh()
        await self.work.check()
        await anyio.wait_all_tasks_blocked()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with Database.memory() as database:
        users = Users(database, wall_clock)
        keys = Keys(None)
        await users.add_key("root", admin=True)
        first, second = await users.add_key("ada"), await users.add_key("ada")
        await keys.use(users)
        yield Place(users, keys, first, second)


async def test_it_ends_with_its_key_and_not_with_another_one(place: Place) -> None:
    async with anyio.create_task_group() as tasks:
        for key in (place.first.key.id, place.second.key.id, ""):
            await tasks.start(place.begin, key)
        await place.check()
        assert place.ends == []
        await place.users.revoke(place.first.key.id)
        await place.check()
        assert place.ends == [f"{place.first.key.id} access_revoked"]
        await place.users.revoke(place.second.key.id)
        await place.check()
        assert place.ends[1:] == [f"{place.second.key.id} access_revoked", " access_revoked"]


async def test_it_ends_when_its_user_is_disabled(place: Place) -> None:
    async with anyio.create_task_group() as tasks:
        await tasks.start(place.begin, place.first.key.id)
        await tasks.start(place.begin, "")
        await place.users.change("ada", disabled=True)
        await place.check()
        assert len(place.ends) == 2


async def test_what_may_not_go_on_does_not_begin(place: Place) -> None:
    await place.users.revoke(place.first.key.id)
    await place.check()
    begun: list[str] = []
    with pytest.raises(AccessRevoked), place.work.allowed(place.user, place.first.key.id):
        begun.append("it ran")
    assert begun == []


async def test_without_keys_everything_goes_on() -> None:
    work = BackgroundWork(Keys(None))
    with work.allowed("local", ""):
        await work.check()
        await anyio.lowlevel.checkpoint()


async def test_the_key_of_the_settings_is_its_users_own() -> None:
    work = BackgroundWork(Keys("swordfish-0123456789"))
    with work.allowed("local", KEY_OF_SETTINGS):
        await work.check()
        await anyio.lowlevel.checkpoint()


async def test_what_work_raises_comes_through_and_an_outer_cancellation_too(place: Place) -> None:
    with pytest.raises(ValueError, match="its own"), place.work.allowed(place.user, ""):
        raise ValueError("its own")
    with anyio.CancelScope() as scope, place.work.allowed(place.user, ""):
        scope.cancel()
        await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_it_is_checked_only_while_there_is_any(place: Place) -> None:
    checks: list[int] = []
    begun = anyio.Event()

    async def wait(seconds: float) -> None:
        checks.append(1)
        begun.set()
        await anyio.sleep_forever()

    work = BackgroundWork(place.keys, sleep=wait)
    async with anyio.create_task_group() as tasks:
        await tasks.start(work.run)
        await anyio.wait_all_tasks_blocked()
        assert checks == []
        with work.allowed(place.user, ""):
            with anyio.fail_after(60):
                await begun.wait()
        tasks.cancel_scope.cancel()
