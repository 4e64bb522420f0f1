"""Our own lines: read back exactly, and without harm when somebody changed them."""

import json
from hashlib import sha256

import msgspec

from duologue.conversations.importing.duologue_format import (
    VERSION,
    FileLine,
    Header,
    MessageLine,
    files_of,
    from_lines,
    is_line,
    renamed,
)
from duologue.conversations.importing.values import ImportedConversation, ImportProblem
from duologue.values.conversations import (
    AudioContent,
    Content,
    Conversation,
    DocumentContent,
    Folder,
    ImageContent,
    ResourceContent,
    StoredMessage,
    TextContent,
    VideoContent,
)

PICTURE = b"a picture"
HASH = sha256(PICTURE).hexdigest()
CONVERSATION = Conversation("c1", title="Ours", created=1, updated=2, leaf="m2", folder="f", tags=("t",))
ROWS = (
    StoredMessage(
        "m1", "c1", None, "user", (TextContent("look"), ImageContent(HASH, "image/png", "p.png")), 1, 10
    ),
    StoredMessage("m2", "c1", "m1", "assistant", (TextContent("seen"),), 2, 11),
)


def written(*values, conversation=CONVERSATION, rows=ROWS, folder=None) -> bytes:
    lines = (Header(VERSION, conversation, folder), *map(MessageLine, rows), *values)
    return b"\n".join(map(msgspec.json.encode, lines))


def read(data: bytes, **more) -> ImportedConversation:
    [found] = from_lines(data, "ann", **more)
    assert isinstance(found, ImportedConversation)
    return found


def test_what_was_written_is_read_exactly():
    found = read(written(FileLine(HASH, "p.png", "image/png", PICTURE), folder=Folder("f", "Work")))
    assert found.conversation == CONVERSATION
    assert found.messages == ROWS
    assert found.folder == Folder("f", "Work")
    assert found.files[HASH].data == PICTURE
    assert (found.is_native, found.problems) == (True, ())


def test_files_may_stand_beside_the_lines():
    found = read(written(FileLine(HASH, "p.png", "image/png")), stored={HASH: PICTURE}.get)
    assert found.files[HASH].data == PICTURE


def test_a_file_that_is_missing_or_another_leaves_a_note():
    for lines in ((), (FileLine(HASH, "p.png", "image/png", b"something else"),)):
        found = read(written(*lines))
        assert found.messages[0].content[1].text == "[p.png: this file was not in the import]"
        assert "p.png" in found.problems[0]
        assert found.files == {}


def test_damaged_lines_are_named_and_what_hung_on_them_begins_a_branch():
    lines = written(FileLine(HASH, data=PICTURE)).splitlines()
    lines[1] = lines[1][:40]
    lines.insert(2, lines[0])
    found = read(b"\n".join(lines))
    assert [row.id for row in found.messages] == ["m2"]
    assert found.messages[0].parent is None
    assert [trouble.split(" is ")[0].split(" begins")[0] for trouble in found.problems] == [
        "“Ours”: line 2",
        "“Ours”: line 3",
    ]


def test_without_its_first_line_a_conversation_is_named_as_lost():
    [found] = from_lines(b"{cut\n" + written().split(b"\n", 1)[1], "ann")
    assert isinstance(found, ImportProblem)


def test_lines_of_a_newer_version_are_left_for_a_newer_program():
    [found] = from_lines(written().replace(b'"duologue":1', b'"duologue":99'), "ann")
    assert "newer" in found.message


def test_what_was_going_on_when_it_was_written_is_over():
    conversation = msgspec.structs.replace(CONVERSATION, running="r", deleted=5, leaf="gone")
    running = msgspec.structs.replace(ROWS[1], status="running")
    found = read(written(FileLine(HASH, data=PICTURE), conversation=conversation, rows=(ROWS[0], running)))
    kept = found.conversation
    assert (kept.running, kept.temporary, kept.deleted, kept.leaf) == (None, False, 0, "m2")
    assert found.messages[1].status == "interrupted"


def test_a_temporary_chat_comes_back_as_one_that_is_kept_under_another_id():
    found = read(written(conversation=msgspec.structs.replace(CONVERSATION, temporary=True)))
    assert not found.conversation.temporary
    assert found.conversation.id != CONVERSATION.id


def test_rows_in_a_circle_or_of_another_conversation_make_a_tree_all_the_same():
    rows = (StoredMessage("a", "x", "b", "user"), StoredMessage("b", "y", "a", "user"))
    found = read(written(rows=rows))
    assert [row.parent for row in found.messages] == [None, "a"]
    assert {row.conversation for row in found.messages} == {"c1"}


def test_ids_that_fit_in_no_address_are_replaced():
    rows = (StoredMessage("../../etc", "c1", None, "user"), StoredMessage("b", "c1", "../../etc", "user"))
    found = read(written(rows=rows, conversation=msgspec.structs.replace(CONVERSATION, leaf="b")))
    assert all("/" not in row.id for row in found.messages)
    assert found.messages[1].parent == found.messages[0].id
    assert found.conversation.leaf == found.messages[1].id


def test_a_renamed_conversation_is_the_same_tree_under_other_ids():
    found = read(written(FileLine(HASH, data=PICTURE), folder=Folder("f", "Work", parent="g")))
    other = renamed(found, "bob")
    assert other == renamed(found, "bob")
    assert not {row.id for row in other.messages} & {"m1", "m2"}
    assert other.messages[1].parent == other.messages[0].id
    assert other.conversation.leaf == other.messages[1].id
    assert {row.conversation for row in other.messages} == {other.conversation.id}
    assert other.conversation.folder == other.folder.id
    assert other.folder.parent is None


def test_every_file_a_part_needs_is_named_once():
    parts: dict[Content, tuple[str, ...]] = {
        TextContent("x"): (),
        ImageContent("a", "m", shown="b"): ("a", "b"),
        ImageContent("a", "m", shown="a"): ("a",),
        DocumentContent("a", "m", text="t", pages=("p", "q")): ("a", "t", "p", "q"),
        AudioContent("a", "m"): ("a",),
        VideoContent("a", "m"): ("a",),
        ResourceContent("s", "u"): (),
        ResourceContent("s", "u", blob="a"): ("a",),
    }
    for part, files in parts.items():
        assert files_of(part) == files


def test_our_lines_are_known_by_what_is_in_them():
    header, row = map(json.loads, written(rows=ROWS[1:]).splitlines())
    assert is_line(header)
    assert is_line(row)
    for other in (None, 3, {}, {"type": "conversation"}, {"type": "message", "message": {"convId": "c"}}):
        assert not is_line(other)
