"""Edits of the tree: in place, the system message, deleting, forks, branches. The same again changes nothing more."""

from collections.abc import AsyncIterator
from itertools import count

import msgspec
import pytest

from duologue.conversations.history.editing import Editing
from duologue.errors import BadRequest, Busy, NotFound
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.values.conversations import Conversation, ImageContent, StoredMessage, TextContent
from duologue.values.runs import ListChanged, ListEvent, Run

pytestmark = pytest.mark.anyio

ROLES = {"s": "system", "u": "user", "a": "assistant", "t": "tool", "S": "system"}


class Bench:
    """A conversation `c` of ann to work on, and what the feed was told."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.told: list[tuple[str, ListEvent]] = []
        ticks = count(5000)
        self.editing = Editing(stores, now=lambda: next(ticks), publish=lambda *told: self.told.append(told))

    @property
    def store(self):
        return self.stores.of("c")

    async def grow(self, *rows: str, leaf: str | None = None, **fields: object) -> None:
        """Rows as "name<parent"; a name's first letter is its role, S a summary."""
        new = []
        for row in rows:
            name, _, parent = row.partition("<")
            kind = "summary" if name[0] == "S" else "message"
            new.append(
                StoredMessage(
                    name,
                    "c",
                    parent or None,
                    ROLES[name[0]],  # type: ignore[arg-type]
                    (TextContent(f"text of {name}"),),
                    kind=kind,  # type: ignore[arg-type]
                    **fields,  # type: ignore[arg-type]
                )
            )
        await self.store.messages.add(new, leaf=leaf)

    async def tree(self) -> str:
        return " ".join(f"{row.id}<{row.parent or ''}" for row in await self.store.messages.all("c"))

    async def leaf(self) -> str | None:
        return (await self.store.conversations.get("ann", "c")).leaf


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    ticks = count(1000)
    async with Database.memory() as durable, Database.memory() as temporary:
        bench = Bench(Stores(durable, temporary, lambda: next(ticks)))
        await bench.stores.create("ann", Conversation("c", "Bread"))
        yield bench


async def run(bench: Bench, id: str = "r") -> None:
    await bench.store.runs.begin(Run(id, "c", 1), "ann", b"{}")


# ---- beginning


async def test_a_conversation_begins_once_and_with_its_system_message(bench: Bench) -> None:
    new = Conversation("d", "New")
    kept, is_new = await bench.editing.begin("ann", new, "Be kind.")
    assert (kept.title, is_new) == ("New", True)
    again, is_new = await bench.editing.begin("ann", new, "Be kind.")
    assert (again, is_new) == (kept, False)
    (row,) = await bench.stores.of("d").messages.all("d")
    assert (row.role, row.text) == ("system", "Be kind.")
    assert bench.told.count(("ann", ListChanged("d"))) >= 1


async def test_an_id_of_somebody_else_is_taken(bench: Bench) -> None:
    with pytest.raises(BadRequest) as raised:
        await bench.editing.begin("bob", Conversation("c"))
    assert raised.value.code == "id_taken"


# ---- edits in place


