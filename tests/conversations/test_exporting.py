"""Conversations as files: what is written can be read again, by the importer and by people."""

import json
import zipfile
from hashlib import sha256
from io import BytesIO

import msgspec
import pytest

from duologue.conversations.exporting import Exported, archive, file_name, json_lines, markdown
from duologue.conversations.importing import conversations
from duologue.values.conversations import (
    AudioContent,
    Conversation,
    DocumentContent,
    Folder,
    GenerationOptions,
    ImageContent,
    ResourceContent,
    RowError,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
    VideoContent,
)
from duologue.values.events import Fitted, FittingNote, Timings, Usage
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio

DATA = [b"a picture", b"as shown", b"a document", b"its text"]
PICTURE, SHOWN, DOCUMENT, TEXT = (sha256(data).hexdigest() for data in DATA)
STORED = {sha256(data).hexdigest(): data for data in DATA}
CONVERSATION = Conversation(
    "c1",
    title="Tides & “moons”",
    title_source="user",
    created=1_750_000_000_000,
    updated=1_750_000_100_000,
    leaf="m4",
    folder="f",
    pinned=True,
    archived=True,
    tags=("sea",),
    forked_from="c0",
    options=GenerationOptions(model="m", sampling=Sampling(temperature=0.5), servers={"harbour": False}),
)
ROWS = (
    StoredMessage(
        "m1",
        "c1",
        None,
        "user",
        (
            TextContent("What is this?"),
            ImageContent(PICTURE, "image/heic", "sea.heic", SHOWN, 3, 4),
            DocumentContent(DOCUMENT, "application/pdf", "tides.pdf", TEXT),
            ResourceContent("harbour", "harbour://gauge", "gauge", text="2 m"),
        ),
        1,
        1_750_000_000_000,
    ),
    StoredMessage(
        "m2",
        "c1",
        "m1",
        "assistant",
        sequence=2,
        created=1_750_000_000_001,
        reasoning="I look.",
        tool_calls=(StoredToolCall("k", "gauge", '{"place": "Dover"}'),),
        model="small",
        finish="tool_calls",
        usage=Usage(3, 4, 1),
        timings=Timings(1.0, 2.0, 3.0, 4.0),
        run="r1",
        fitted=Fitted((), (FittingNote("messages[0].content[1]", "image", "resized", 1),)),
    ),
    StoredMessage(
        "m3",
        "c1",
        "m2",
        "tool",
        (TextContent("```\nrising\n```"), AudioContent("e" * 64, "audio/wav", "surf.wav")),
        3,
        1_750_000_000_002,
        tool_call_id="k",
        call=ToolCallRecord("gauge", '{"place": "Dover"}', "harbour", "gauge", "done", 12),
    ),
    StoredMessage("m4", "c1", "m3", "assistant", (TextContent("It rises."),), 4, 1_750_000_000_003),
    StoredMessage(
        "m5",
        "c1",
        "m1",
        "assistant",
        (TextContent("I"),),
        5,
        1_750_000_000_004,
        status="failed",
        error=RowError("model", "engine_failed", "It broke."),
    ),
)
EXPORTED = Exported(CONVERSATION, ROWS, Folder("f", "Work", created=5))


async def read(hash: str) -> bytes | None:
    return STORED.get(hash)


async def each(*exports: Exported):
    for exported in exports:
        yield exported


async def lines(exported: Exported = EXPORTED) -> bytes:
    return b"".join([line async for line in json_lines(exported, read)])


async def zipped(*exports: Exported) -> bytes:
    return b"".join([piece async for piece in archive(each(*exports), read)])


@pytest.fixture(params=["lines", "zip"])
async def written(request) -> bytes:
    return await lines() if request.param == "lines" else await zipped(EXPORTED)


async def test_what_is_written_is_read_again_exactly(written):
    [found] = conversations(written, "ann")
    assert found.conversation == CONVERSATION
    assert found.messages[:2] == ROWS[:2]
    assert found.messages[3:] == ROWS[3:]
    assert found.folder == EXPORTED.folder
    assert {hash: file.data for hash, file in found.files.items()} == STORED


