"""The audit log in the database: added, read page by page, forgotten."""

import pytest

from duologue.store.accounts.audit_rows import DETAILS, TEXT, AuditRow, AuditRows

pytestmark = pytest.mark.anyio


@pytest.fixture
def rows(database):
    return AuditRows(database)


def row(at: int, act: str = "key.create", name: str = "ada", **fields) -> AuditRow:
    return AuditRow(at, name, act, user=f"user_{name}", **fields)


async def test_a_row_comes_back_as_it_was_written(rows):
    written = row(
        5, target="bob", outcome="refused", key="key_1", address="10.0.0.1", details={"status": 400}
    )
    await rows.append([written])
    (read,) = await rows.page()
    assert read.number > 0
    assert read == AuditRow(
        **{name: getattr(written, name) for name in written.__struct_fields__} | {"number": read.number}
    )


async def test_pages_go_from_the_newest_to_the_oldest_without_gap(rows):
    await rows.append([row(at) for at in range(7)])
    seen, before = [], 0
    while page := await rows.page(before=before, limit=3):
        seen += [one.at for one in page]
        before = page[-1].number
    assert seen == [6, 5, 4, 3, 2, 1, 0]


async def test_rows_are_found_by_who_acted_and_by_what_was_done(rows):
    await rows.append(
        [row(1), row(2, "key.revoke"), row(3, "model.load", "bob"), row(4, "keyboard.break"), row(5, "key_x")]
    )

    async def found(**filters):
        return [one.at for one in await rows.page(**filters)]

    assert await found(actor="bob") == await found(actor="user_bob") == [3]
    assert await found(act="key.revoke") == [2]
    assert await found(act="key.") == [2, 1]
    assert await found(act="%.") == []
    assert await found(actor="ada", act="model.load") == []


async def test_what_is_too_long_is_cut_and_does_not_fail(rows):
    await rows.append([row(1, target="x" * 999, address="y" * 99, details={"a": "z" * DETAILS})])
    (read,) = await rows.page()
    assert (len(read.target), len(read.address), read.details) == (TEXT, 64, {"left_out": True})


async def test_a_nul_in_a_name_is_no_failure(rows):
    await rows.append([row(1, target="a\0b", details={"a": "\0"})])
    (read,) = await rows.page()
    assert read.target == "ab"


async def test_old_rows_are_forgotten_and_the_oldest_beyond_the_most(rows):
    await rows.append([row(at) for at in range(10)])
    assert await rows.forget(before=3, most=100) == 3
    assert await rows.forget(before=0, most=100) == 0
    assert await rows.forget(before=0, most=2) == 5
    assert [one.at for one in await rows.page()] == [9, 8]
    await rows.append([row(11)])
    numbers = [one.number for one in await rows.page()]
    assert numbers[0] > 10, "numbers are never used again"
