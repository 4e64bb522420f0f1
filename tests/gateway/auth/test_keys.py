"""The keys of the settings and of the database, and how fresh the table of them is."""

import anyio
import pytest

from duologue.errors import StartFailed, Unavailable
from duologue.gateway.auth.keys import (
    FRESH_SECONDS,
    LOOK_SECONDS,
    NOTED_SECONDS,
    SHORTEST_KEY,
    Keys,
    User,
    read_key,
    short_key,
    wall_clock,
)
from duologue.store.database import Database
from duologue.store.users import Users

KEY = "swordfish-0123456789"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Watched:
    """Users whose table is read when the test says so, and who count how often it was asked for."""

    def __init__(self, users: Users) -> None:
        self.users = users
        self.reads = 0
        self.gate: anyio.Event | None = None
        self.problem: Exception | None = None

    async def register(self):
        self.reads += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.problem is not None:
            raise self.problem
        return await self.users.register()

    async def note_used(self, used):
        await self.users.note_used(used)


@pytest.fixture
async def users():
    async with Database.memory() as database:
        yield Users(database, wall_clock)


@pytest.fixture
async def watched(users):
    return Watched(users)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def keys(watched, clock):
    keys = Keys(None, clock=clock)
    await keys.use(watched)
    return keys


def test_a_key_is_known_by_its_hash_alone():
    keys = Keys(KEY)
    assert keys.required
    assert keys.user(KEY) == User("local", "admin", "local", "settings")
    assert keys.user(KEY + "x") is None
    assert keys.user("") is None
    assert KEY not in repr(vars(keys))


def test_without_a_key_no_candidate_is_one():
    assert not Keys(None).required
    assert not Keys("").required
    assert Keys(None).user("") is None


def test_without_a_key_everyone_is_an_admin():
    assert Keys(None).role("whoever") == "admin"


def test_keys_of_two_starts_hash_differently():
    assert vars(Keys(KEY))["_digest"] != vars(Keys(KEY))["_digest"]


def test_a_key_file_is_read_without_its_line_end(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert read_key(None, file) == KEY
    assert read_key(KEY, None) == KEY
    assert read_key(None, None) is None
    assert read_key("", None) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("two words", "without spaces"),
        ("two\nlines", "one line"),
        (b"\xff", "it is not text"),
    ],
)
def test_a_key_file_that_holds_no_key_says_so(tmp_path, content, sentence):
    file = tmp_path / "key"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StartFailed, match=sentence):
        read_key(None, file)


@pytest.mark.parametrize("key", [None, "", "x" * SHORTEST_KEY])
@pytest.mark.parametrize("remote", [True, False])
def test_a_key_that_nobody_guesses_is_fine_everywhere(key, remote):
    assert short_key(key, remote=remote) == ""


@pytest.mark.parametrize("key", ["a", "x" * (SHORTEST_KEY - 1)])
def test_a_key_that_can_be_guessed_is_refused_where_others_reach_the_server(key):
    with pytest.raises(StartFailed, match=f"has {len(key)} characters.*openssl rand"):
        short_key(key, remote=True)
    assert "at least 20" in short_key(key, remote=False)


def test_a_missing_key_file_and_two_keys_say_so(tmp_path):
    with pytest.raises(StartFailed, match="cannot be read: No such file"):
        read_key(None, tmp_path / "missing")
    with pytest.raises(StartFailed, match="Both a key and a key file"):
        read_key(KEY, tmp_path / "key")


def test_a_key_no_header_can_carry_is_refused_at_the_start():
    with pytest.raises(StartFailed, match="one line"):
        read_key("clé", None)


@pytest.mark.anyio
async def test_a_key_made_or_revoked_meanwhile_counts_within_a_second(keys, users, clock):
    assert not keys.required
    made = await users.add_key("ada")
    clock.now += 1
    await keys.refresh()
    assert keys.required
    assert keys.user(made.value) == User("local", "admin", "ada", made.key.id)
    assert keys.user(made.value + "x") is None
    assert keys.user("") is None
    await users.revoke("ada")
    clock.now += 1
    await keys.refresh()
    assert keys.user(made.value) is None
    assert keys.required


@pytest.mark.anyio
async def test_the_table_is_read_at_most_once_a_second_and_at_once_when_it_was_changed(keys, watched, clock):
    assert watched.reads == 1
    for _ in range(5):
        await keys.refresh()
    clock.now += FRESH_SECONDS / 2
    await keys.refresh()
    assert watched.reads == 1
    clock.now += FRESH_SECONDS / 2
    await keys.refresh()
    await keys.refresh()
    assert watched.reads == 2
    keys.outdated()
    await keys.refresh()
    await keys.refresh()
    assert watched.reads == 3


