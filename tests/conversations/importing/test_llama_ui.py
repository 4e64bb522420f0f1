"""Conversations of llama.cpp's page: its JSON lines and its earlier JSON."""

import json
from pathlib import Path

import pytest

from duologue.conversations.importing.llama_ui import from_lines, from_value, is_line
from duologue.conversations.importing.values import ImportedConversation, ImportProblem
from duologue.values.conversations import (
    AudioContent,
    DocumentContent,
    ImageContent,
    ResourceContent,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
    VideoContent,
)
from duologue.values.events import Timings, Usage

SAMPLES = Path(__file__).parent / "samples"


def sample() -> ImportedConversation:
    [found] = from_lines((SAMPLES / "llama_ui.jsonl").read_bytes(), "ann")
    assert isinstance(found, ImportedConversation)
    return found


def one(message: dict, **header) -> ImportedConversation:
    """A conversation of one message."""
    message = {"id": "m", "convId": "c", "role": "user", "parent": None, "content": "hi"} | message
    [found] = from_value({"conv": {"id": "c", "name": "n"} | header, "messages": [message]}, "ann")
    assert isinstance(found, ImportedConversation)
    return found


def test_the_root_row_goes_and_the_tree_stays():
    rows = sample().messages
    assert [row.role for row in rows] == ["system", "user", "assistant", "assistant", "tool", "assistant"]
    assert rows[0].parent is None
    assert {rows[2].parent, rows[3].parent} == {rows[1].id}
    assert [rows[4].parent, rows[5].parent] == [rows[3].id, rows[4].id]


def test_the_conversation_keeps_its_title_times_leaf_and_choices():
    found = sample()
    kept = found.conversation
    assert (kept.title, kept.title_source, kept.pinned) == ("Tides", "user", True)
    assert (kept.created, kept.updated) == (1785999990001, 1786000000000)
    assert kept.leaf == found.messages[-1].id
    assert kept.options.thinking is False
    assert found.problems == ()


def test_calls_thoughts_counts_and_times_come_along():
    asked, answered = sample().messages[3:5]
    assert asked.reasoning == "I should look."
    assert asked.tool_calls == (StoredToolCall("call_1", "gauge", '{"place": "Dover"}'),)
    assert (asked.usage, asked.timings) == (Usage(30, 7, 10), Timings(prefill=12.5, generate=70.0))
    assert asked.model == "small"
    assert answered.tool_call_id == "call_1"
    assert answered.call == ToolCallRecord("gauge", '{"place": "Dover"}', state="done")


def test_files_are_taken_out_of_the_rows():
    found = sample()
    text, picture, document, resource = found.messages[1].content
    assert text == TextContent("What is the tide now?")
    assert isinstance(picture, ImageContent)
    assert found.files[picture.blob].data.startswith(b"\x89PNG")
    assert isinstance(document, DocumentContent)
    assert found.files[document.blob].data == b"# Notes\nspring tide"
    assert resource == ResourceContent("harbour", "harbour://gauge", "harbour://gauge", "text/plain", "2.1 m")


@pytest.mark.parametrize(
    ("extra", "kind", "data"),
    [
        (
            {"type": "AUDIO", "name": "a", "base64Data": "UklGRg==", "mimeType": "audio/wav"},
            AudioContent,
            b"RIFF",
        ),
        ({"type": "audioFile", "name": "a", "base64Data": "UklGRg=="}, AudioContent, b"RIFF"),
        ({"type": "VIDEO", "name": "a", "base64Data": "UklGRg=="}, VideoContent, b"RIFF"),
        ({"type": "imageFile", "name": "a", "base64Url": "data:image/gif;base64,R0lG"}, ImageContent, b"GIF"),
        ({"type": "PDF", "name": "a", "base64Data": "JVBERg==", "content": "x"}, DocumentContent, b"%PDF"),
        ({"type": "PDF", "name": "a", "content": "only words"}, DocumentContent, b"only words"),
        ({"type": "context", "content": "pasted"}, DocumentContent, b"pasted"),
    ],
)
def test_every_kind_of_file_of_every_version_is_known(extra, kind, data):
    found = one({"extra": [extra]})
    content = found.messages[0].content[1]
    assert isinstance(content, kind)
    assert found.files[content.blob].data == data