async def test_names_and_kinds_of_files_come_along(written):
    [found] = conversations(written, "ann")
    assert (found.files[PICTURE].name, found.files[PICTURE].mime) == ("sea.heic", "image/heic")
    assert (found.files[DOCUMENT].name, found.files[DOCUMENT].mime) == ("tides.pdf", "application/pdf")


async def test_a_file_that_is_gone_is_noted_when_it_is_read(written):
    [found] = conversations(written, "ann")
    assert "surf.wav" in found.messages[2].content[1].text
    assert "surf.wav" in found.problems[0]


async def test_every_line_is_json_and_says_what_it_is():
    kinds = [json.loads(line)["type"] for line in (await lines()).splitlines()]
    assert kinds == ["conversation", *["message"] * 5, *["file"] * 4]


async def test_an_archive_holds_each_file_once_and_every_conversation():
    other = msgspec.structs.replace(
        EXPORTED, conversation=msgspec.structs.replace(CONVERSATION, id="c1-again")
    )
    data = await zipped(EXPORTED, other, other)
    with zipfile.ZipFile(BytesIO(data)) as source:
        assert source.testzip() is None
        names = source.namelist()
    assert len(names) == len(set(names)) == 4 + 3
    assert sum(name.startswith("files/") for name in names) == 4
    assert [one.conversation.id for one in conversations(data, "ann")] == ["c1", "c1-again", "c1-again"]


async def test_an_empty_archive_is_a_zip_all_the_same():
    assert zipfile.ZipFile(BytesIO(await zipped())).namelist() == []


async def test_the_same_conversations_make_the_same_archive():
    assert await zipped(EXPORTED) == await zipped(EXPORTED)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Tides", "Tides-c1.md"),
        ("", "conversation-c1.md"),
        ("../a/b: c?", "a-b-c-c1.md"),
        ("Gezeiten für Anfänger", "Gezeiten-für-Anfänger-c1.md"),
        ("x" * 500, f"{'x' * 60}-c1.md"),
    ],
)
def test_a_files_name_is_taken_by_every_system(title, name):
    assert file_name(Conversation("c1", title=title), "md") == name


def test_markdown_is_the_branch_as_people_read_it():
    assert (
        markdown(CONVERSATION, ROWS[:4])
        == """# Tides & “moons”

*2025-06-15 15:06 UTC*

## You

What is this?

*Picture:* `sea.heic` (image/heic)

*Document:* `tides.pdf` (application/pdf)

*Resource:* `gauge` (harbour)

## Assistant (small)

<details>
<summary>Reasoning</summary>

I look.

</details>

**Tool: `gauge`**

```json
{"place": "Dover"}
```

````
```
rising
```
````

*Recording:* `surf.wav` (audio/wav)

## Assistant

It rises.
"""
    )


def test_markdown_says_how_a_reply_ended():
    assert "> This reply failed: It broke." in markdown(CONVERSATION, (ROWS[0], ROWS[4]))
    for status in ("stopped", "interrupted"):
        row = StoredMessage("a", "c", None, "assistant", (TextContent("half"),), status=status)
        assert f"> This reply was {status}." in markdown(CONVERSATION, (row,))


def test_markdown_of_what_is_unusual():
    rows = (
        StoredMessage("s", "c", None, "system", (TextContent("Be brief."),)),
        StoredMessage("z", "c", "s", "assistant", (TextContent("In short."),), kind="summary"),
        StoredMessage("v", "c", "z", "user", (VideoContent("h", "video/mp4", "a`b.mp4"),)),
        StoredMessage("t", "c", "v", "tool", (TextContent("alone"),), tool_call_id="nobody"),
        StoredMessage(
            "d",
            "c",
            "t",
            "assistant",
            tool_calls=(StoredToolCall("k", "go", "{}"), StoredToolCall("l", "no", "{}")),
        ),
        StoredMessage("e", "c", "d", "tool", tool_call_id="k", call=ToolCallRecord("go", state="denied")),
    )
    text = markdown(Conversation("c"), rows)
    assert text.startswith("# Conversation\n\n## System\n\nBe brief.\n\n## Summary\n\nIn short.")
    assert "*Video:* `` a`b.mp4 `` (video/mp4)" in text
    assert "## Tool\n\nalone" in text
    assert "**Tool: `go`**\n\n*denied*\n\n**Tool: `no`**\n" in text
