"""Which limits apply to whom, and whose work something is."""

import pytest

from duologue import caller
from duologue.gateway.auth.keys import Keys
from duologue.gateway.usage.limit_lookup import LimitLookup, UsageOwner
from duologue.values.usage.key_limits import UNLIMITED, AppliedLimits

pytestmark = pytest.mark.anyio
DEFAULTS = AppliedLimits(concurrent=3, requests_per_minute=10, models=("small",))


async def test_users_have_the_defaults_and_admins_only_what_was_set(usage):
    lookup = usage.meter_with(DEFAULTS).lookup
    assert lookup.limits(usage.bob.key.id) == DEFAULTS
    assert lookup.limits(usage.ada.key.id) == UNLIMITED
    await usage.limit(usage.ada, concurrent=1)
    assert lookup.limits(usage.ada.key.id) == AppliedLimits(concurrent=1)


async def test_what_was_set_for_a_key_replaces_the_default_also_by_no_limit(usage):
    lookup = usage.meter_with(DEFAULTS).lookup
    await usage.limit(usage.bob, concurrent=0, tokens_per_day=500, models=())
    assert lookup.limits(usage.bob.key.id) == AppliedLimits(requests_per_minute=10, tokens_per_day=500)
    await usage.limit(usage.bob, concurrent=None)
    assert lookup.limits(usage.bob.key.id).concurrent == 3


async def test_work_without_a_key_has_the_limits_of_its_user(usage):
    lookup = usage.meter_with(DEFAULTS).lookup
    assert lookup.limits(f"user:{usage.bob.account.id}") == DEFAULTS
    assert lookup.limits("user:local") == UNLIMITED


async def test_the_key_of_the_settings_and_a_server_without_keys_have_no_limits():
    lookup = LimitLookup(Keys("a key of the settings"), DEFAULTS)
    assert lookup.limits(caller.KEY_OF_SETTINGS) == UNLIMITED
    assert LimitLookup(Keys(None), DEFAULTS).limits("user:local") == UNLIMITED


async def test_a_key_has_its_weight_in_the_queue(usage):
    lookup = usage.meter_with(DEFAULTS).lookup
    assert lookup.weight(usage.bob.key.id) == 1.0
    await usage.limit(usage.bob, weight=2.5)
    assert lookup.weight(usage.bob.key.id) == 2.5


async def test_the_owner_of_a_key_is_known_also_after_it_was_revoked(usage):
    lookup = usage.meter.lookup
    owner = UsageOwner(usage.bob.account.id, "bob", usage.bob.key.prefix)
    assert lookup.owner(usage.bob.key.id) == owner
    await usage.users.revoke(usage.bob.key.id)
    usage.keys.outdated()
    await usage.keys.refresh()
    assert lookup.owner(usage.bob.key.id) == owner
    assert lookup.owner("user:local") == UsageOwner("local", "ada", "")


async def test_a_key_sees_the_models_it_may_use_and_work_without_one_all(usage):
    lookup = usage.meter_with(DEFAULTS, little="small").lookup
    usage.use(usage.bob)
    assert lookup.may_list("small")
    assert not lookup.may_list("large")
    usage.use(None)
    assert lookup.may_list("large")
