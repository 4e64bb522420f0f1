"""Imports end in the store: once, with their files, and without what is damaged."""

from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from duologue.config.settings import LimitSettings
from duologue.conversations import importer as importer_module
from duologue.conversations.exporting import Exported, json_lines
from duologue.conversations.files.attachments import Attachments
from duologue.conversations.files.blobs import Blobs
from duologue.conversations.importer import MOST_PROBLEMS, Importer
from duologue.conversations.importing.import_job import ConversationItem, ProblemItem
from duologue.conversations.importing.values import ImportedConversation
from duologue.errors import BadRequest, Unavailable
from duologue.store.database import Database
from duologue.store.stores import Store
from duologue.values.conversations import (
    Conversation,
    DocumentContent,
    Folder,
    ImageContent,
    StoredMessage,
    TextContent,
)

pytestmark = pytest.mark.anyio

SAMPLES = Path(__file__).parent / "importing" / "samples"


def now() -> int:
    return 1_800_000_000_000


class Place:
    """A store in memory and what stands around it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.blobs = Blobs.in_memory(store.blobs, limit=2**20, now=now)
        self.importer = Importer(store, self.blobs, Attachments(self.blobs, LimitSettings()))

    async def take(self, name: str, user: str = "ann"):
        return await self.importer.import_file(user, (SAMPLES / name).read_bytes())

    async def exported(self, user: str = "ann") -> bytes:
        [conversation] = await self.store.conversations.listed(user)
        rows = await self.store.messages.all(conversation.id)
        folders = {folder.id: folder for folder in await self.store.folders.all(user)}
        exported = Exported(conversation, rows, folders.get(conversation.folder or ""))
        return b"".join([line async for line in json_lines(exported, self.blobs.read)])


@asynccontextmanager
async def opened():
    async with Database.memory() as database:
        yield Place(Store(database, now))


@pytest.fixture
async def place():
    async with opened() as found:
        yield found


async def test_a_conversation_is_kept_with_its_tree_times_and_leaf(place):
    report = await place.take("llama_ui.jsonl")
    [id] = report.conversations
    assert (report.imported, report.skipped, report.problems) == (1, 0, ())
    kept = await place.store.conversations.get("ann", id)
    rows = await place.store.messages.all(id)
    assert (kept.title, kept.updated, kept.pinned) == ("Tides", 1786000000000, True)
    assert [row.role for row in rows] == ["system", "user", "assistant", "assistant", "tool", "assistant"]
    assert kept.leaf == rows[-1].id
    assert [row.id for row in await place.store.messages.path(id, kept.leaf)] == [
        *(rows[0].id, rows[1].id, rows[3].id, rows[4].id, rows[5].id)
    ]


async def test_files_become_what_a_model_can_be_given(place):
    report = await place.take("llama_ui.jsonl")
    rows = await place.store.messages.all(report.conversations[0])
    _, picture, document, _ = rows[1].content
    assert isinstance(picture, ImageContent)
    assert (picture.width, picture.height, picture.name) == (1, 1, "sea.png")
    assert isinstance(document, DocumentContent)
    assert (await place.blobs.read(document.text or document.blob)) == b"# Notes\nspring tide"
    assert (await place.blobs.get("ann", picture.blob)).name == "sea.png"


async def test_the_same_file_again_changes_nothing(place):
    first = await place.take("open_webui.json")
    again = await place.take("open_webui.json")
    assert (first.imported, first.skipped) == (2, 0)
    assert (again.imported, again.skipped, again.conversations) == (0, 2, ())
    assert [problem for problem in again.problems if "No chat here" in problem]
    assert len(await place.store.folders.all("ann")) == 1


async def test_another_user_gets_a_copy_of_their_own(place):
    mine = await place.take("chatgpt.json")
    theirs = await place.take("chatgpt.json", "bob")
    assert theirs.imported == 1
    assert not set(mine.conversations) & set(theirs.conversations)


async def test_what_was_deleted_a_moment_ago_comes_back(place):
    [id] = (await place.take("llama_ui.jsonl")).conversations
    await place.store.conversations.delete("ann", id)
    assert (await place.take("llama_ui.jsonl")).conversations == (id,)
    assert (await place.store.conversations.get("ann", id)).deleted == 0


async def test_damaged_entries_and_missing_files_are_named(place):
    report = await place.take("chatgpt.json")
    assert report.imported == 1
    assert [problem.split(" (")[0] for problem in report.problems] == [
        "“Plot of a sine”: sketch.png",
        "“Plot of a sine”: data.csv",
        "“Plot of a sine”: A picture",
        "“Broken” is damaged and was left out.",
    ]


async def test_a_file_that_is_not_what_it_says_leaves_a_note(place):
    lines = (
        (SAMPLES / "llama_ui.jsonl").read_text().replace("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf", "AAAA")
    )
    report = await place.importer.import_file("ann", lines.encode())
    rows = await place.store.messages.all(report.conversations[0])
    assert "sea.png" in rows[1].content[1].text
    assert "sea.png" in report.problems[0]


async def test_our_own_export_comes_back_exactly_on_another_server(place):
    await place.take("llama_ui.jsonl")
    data = await place.exported()
    [conversation] = await place.store.conversations.listed("ann")
    rows = await place.store.messages.all(conversation.id)
    async with opened() as other:
        report = await other.importer.import_file("ann", data)
        assert report.problems == ()
        assert await other.store.conversations.get("ann", conversation.id) == conversation
        assert await other.store.messages.all(conversation.id) == rows
        assert await other.exported() == data


async def test_our_own_export_is_skipped_where_it_is_and_copied_for_another_user(place):
    await place.take("llama_ui.jsonl")
    data = await place.exported()
    assert (await place.importer.import_file("ann", data)).skipped == 1
    assert (await place.importer.import_file("bob", data)).imported == 1
    assert (await place.importer.import_file("bob", data)).skipped == 1
    [theirs] = await place.store.conversations.listed("bob")
    [mine] = await place.store.conversations.listed("ann")
    assert theirs.id != mine.id
    assert [row.text for row in await place.store.messages.all(theirs.id)] == [
        row.text for row in await place.store.messages.all(mine.id)
    ]


async def test_a_folder_is_found_by_its_name_or_made(place):
    await place.store.folders.put("ann", Folder("mine", "Imported folder 1"))
    [first, _] = (await place.take("open_webui.json")).conversations
    assert (await place.store.conversations.get("ann", first)).folder == "mine"
    [other, _] = (await place.take("open_webui.json", "bob")).conversations
    [made] = await place.store.folders.all("bob")
    assert (await place.store.conversations.get("bob", other)).folder == made.id


async def test_a_folder_whose_id_another_user_has_is_made_under_another(place):
    await place.take("llama_ui.jsonl")
    [conversation] = await place.store.conversations.listed("ann")
    await place.store.folders.put("ann", Folder("shared", "Work"))
    await place.store.conversations.change("ann", conversation.id, {"folder": "shared"})
    data = await place.exported()
    async with opened() as other:
        await other.store.folders.put("bob", Folder("shared", "Bob's"))
        assert (await other.importer.import_file("ann", data)).imported == 1
        [folder] = await other.store.folders.all("ann")
        assert folder.name == "Work"
        assert folder.id != "shared"


async def test_a_conversation_the_store_refuses_is_named_and_the_next_is_kept(place):
    class Picky:
        def __init__(self, messages) -> None:
            self.messages = messages

        async def copy(self, new, **more):
            if len(new) > 2:
                raise BadRequest("Too long.")
            return await self.messages.copy(new, **more)

        async def copy_all(self, user, new, **more):
            raise BadRequest("One of them is too long.")

    place.store.messages = Picky(place.store.messages)
    report = await place.importer.import_file("ann", (SAMPLES / "open_webui.json").read_bytes())
    assert report.imported == 1
    assert "“Weather in Oslo” was left out: Too long." in report.problems
    assert [one.title for one in await place.store.conversations.listed("ann", archived=True)] == []


async def test_a_store_that_cannot_keep_anything_ends_the_import(place):
    class Full:
        async def copy(self, new, **more):
            raise Unavailable("The disk is full.", code="storage_unavailable")

        copy_all = copy

    place.store.messages = Full()
    with pytest.raises(Unavailable):
        await place.importer.import_file("ann", (SAMPLES / "open_webui.json").read_bytes())


def entry(number: int, rows: int = 3, **more) -> ConversationItem:
    id = f"c{number}"
    messages = tuple(
        StoredMessage(
            f"m{at}", id, f"m{at - 1}" if at else None, "user", (TextContent(f"{id} {at}"),), created=at
        )
        for at in range(rows)
    )
    folder = Folder(f"f{number % 2}", f"Folder {number % 2}")
    conversation = Conversation(id, title=id, leaf=messages[-1].id if rows else "none", **more)
    return ConversationItem(ImportedConversation(conversation, messages, {}, folder, True, (f"About {id}.",)))


def reading(monkeypatch, *items) -> None:
    """The reader gives these items; an exception among them is raised."""

    @asynccontextmanager
    async def stream(*_, **__):
        async def given():
            for item in items:
                if isinstance(item, Exception):
                    raise item
                yield item

        yield given()

    monkeypatch.setattr(importer_module, "decode_stream", stream)


async def kept(place) -> list:
    conversations = await place.store.conversations.listed("ann")
    return [(one, await place.store.messages.all(one.id)) for one in conversations]


async def test_stored_together_or_one_by_one_the_result_is_the_same(place, monkeypatch):
    last = entry(9).conversation
    wrong = ConversationItem(
        msgspec.structs.replace(last, conversation=msgspec.structs.replace(last.conversation, leaf="other"))
    )
    items = [
        *map(entry, range(4)),
        ProblemItem("One was damaged."),
        entry(4, rows=0),
        entry(2),
        entry(5),
        wrong,
    ]
    reading(monkeypatch, *items)
    together = await place.importer.import_file("ann", b"")
    assert (together.imported, together.skipped) == (6, 1)
    assert together.problems[4:7] == ("One was damaged.", "About c4.", "About c5.")
    assert "was left out" in together.problems[7]
    async with opened() as other:
        monkeypatch.setattr(importer_module, "BATCH_ROWS", 1)
        assert await other.importer.import_file("ann", b"") == together
        assert await kept(other) == await kept(place)


async def test_what_exists_or_was_deleted_or_is_another_users_is_told_apart_among_many(place, monkeypatch):
    reading(monkeypatch, entry(1), entry(2))
    await place.importer.import_file("ann", b"")
    await place.store.conversations.delete("ann", "c2")
    reading(monkeypatch, entry(3))
    await place.importer.import_file("bob", b"")
    reading(monkeypatch, *map(entry, range(5)))
    report = await place.importer.import_file("ann", b"")
    assert (report.imported, report.skipped) == (4, 1)
    assert report.conversations[:2] == ("c0", "c2")
    assert report.conversations[2] != "c3"
    assert len(await kept(place)) == 5


async def test_what_came_before_the_end_of_a_broken_file_is_stored(place, monkeypatch):
    reading(monkeypatch, entry(1), entry(2), BadRequest("Broken.", code="import_unreadable"))
    with pytest.raises(BadRequest, match="Broken"):
        await place.importer.import_file("ann", b"")
    assert len(await kept(place)) == 2


async def test_many_conversations_take_few_transactions(place, monkeypatch):
    writing, begun = place.store.writing, []

    def counted():
        begun.append(1)
        return writing()

    monkeypatch.setattr(place.store, "writing", counted)
    reading(monkeypatch, *map(entry, range(300)))
    assert (await place.importer.import_file("ann", b"")).imported == 300
    assert len(begun) <= 4


async def test_a_file_of_nothing_is_refused(place):
    with pytest.raises(BadRequest):
        await place.importer.import_file("ann", b"hello")


async def test_a_report_names_only_so_many_problems(place):
    chat = b'{"chat": {"history": {"messages": {}}}, "id": "x"}'
    broken = b",".join([b"{}"] * (MOST_PROBLEMS + 10))
    report = await place.importer.import_file("ann", b"[" + chat + b"," + broken + b"]")
    assert len(report.problems) == MOST_PROBLEMS + 1
    assert report.problems[-1] == "And 10 more like these."
