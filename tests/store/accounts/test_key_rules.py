"""Which key is meant, and that an admin can always come in."""

import pytest

from duologue.errors import BadRequest, NotFound
from duologue.store.accounts.key_rules import checked_end, one_key
from duologue.store.users import Users

pytestmark = pytest.mark.anyio


@pytest.fixture
def users(database, clock):
    return Users(database, clock)


async def test_a_key_is_named_by_its_id_or_by_a_user_who_has_one(users, database):
    ada = await users.add_key("ada")
    async with database.reading() as connection:
        assert await one_key(connection, "ada") == await one_key(connection, ada.key.id) == ada.key.id
        with pytest.raises(NotFound):
            await one_key(connection, "bob")
    other = await users.add_key("ada", label="laptop")
    async with database.reading() as connection:
        with pytest.raises(BadRequest, match=r"laptop") as caught:
            await one_key(connection, "ada")
        assert caught.value.code == "key_ambiguous"
        assert ada.key.id in caught.value.message
        assert await one_key(connection, other.key.id) == other.key.id
    await users.revoke(ada.key.id)
    async with database.reading() as connection:
        assert await one_key(connection, "ada") == other.key.id
        with pytest.raises(BadRequest) as caught:
            await one_key(connection, ada.key.id)
        assert caught.value.code == "key_revoked"


async def test_an_end_that_has_passed_is_refused():
    assert checked_end(0, 5) == 0
    assert checked_end(6, 5) == 6
    with pytest.raises(BadRequest):
        checked_end(5, 5)