def test_a_pdf_given_as_pictures_stays_so():
    extra = {"type": "PDF", "name": "a.pdf", "base64Data": "JVBERg==", "processedAsImages": True}
    found = one({"extra": [extra]})
    assert found.messages[0].content[1].given == "pages"
    assert next(iter(found.files.values())).given == "pages"


def test_a_prompt_of_a_server_comes_as_its_text():
    extra = {"type": "MCP_PROMPT", "serverName": "s", "promptName": "greet", "content": "Say hello"}
    assert one({"extra": [extra]}).messages[0].content[1] == ResourceContent(
        "s", "prompt:greet", "greet", "text/plain", "Say hello"
    )


def test_a_damaged_file_leaves_a_note_and_is_named():
    found = one({"extra": [{"type": "IMAGE", "name": "cat.png", "base64Url": "data:image/png;base64,%%%"}]})
    assert "cat.png" in found.messages[0].content[1].text
    assert "cat.png" in found.problems[0]


def test_the_first_version_had_numbers_for_ids():
    [found] = from_value(json.loads((SAMPLES / "llama_ui_first.json").read_bytes()), "ann")
    user, assistant = found.messages
    assert (user.parent, assistant.parent) == (None, user.id)
    assert found.conversation.leaf == assistant.id
    assert found.files[user.content[1].blob].data == b"pasted words"


@pytest.mark.parametrize("calls", ["not json", "", None, "[{}]", '{"a": 1}'])
def test_calls_that_are_none_are_left_out(calls):
    assert one({"role": "assistant", "toolCalls": calls}).messages[0].tool_calls == ()


def test_a_call_without_an_id_gets_one():
    [call] = one({"role": "assistant", "toolCalls": '[{"function": {"name": "f"}}]'}).messages[0].tool_calls
    assert (call.name, call.arguments) == ("f", "{}")
    assert call.id


def test_damaged_lines_and_messages_are_named_and_the_rest_is_kept():
    lines = (SAMPLES / "llama_ui.jsonl").read_bytes().splitlines()
    lines[4] = b'{"type":"message", cut'
    lines.append(b'{"neither": 1}')
    lines.append(
        b'{"message": {"id": "x", "convId": "5b1f0b6e-6f6a-4f43-9a77-0b2a9f9f1c01", "role": "narrator"}}'
    )
    *troubles, found = from_lines(b"\n".join(lines), "ann")
    assert [trouble.message.split(" is")[0] for trouble in troubles] == ["Line 5", "Line 9"]
    assert len(found.messages) == 5
    assert "narrator" in found.problems[0]


def test_lines_without_a_wrapper_and_whole_conversations_on_a_line_are_read():
    bare = [
        {"id": "c", "name": "n", "lastModified": 1, "currNode": "m"},
        {"id": "m", "role": "user", "content": "hi"},
    ]
    whole = {
        "conv": {"id": "d", "name": "o"},
        "messages": [{"id": "m", "convId": "d", "role": "user", "content": "yo"}],
    }
    found = list(from_lines("\n".join(map(json.dumps, [*bare, whole])).encode(), "ann"))
    assert {(one.conversation.title, one.messages[0].text) for one in found} == {("n", "hi"), ("o", "yo")}
    assert all(is_line(value) for value in (bare[0], whole))
    assert not is_line(bare[1])


def test_a_conversation_without_an_id_is_left_out_and_named():
    [trouble] = from_value({"conv": {"name": "Lost"}, "messages": []}, "ann")
    assert isinstance(trouble, ImportProblem)
    assert "Lost" in trouble.message


def test_a_fork_names_what_it_was_forked_from():
    first, second = one({}, id="c"), one({}, id="d", forkedFromConversationId="c")
    assert second.conversation.forked_from == first.conversation.id
