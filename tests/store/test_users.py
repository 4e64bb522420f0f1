"""Users, keys and logins in the database: made, found, revoked, inherited."""

import re
from functools import partial

import pytest
from tests.support.at_once import done_before

from duologue.errors import BadRequest, NotFound, TooLarge, Unauthorized
from duologue.store import users as users_file
from duologue.store.accounts import login_rows
from duologue.store.accounts.names import checked_name
from duologue.store.database import Database
from duologue.store.users import LOCAL, Users, closed, digest_of

pytestmark = pytest.mark.anyio


class Clock:
    at = 1_000_000

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def now():
    return Clock()


@pytest.fixture
async def users(database, now):
    return Users(database, now)


async def test_a_key_is_long_and_random_and_known_by_its_digest_alone(users, database):
    made = await users.add_key("ada")
    assert re.fullmatch(r"duo_[A-Za-z0-9_-]{43}", made.value)
    assert made.key.prefix == made.value[:10]
    register = await users.register()
    assert register.keys == {digest_of(made.value): made.key}
    async with database.reading() as connection:
        rows = (await connection.exec_driver_sql("SELECT * FROM keys")).all()
    assert made.value[10:] not in repr(rows)


async def test_two_keys_of_one_user_are_two_keys_and_one_user(users):
    first, second = await users.add_key("ada"), await users.add_key("ada")
    assert first.value != second.value
    assert first.account == second.account
    assert [key.user for key in await users.keys()] == [first.account.id] * 2
    assert [account.name for account in await users.accounts()] == ["ada"]