@pytest.mark.anyio
async def test_requests_that_come_while_the_table_is_read_wait_for_it_and_read_it_no_second_time(
    keys, watched, users, clock
):
    made = await users.add_key("ada")
    clock.now += 3600
    watched.gate, found = anyio.Event(), []

    async def ask():
        await keys.refresh()
        found.append(keys.user(made.value))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert found == [], "nobody is let in or turned away by an old table"
        watched.gate.set()
    assert [user.name for user in found] == ["ada"] * 3
    assert watched.reads == 2


@pytest.mark.anyio
async def test_when_the_one_who_reads_leaves_another_reads(keys, watched, users, clock):
    made = await users.add_key("ada")
    clock.now += 3600
    watched.gate, found = anyio.Event(), []

    async def ask():
        await keys.refresh()
        found.append(keys.user(made.value))

    leaving = anyio.CancelScope()

    async def read_and_leave():
        with leaving:
            await keys.refresh()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_and_leave)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        leaving.cancel()
        await anyio.wait_all_tasks_blocked()
        assert (watched.reads, found) == (3, [])
        watched.gate.set()
    assert [user.name for user in found] == ["ada"]


@pytest.mark.anyio
async def test_what_changes_while_the_table_is_read_is_read_too(keys, watched, clock):
    clock.now += 1
    watched.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keys.refresh)
        await anyio.wait_all_tasks_blocked()
        keys.outdated()
        watched.gate.set()
    assert watched.reads == 3


@pytest.mark.anyio
async def test_a_database_that_cannot_be_read_leaves_the_keys_as_they_were(
    keys, watched, users, clock, caplog
):
    made = await users.add_key("ada")
    keys.outdated()
    await keys.refresh()
    watched.problem = Unavailable("The disk is gone.", code="storage_unavailable")
    clock.now += 1
    await keys.refresh()
    assert keys.required
    assert keys.user(made.value)
    assert "The disk is gone." in caplog.text
    assert watched.reads == 3, "and it is asked again only after a while"


@pytest.mark.anyio
async def test_when_a_key_was_used_is_kept_at_once_then_once_a_minute_and_at_the_end(keys, users, clock):
    made = await users.add_key("ada")
    keys.outdated()
    await keys.refresh()

    async def used_at(moment: int, later: float) -> int:
        keys.user(made.value, moment)
        clock.now += later
        await keys.refresh()
        return (await users.keys())[0].last_used

    assert await used_at(111, 1) == 111
    assert await used_at(222, NOTED_SECONDS - 1) == 111
    assert await used_at(333, 1) == 333
    assert await used_at(444, 1) == 333
    await keys.note_used()
    assert (await users.keys())[0].last_used == 444
    await Keys("secret").note_used()


@pytest.mark.anyio
async def test_the_key_of_the_settings_is_local_beside_the_keys_of_the_database(users):
    keys = Keys(KEY)
    await keys.use(users)
    made = await users.add_key("bob")
    keys.outdated()
    await keys.refresh()
    assert keys.user(KEY) == User("local", "admin", "local", "settings")
    assert keys.user(made.value) == User(made.account.id, "user", "bob", made.key.id)
    assert keys.account(made.account.id) == User(made.account.id, "user", "bob")
    assert keys.account("nobody") is None
    assert (keys.role(made.account.id), keys.role("nobody")) == ("user", None)


@pytest.mark.anyio
async def test_a_user_without_a_valid_key_is_nobody(keys, users):
    await users.add_key("ada")
    bob = await users.add_key("bob")
    await users.revoke("bob")
    keys.outdated()
    await keys.refresh()
    assert keys.account(bob.account.id) is None
    assert keys.account("local") == User("local", "admin", "ada")


@pytest.mark.anyio
async def test_what_another_gateway_stored_a_moment_ago_is_looked_for_before_it_is_refused(
    keys, watched, clock
):
    clock.now += LOOK_SECONDS
    assert not await keys.look_again()
    assert watched.reads == 1
    keys.is_shared = True
    assert await keys.look_again()
    assert watched.reads == 2


@pytest.mark.anyio
async def test_unknown_keys_wait_for_one_read_together(keys, watched, clock):
    keys.is_shared = True
    clock.now += LOOK_SECONDS
    watched.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(keys.look_again)
        await anyio.wait_all_tasks_blocked()
        watched.gate.set()
    assert watched.reads == 2
