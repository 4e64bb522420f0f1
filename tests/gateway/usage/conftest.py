"""Keys, a meter, and a clock that stands still, for tests of limits and usage."""

from collections.abc import AsyncIterator

import pytest

from duologue import caller
from duologue.config import Settings
from duologue.gateway.auth.keys import Keys
from duologue.gateway.usage.limit_lookup import LimitLookup
from duologue.gateway.usage.service import UsageService
from duologue.gateway.usage.usage_meter import UsageMeter
from duologue.store.database import Database
from duologue.store.users import NewKey, Users
from duologue.values.usage.key_limits import AppliedLimits

NOON = 20_000 * 86_400 + 43_200.0
DAY = "2024-10-04"
"""The day of NOON."""


class UsageFixture:
    """A database with the admin ada and the user bob, each with a key, and a meter over them."""

    def __init__(self, database: Database, ada: NewKey, bob: NewKey, users: Users, keys: Keys) -> None:
        self.database, self.ada, self.bob, self.users, self.keys = database, ada, bob, users, keys
        self.at = 0.0
        self.meter = self.meter_with()

    def meter_with(self, defaults: AppliedLimits = AppliedLimits(), **aliases: str) -> UsageMeter:  # noqa: B008
        lookup = LimitLookup(self.keys, defaults, aliases)
        self.meter = UsageMeter(lookup, clock=lambda: self.at, unix=lambda: NOON + self.at)
        return self.meter

    def service(self, **settings: object) -> UsageService:
        return UsageService(Settings.model_validate(settings), self.keys, self.meter)

    async def limit(self, key: NewKey, **limits: object) -> None:
        await self.users.limit(key.key.id, limits)
        self.keys.outdated()
        await self.keys.refresh()

    def use(self, key: NewKey | None) -> None:
        """What follows is done with this key."""
        caller.key_id.set("" if key is None else key.key.id)


@pytest.fixture
async def usage() -> AsyncIterator[UsageFixture]:
    async with Database.memory() as database:
        users, keys = Users(database, lambda: 5000), Keys(None)
        ada, bob = await users.add_key("ada"), await users.add_key("bob")
        await keys.use(users)
        yield UsageFixture(database, ada, bob, users, keys)