async def test_the_first_user_is_local_and_an_admin_and_the_next_is_neither(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    assert (ada.first, ada.account.id, ada.account.name, ada.account.role) == (True, LOCAL, "ada", "admin")
    assert (bob.first, bob.account.role) == (False, "user")
    assert bob.account.id not in (LOCAL, "bob")


async def test_two_gateways_that_start_at_the_same_moment_create_local_once(both, now):
    two = Users(both[1], now)
    async with done_before(both[0], two.know_local) as (first, results):
        await Users(first, now).know_local()
    assert results == [None]
    assert [account.id for account in await two.accounts()] == [LOCAL]


async def test_who_has_the_key_of_the_settings_is_not_inherited_from(users):
    await users.know_local()
    await users.know_local()
    ada = await users.add_key("ada")
    assert (ada.first, ada.account.role) == (False, "user")
    assert ada.account.id != LOCAL
    mine = await users.add_key("local")
    assert (mine.account.id, mine.account.role) == (LOCAL, "admin")


async def test_the_name_local_stays_with_the_one_who_has_it(users):
    await users.add_key("ada")
    with pytest.raises(BadRequest, match="another name") as caught:
        await users.add_key("local")
    assert caught.value.code == "name_taken"


async def test_admin_makes_an_admin_and_promotes_one_who_is_there(users):
    await users.add_key("ada")
    assert (await users.add_key("bob")).account.role == "user"
    assert (await users.add_key("bob", admin=True)).account.role == "admin"
    assert (await users.add_key("bob")).account.role == "admin", "nobody is demoted by another key"
    assert (await users.add_key("eve", admin=True)).account.role == "admin"


@pytest.mark.parametrize("name", ["", "  ", "a" * 65, "a\x07", "\u202eada", "key_0123"])
async def test_a_name_that_cannot_be_shown_in_a_line_is_refused(users, name):
    with pytest.raises(BadRequest) as caught:
        await users.add_key(name)
    assert caught.value.param == "name"
    assert await users.accounts() == ()


def test_one_name_has_one_spelling():
    assert checked_name("  Ada \n Lovelace ") == "Ada Lovelace"
    assert checked_name("e\u0301") == "\u00e9"


async def test_a_revoked_key_is_not_in_the_register_and_stays_in_the_list(users, now):
    ada, other = await users.add_key("ada"), await users.add_key("ada")
    now.at += 5
    gone = await users.revoke(ada.key.id)
    assert [key.id for key in gone.keys] == [ada.key.id]
    assert (gone.left, gone.admins_left) == (1, 1)
    assert list((await users.register()).keys) == [digest_of(other.value)]
    assert {key.id: key.revoked for key in await users.keys()} == {ada.key.id: now.at, other.key.id: 0}


async def test_revoking_by_a_name_takes_every_key_of_theirs_and_repeated_none(users):
    for _ in range(2):
        await users.add_key("ada")
    bob = await users.add_key("bob")
    assert len((await users.revoke("ada")).keys) == 2
    again = await users.revoke("ada")
    assert again.keys == ()
    assert (again.left, again.admins_left) == (1, 0)
    assert list((await users.register()).keys) == [digest_of(bob.value)]


async def test_nothing_of_that_name_is_said(users):
    with pytest.raises(NotFound, match="'nobody'"):
        await users.revoke("nobody")


async def test_the_last_key_of_an_admin_can_be_spared(users):
    ada = await users.add_key("ada")
    await users.add_key("bob")
    with pytest.raises(BadRequest) as caught:
        await users.revoke(ada.key.id, spare_last_admin=True)
    assert caught.value.code == "last_admin_key"
    assert len((await users.register()).keys) == 2
    await users.add_key("bob", admin=True)
    assert (await users.revoke(ada.key.id, spare_last_admin=True)).admins_left == 2


async def test_a_key_revoked_is_a_door_that_stays_closed_until_all_is_forgotten(users):
    assert not (await users.register()).closed
    ada = await users.add_key("ada")
    await users.revoke(ada.key.id)
    register = await users.register()
    assert (dict(register.keys), register.closed) == ({}, True)
    assert await users.clear() == 1
    assert not (await users.register()).closed
    assert (await users.add_key("ada")).account.id == LOCAL, "what was written is still theirs"


async def test_a_login_is_its_users_until_it_ends_or_is_closed(users, now):
    await users.logins.open(b"one", LOCAL, now.at + 10)
    await users.logins.open(b"two", LOCAL, now.at + 20)
    assert {digest: login.user for digest, login in (await users.register()).logins.items()} == {
        b"one": LOCAL,
        b"two": LOCAL,
    }
    now.at += 10
    assert list((await users.register()).logins) == [b"two"]
    await users.logins.close(b"two")
    await users.logins.close(b"never was")
    assert (await users.register()).logins == {}


async def test_revoking_a_key_ends_the_logins_of_its_user_and_of_nobody_else(users, now):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    await users.logins.open(b"of ada", ada.account.id, now.at + 10)
    await users.logins.open(b"of bob", bob.account.id, now.at + 10)
    await users.revoke(ada.key.id)
    assert list((await users.register()).logins) == [b"of bob"]


async def test_too_many_logins_cost_their_own_user_the_oldest(users, now, monkeypatch):
    monkeypatch.setattr(login_rows, "MOST_OF_ONE", 2)
    await users.logins.open(b"bob", "bob", now.at + 1000)
    for digest in (b"1", b"2", b"3"):
        now.at += 1
        await users.logins.open(digest, "ada", now.at + 1000)
    assert set((await users.register()).logins) == {b"bob", b"2", b"3"}


async def test_too_many_logins_of_all_cost_the_oldest(users, now, monkeypatch):
    monkeypatch.setattr(login_rows, "MOST", 2)
    for name in ("ada", "bob", "eve"):
        now.at += 1
        await users.logins.open(name.encode(), name, now.at + 1000)
    assert set((await users.register()).logins) == {b"bob", b"eve"}


async def test_a_user_gets_another_role(users):
    await users.add_key("ada")
    bob = await users.add_key("bob")
    assert (await users.change("bob", role="admin")).role == "admin"
    assert (await users.register()).accounts[bob.account.id].role == "admin"
    assert (await users.change("bob", role="user")).role == "user"
    assert (await users.change("bob")).role == "user", "nothing said is nothing changed"


async def test_a_disabled_user_comes_in_by_nothing_and_keeps_everything(users, now):
    await users.add_key("ada")
    bob = await users.add_key("bob")
    await users.logins.open(b"of bob", bob.account.id, now.at + 100)
    now.at += 5
    assert (await users.change("bob", disabled=True)).disabled == now.at
    now.at += 5
    assert (await users.change("bob", disabled=True)).disabled == now.at - 5, "since the first time"
    register = await users.register()
    assert bob.account.id not in register.accounts
    assert digest_of(bob.value) not in register.keys
    assert len(await users.keys()) == len(await users.accounts()) == 2
    assert (await users.change("bob", disabled=False)).disabled == 0
    register = await users.register()
    assert digest_of(bob.value) in register.keys
    assert register.accounts[bob.account.id].name == "bob"


@pytest.mark.parametrize("change", [{"role": "user"}, {"disabled": True}])
async def test_the_last_admin_who_can_come_in_stays_one(users, change):
    ada, bob = await users.add_key("ada"), await users.add_key("bob", admin=True)
    eve = await users.add_key("eve", admin=True)
    await users.revoke(bob.key.id)
    await users.change("eve", disabled=True)
    with pytest.raises(BadRequest) as caught:
        await users.change("ada", **change)
    assert caught.value.code == "last_admin"
    assert (await users.register()).accounts[ada.account.id].role == "admin"
    await users.change("eve", disabled=False)
    await users.change("ada", **change)
    assert eve.account.id in (await users.register()).accounts


async def test_beside_a_key_of_the_settings_every_admin_may_go_but_its_own_user(users):
    await users.know_local()
    await users.add_key("ada", admin=True)
    assert (await users.change("ada", disabled=True, key_of_settings=True)).disabled
    for change in ({"role": "user"}, {"disabled": True}):
        with pytest.raises(BadRequest) as caught:
            await users.change("local", **change, key_of_settings=True)
        assert caught.value.code == "configured_user"


async def test_the_key_of_a_disabled_admin_is_none_that_is_left(users):
    ada = await users.add_key("ada")
    await users.add_key("bob", admin=True)
    await users.change("bob", disabled=True)
    with pytest.raises(BadRequest) as caught:
        await users.revoke(ada.key.id, spare_last_admin=True)
    assert caught.value.code == "last_admin_key"


async def test_a_user_nobody_knows_is_told_with_those_there_are(users):
    with pytest.raises(NotFound, match="There are no users yet"):
        await users.change("bob", role="admin")
    await users.add_key("ada")
    with pytest.raises(NotFound, match=r"'bob'\. There is ada") as caught:
        await users.change("bob", role="admin")
    assert caught.value.code == "user_not_found"


async def test_the_number_of_keys_has_an_end(users, monkeypatch):
    monkeypatch.setattr(users_file, "KEYS", 1)
    ada = await users.add_key("ada")
    with pytest.raises(TooLarge) as caught:
        await users.add_key("bob")
    assert caught.value.code == "too_many_keys"
    await users.revoke(ada.key.id)
    await users.add_key("bob")


async def test_of_revoked_keys_the_last_ones_stay_in_the_list(users, now, monkeypatch):
    monkeypatch.setattr(users_file, "KEYS", 2)
    revoked = []
    for _ in range(3):
        made = await users.add_key("ada")
        now.at += 1
        await users.revoke(made.key.id)
        revoked.append(made.key.id)
    assert {key.id for key in await users.keys()} == set(revoked[1:])
    assert (await users.register()).closed


async def test_when_a_key_was_last_used_is_kept(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    await users.note_used({ada.key.id: 77, "key_gone": 88})
    assert {key.id: key.last_used for key in await users.keys()} == {ada.key.id: 77, bob.key.id: 0}


async def test_whether_keys_were_made_is_seen_in_the_file_before_the_server_starts(tmp_path, now):
    assert not await closed(None, tmp_path, now=now)
    assert list(tmp_path.iterdir()) == [], "looking makes no database"
    async with Database.opened(None, tmp_path, now=now) as database:
        assert not await closed(None, tmp_path, now=now)
        ada = await Users(database, now).add_key("ada")
        assert await closed(None, tmp_path, now=now)
        await Users(database, now).revoke(ada.key.id)
    assert await closed(None, tmp_path, now=now)


async def test_a_key_survives_the_server_and_is_seen_by_the_next_one(tmp_path, now):
    async with Database.opened(None, tmp_path, now=now) as database:
        made = await Users(database, now).add_key("ada")
    async with Database.opened(None, tmp_path, now=now) as database:
        assert digest_of(made.value) in (await Users(database, now).register()).keys


async def test_a_key_has_a_label_and_an_end_and_ends_then(users, now):
    await users.add_key("ada")
    made = await users.add_key("bob", label="  lap  top ", expires=now() + 10)
    register = await users.register()
    assert (made.key.label, made.key.expires) == ("lap top", now() + 10)
    digest = digest_of(made.value)
    assert register.key(digest, now() + 9) == made.key
    assert register.key(digest, now() + 10) is None
    assert register.has_key(made.account.id, now() + 9)
    assert not register.has_key(made.account.id, now() + 10)
    assert register.has_key(LOCAL, now() + 10**12)


@pytest.mark.parametrize(("label", "expires"), [("x" * 65, 0), ("a\x07b", 0), ("", 999_999)])
async def test_a_label_nobody_can_read_and_an_end_in_the_past_are_refused(users, label, expires):
    await users.add_key("ada")
    with pytest.raises(BadRequest):
        await users.add_key("bob", label=label, expires=expires)
    assert [account.name for account in await users.accounts()] == ["ada"]


async def test_an_admin_keeps_a_key_that_does_not_expire(users, now):
    later = now() + 1000
    with pytest.raises(BadRequest) as caught:
        await users.add_key("ada", expires=later)
    assert caught.value.code == "last_admin_key"
    assert await users.keys() == ()
    await users.add_key("ada", expires=later, of_settings=True)
    lasting = await users.add_key("ada")
    await users.add_key("ada", expires=later)
    with pytest.raises(BadRequest) as caught:
        await users.reset_key(lasting.key.id, expires=later)
    assert caught.value.code == "last_admin_key"
    with pytest.raises(BadRequest) as caught:
        await users.revoke(lasting.key.id, spare_last_admin=True)
    assert caught.value.code == "last_admin_key"
    eve = await users.add_key("eve", admin=True, expires=later)
    with pytest.raises(BadRequest) as caught:
        await users.change("ada", role="user")
    assert caught.value.code == "last_admin", "an end is near, so eve does not count"
    await users.reset_key(eve.key.id, expires=0)
    assert (await users.change("ada", role="user")).role == "user"


async def test_a_reset_key_has_a_new_value_and_everything_else_stays(users, now):
    await users.add_key("ada")
    made = await users.add_key("bob", label="phone", expires=now() + 1000)
    await users.note_used({made.key.id: 5})
    await users.logins.open(b"old", made.account.id, now() + 1000)
    await users.logins.open(b"login", made.account.id, now() + 1000, key=made.key.id)
    await users.logins.open(b"laptop", made.account.id, now() + 1000, key="key_of_the_laptop")
    await users.logins.open(b"other", LOCAL, now() + 1000)
    now.at += 1
    reset = await users.reset_key("bob")
    assert reset.value != made.value
    assert (reset.key.id, reset.key.label, reset.key.expires, reset.key.created) == (
        made.key.id,
        "phone",
        made.key.expires,
        made.key.created,
    )
    assert (reset.key.prefix, reset.key.last_used) == (reset.value[:10], 0)
    register = await users.register()
    assert register.key(digest_of(made.value), now()) is None
    assert register.key(digest_of(reset.value), now()) == reset.key
    assert set(register.logins) == {b"other", b"laptop"}, "those of the key, and of no known key, ended"
    assert len(await users.keys()) == 2


async def test_an_expired_key_is_renewed_by_a_reset_with_another_end(users, now):
    await users.add_key("ada")
    made = await users.add_key("bob", expires=now() + 10)
    now.at += 20
    same = await users.reset_key(made.key.id)
    assert (await users.register()).key(digest_of(same.value), now()) is None
    renewed = await users.reset_key(made.key.id, expires=now() + 10)
    assert (await users.register()).key(digest_of(renewed.value), now()) == renewed.key


async def test_a_user_is_renamed_and_keeps_everything(users):
    await users.add_key("ada")
    bob = await users.add_key("bob")
    assert (await users.change("bob", new_name=" Robert ")).name == "Robert"
    assert (await users.named("Robert")).id == bob.account.id
    assert (await users.register()).keys[digest_of(bob.value)].user == bob.account.id
    for taken in ("ada", "local"):
        with pytest.raises(BadRequest) as caught:
            await users.change("Robert", new_name=taken)
        assert caught.value.code == "name_taken"
    with pytest.raises(BadRequest):
        await users.change("Robert", new_name="key_x")
    assert (await users.change("ada", new_name="local")).name == "local"
    with pytest.raises(NotFound):
        await users.named("bob")


async def test_a_login_knows_where_it_is_and_ends_when_it_is_told(users, now):
    await users.logins.open(b"login", LOCAL, now() + 10, address="10.0.0.1", agent="Firefox, Linux")
    (login,) = await users.logins.all(LOCAL)
    assert (login.address, login.agent, login.last_seen) == ("10.0.0.1", "Firefox, Linux", now())


async def test_a_workers_key_has_a_user_of_its_own_and_comes_after_an_admins(users):
    with pytest.raises(BadRequest) as first:
        await users.add_key("box", worker=True)
    assert first.value.code == "admin_key_first"
    await users.add_key("ada")
    box = await users.add_key("box", worker=True)
    assert (box.account.role, box.first) == ("worker", False)
    assert box.account.id != LOCAL
    for wrong in (
        users.add_key("ada", worker=True),
        users.add_key("box", admin=True),
        users.change("box", role="admin"),
    ):
        with pytest.raises(BadRequest) as apart:
            await wrong
        assert apart.value.code == "worker_apart"
    assert (await users.add_key("box")).account.role == "worker"
    with pytest.raises(BadRequest):
        await users.add_key(LOCAL, worker=True)


async def with_two_admins(both, now):
    """Users at the first gateway, with the admins ada and bob; and those at the second."""
    one, two = (Users(database, now) for database in both)
    await one.add_key("ada")
    await one.add_key("bob", admin=True)
    return one, two


@pytest.mark.parametrize("change", [{"role": "user"}, {"disabled": True}])
async def test_of_the_last_two_admins_only_one_is_changed_at_two_gateways_at_once(both, now, change):
    _, two = await with_two_admins(both, now)
    async with done_before(both[0], lambda: two.change("bob", **change)) as (first, results):
        await Users(first, now).change("ada", **change)
    assert results[0].code == "last_admin"


async def test_of_the_last_two_keys_of_admins_only_one_is_revoked_at_two_gateways_at_once(both, now):
    _, two = await with_two_admins(both, now)
    async with done_before(both[0], lambda: two.revoke("bob", spare_last_admin=True)) as (first, results):
        await Users(first, now).revoke("ada", spare_last_admin=True)
    assert results[0].code == "last_admin_key"


async def test_a_key_that_is_revoked_at_one_gateway_stays_so_while_another_resets_it(both, now):
    one, two = await with_two_admins(both, now)
    eve = await one.add_key("eve")
    async with done_before(both[0], lambda: two.reset_key(eve.key.id)) as (first, results):
        await Users(first, now).revoke(eve.key.id)
    assert results[0].code == "key_revoked"
    assert (await one.key(eve.key.id)).revoked == now()


async def test_limits_of_one_key_that_two_gateways_change_at_once_are_both_kept(both, now):
    one, two = await with_two_admins(both, now)
    eve = (await one.add_key("eve")).key.id
    async with done_before(both[0], lambda: two.limit(eve, {"tokens_per_day": 9})) as (first, _):
        await Users(first, now).limit(eve, {"concurrent": 2})
    limits = (await one.key(eve)).limits
    assert (limits.concurrent, limits.tokens_per_day) == (2, 9)


async def test_a_name_that_two_gateways_give_at_once_is_given_once(both, now):
    _, two = await with_two_admins(both, now)
    async with done_before(both[0], lambda: two.change("bob", new_name="eve")) as (first, results):
        await Users(first, now).add_key("eve")
    assert results[0].code == "name_taken"


async def test_a_key_that_another_gateway_revokes_or_resets_at_that_moment_opens_no_login(both, now):
    one, two = await with_two_admins(both, now)
    eve = await one.add_key("eve")
    await one.add_key("eve")
    entered = {"key": eve.key.id, "secret": digest_of(eve.value)}
    for act in (lambda users: users.reset_key(eve.key.id), lambda users: users.revoke(eve.key.id)):
        log_in = partial(two.logins.open, b"login", eve.account.id, now() + 1000, **entered)
        async with done_before(both[0], log_in) as (first, results):
            await act(Users(first, now))
        assert isinstance(results[0], Unauthorized)
        assert (await one.register()).logins == {}