async def test_an_edit_changes_the_text_and_keeps_what_follows(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", leaf="a1")
    row = await bench.editing.edit("ann", "c", "u1", [TextContent("better")])
    assert (row.text, row.edited) == ("better", 5000)
    assert await bench.tree() == "u1< a1<u1"
    assert (await bench.store.messages.get("c", "u1")).text == "better"
    assert ("ann", ListChanged("c")) in bench.told


async def test_the_same_edit_again_is_the_same_row(bench: Bench) -> None:
    await bench.grow("a1", leaf="a1")
    first = await bench.editing.edit("ann", "c", "a1", [TextContent("better")])
    assert await bench.editing.edit("ann", "c", "a1", [TextContent("better")]) == first


async def test_a_tools_answer_is_not_edited(bench: Bench) -> None:
    await bench.grow("a1", "t1<a1")
    with pytest.raises(BadRequest) as raised:
        await bench.editing.edit("ann", "c", "t1", [TextContent("x")])
    assert raised.value.code == "not_editable"


async def test_another_users_rows_are_not_there(bench: Bench) -> None:
    await bench.grow("u1", leaf="u1")
    for attempt in (
        bench.editing.edit("bob", "c", "u1", [TextContent("x")]),
        bench.editing.put_system("bob", "c", None, "x"),
        bench.editing.count_deletion("bob", "c", "u1"),
        bench.editing.delete("bob", "c", "u1"),
        bench.editing.fork("bob", "c", "f", "u1"),
        bench.editing.change("bob", "c", {"leaf": "u1"}),
        bench.editing.change("bob", "c", {"title": "mine"}),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await bench.tree() == "u1<"
    assert await bench.stores.durable.conversations.owner("f") is None


async def test_rows_of_the_running_reply_are_left_alone_and_others_are_not(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "u2<a1", leaf="u2")
    await run(bench)
    await bench.grow("a2<u2", leaf="a2", run="r", status="running")
    for attempt in (
        bench.editing.edit("ann", "c", "a2", [TextContent("x")]),
        bench.editing.delete("ann", "c", "u2"),
        bench.editing.delete("ann", "c", "u1"),
        bench.editing.put_system("ann", "c", None, "Be kind."),
        bench.editing.fork("ann", "c", "f", "a2"),
    ):
        with pytest.raises(Busy) as raised:
            await attempt
        assert (raised.value.code, raised.value.status) == ("run_in_progress", 409)
    await bench.editing.edit("ann", "c", "u1", [TextContent("fine")])
    await bench.editing.fork("ann", "c", "f", "a1")
    await bench.editing.change("ann", "c", {"leaf": "u1"})


# ---- the system message


async def test_a_system_message_comes_above_everything(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "u2", leaf="a1")
    row = await bench.editing.put_system("ann", "c", "s1", "Be kind.")
    assert row is not None
    assert (row.id, row.role, row.text) == ("s1", "system", "Be kind.")
    assert await bench.tree() == "u1<s1 a1<u1 u2<s1 s1<"
    assert await bench.leaf() == "a1"
    assert await bench.editing.put_system("ann", "c", "s1", "Be kind.") == row


async def test_a_second_text_is_an_edit_of_the_same_row(bench: Bench) -> None:
    await bench.editing.put_system("ann", "c", "s1", "Be kind.")
    row = await bench.editing.put_system("ann", "c", "s2", "Be short.")
    assert row is not None
    assert (row.id, row.text) == ("s1", "Be short.")


async def test_no_text_removes_it_and_what_is_below_moves_up(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", leaf="a1")
    await bench.editing.put_system("ann", "c", "s1", "Be kind.")
    for _ in range(2):
        assert await bench.editing.put_system("ann", "c", None, "") is None
        assert await bench.tree() == "u1< a1<u1"
        assert await bench.leaf() == "a1"


async def test_a_conversation_of_a_system_message_alone_stands_at_it_and_then_nowhere(bench: Bench) -> None:
    await bench.editing.put_system("ann", "c", "s1", "Be kind.")
    assert await bench.leaf() == "s1"
    await bench.editing.put_system("ann", "c", None, "")
    assert await bench.leaf() is None


# ---- deleting


async def test_deleting_says_first_what_goes_along(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "t1<a1", "a2<t1", "u2<a2", leaf="u2")
    counts = await bench.editing.count_deletion("ann", "c", "a1")
    assert (counts.messages, counts.user, counts.assistant, counts.tool) == (4, 1, 2, 1)
    with pytest.raises(NotFound):
        await bench.editing.count_deletion("ann", "c", "zz")


async def test_deleting_takes_everything_below_and_the_conversation_stands_at_the_newest_beside_it(
    bench: Bench,
) -> None:
    await bench.grow("u1", "a1<u1", "u2<a1", "a2<u2", "u3<a1", "a3<u3", leaf="a3")
    gone = await bench.editing.delete("ann", "c", "u3")
    assert (set(gone.deleted), gone.leaf) == ({"u3", "a3"}, "a2")
    gone = await bench.editing.delete("ann", "c", "u2")
    assert gone.leaf == "a1"
    assert await bench.tree() == "u1< a1<u1"


async def test_a_deletion_is_undone_with_all_that_went_along(bench: Bench) -> None:
    picture = ImageContent("a" * 64, "image/png")
    await bench.grow("u1", "a1<u1", "u2<a1", "a2<u2", "a3<u2", "u3<a1", leaf="a2")
    await bench.store.messages.save(
        msgspec.structs.replace(await bench.store.messages.get("c", "u2"), content=(picture,))
    )
    before = await bench.store.messages.all("c")
    await bench.editing.delete("ann", "c", "u2")
    assert await bench.tree() == "u1< a1<u1 u3<a1"
    assert [found.id for found in await bench.store.conversations.listed("ann")] == ["c"]
    for _ in range(2):
        assert (await bench.editing.restore("ann", "c", "u2")).leaf == "a2"
        assert await bench.store.messages.all("c") == before
    await bench.editing.delete("ann", "c", "u2")
    assert (await bench.editing.restore("ann", "c", "u2")).leaf == "a2"


async def test_a_whole_conversation_is_deleted_by_its_first_message_and_restored(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", leaf="a1")
    assert (await bench.editing.delete("ann", "c", "u1")).leaf is None
    assert (await bench.editing.restore("ann", "c", "u1")).leaf == "a1"
    assert await bench.tree() == "u1< a1<u1"


async def test_a_restored_branch_that_was_not_shown_is_not_shown(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "a2<u1", leaf="a2")
    await bench.editing.delete("ann", "c", "a1")
    assert (await bench.editing.restore("ann", "c", "a1")).leaf == "a2"


async def test_what_cannot_be_restored_says_so(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "u2<a1", leaf="u2")
    await bench.editing.delete("ann", "c", "u2")
    await bench.editing.delete("ann", "c", "a1")
    for message in ("u2", "never"):
        with pytest.raises(NotFound) as raised:
            await bench.editing.restore("ann", "c", message)
        assert raised.value.code == "message_gone"
    await bench.editing.restore("ann", "c", "a1")
    await bench.editing.restore("ann", "c", "u2")
    assert await bench.tree() == "u1< a1<u1 u2<a1"
    with pytest.raises(NotFound):
        await bench.editing.restore("bob", "c", "u2")


async def test_what_was_deleted_is_removed_for_good_with_deleted_conversations(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", leaf="a1")
    await bench.editing.delete("ann", "c", "a1")
    assert len(await bench.store.conversations.purge(-10_000)) == 1
    with pytest.raises(NotFound):
        await bench.editing.restore("ann", "c", "a1")
    assert await bench.tree() == "u1<"


async def test_deleting_another_branch_leaves_the_conversation_where_it_is(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "a2<u1", leaf="a2")
    assert (await bench.editing.delete("ann", "c", "a1")).leaf == "a2"


async def test_deleting_again_is_no_error(bench: Bench) -> None:
    await bench.grow("u1", leaf="u1")
    await bench.editing.delete("ann", "c", "u1")
    gone = await bench.editing.delete("ann", "c", "u1")
    assert (gone.deleted, gone.leaf) == ((), None)


async def test_a_summary_goes_alone_and_its_children_move_up(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "S1<a1", "u2<S1", "u3<S1", leaf="u3")
    assert (await bench.editing.count_deletion("ann", "c", "S1")).messages == 1
    gone = await bench.editing.delete("ann", "c", "S1")
    assert (gone.deleted, gone.leaf) == (("S1",), "u3")
    assert await bench.tree() == "u1< a1<u1 u2<a1 u3<a1"


async def test_a_system_message_goes_alone_too(bench: Bench) -> None:
    await bench.grow("u1", leaf="u1")
    await bench.editing.put_system("ann", "c", "s1", "Be kind.")
    assert (await bench.editing.delete("ann", "c", "s1")).deleted == ("s1",)
    assert await bench.tree() == "u1<"


# ---- forks


async def test_a_fork_copies_the_path_up_to_the_message(bench: Bench) -> None:
    await bench.grow("s1", "u1<s1", "a1<u1", "u2<a1", "a2<u1", leaf="u2")
    fork = await bench.editing.fork("ann", "c", "f", "a1")
    assert (fork.id, fork.title, fork.forked_from) == ("f", "Bread (2)", "c")
    copies = await bench.stores.of("f").messages.all("f")
    assert [row.text for row in copies] == ["text of s1", "text of u1", "text of a1"]
    assert not {row.id for row in copies} & {"s1", "u1", "a1"}
    assert fork.leaf == copies[-1].id
    assert [row.parent for row in copies] == [None, copies[0].id, copies[1].id]


async def test_the_same_fork_again_is_the_one_that_is_there(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", leaf="a1")
    fork = await bench.editing.fork("ann", "c", "f", "a1", "Mine")
    assert fork.title_source == "user"
    assert await bench.editing.fork("ann", "c", "f", "a1", "Mine") == fork
    assert len(await bench.stores.of("f").messages.all("f")) == 2


async def test_forks_have_titles_of_their_own(bench: Bench) -> None:
    await bench.grow("u1", leaf="u1")
    await bench.editing.fork("ann", "c", "f", "u1")
    (row,) = await bench.stores.of("f").messages.all("f")
    assert (await bench.editing.fork("ann", "c", "g", "u1")).title == "Bread (3)"
    assert (await bench.editing.fork("ann", "f", "h", row.id)).title == "Bread (4)"


async def test_a_fork_shares_files_and_forgets_the_runs(bench: Bench) -> None:
    picture = ImageContent("a" * 64, "image/png")
    row = StoredMessage("u1", "c", None, "user", (picture,), run="r9")
    await bench.store.messages.add([row], leaf="u1")
    await bench.editing.fork("ann", "c", "f", "u1")
    (copy,) = await bench.stores.of("f").messages.all("f")
    assert (copy.content, copy.run) == ((picture,), "")


async def test_a_fork_does_not_take_an_id_that_is_used(bench: Bench) -> None:
    await bench.grow("u1", leaf="u1")
    await bench.stores.create("ann", Conversation("d"))
    with pytest.raises(BadRequest) as raised:
        await bench.editing.fork("ann", "c", "d", "u1")
    assert raised.value.code == "id_taken"


async def test_a_fork_of_a_temporary_conversation_is_temporary(bench: Bench) -> None:
    await bench.stores.create("ann", Conversation("temp", temporary=True))
    await bench.stores.of("temp").messages.add([StoredMessage("u1", "temp", None, "user")], leaf="u1")
    fork = await bench.editing.fork("ann", "temp", "f", "u1")
    assert fork.temporary
    assert bench.stores.is_temporary("f")
    assert await bench.stores.durable.conversations.owner("f") is None


# ---- branches


async def test_a_branch_is_switched_to_its_newest_leaf(bench: Bench) -> None:
    await bench.grow("u1", "a1<u1", "u2<a1", "a2<u1", leaf="a2")
    assert (await bench.editing.change("ann", "c", {"leaf": "a1"})).leaf == "u2"
    with pytest.raises(BadRequest) as raised:
        await bench.editing.change("ann", "c", {"leaf": "zz"})
    assert raised.value.code == "unknown_message"


async def test_a_title_of_the_user_is_the_users(bench: Bench) -> None:
    changed = await bench.editing.change("ann", "c", {"title": "Mine", "pinned": True})
    assert (changed.title, changed.title_source, changed.pinned) == ("Mine", "user", True)
