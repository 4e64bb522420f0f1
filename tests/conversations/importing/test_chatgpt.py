"""ChatGPT's export: the mapping of nodes as rows."""

import json
from pathlib import Path

import pytest

from duologue.conversations.importing.chatgpt import from_value, is_conversation
from duologue.conversations.importing.values import ImportedConversation, ImportProblem
from duologue.values.conversations import ImageContent, StoredToolCall, TextContent, ToolCallRecord

SAMPLE = json.loads((Path(__file__).parent / "samples" / "chatgpt.json").read_bytes())
ASSETS = {"file-Abc123": ("file-Abc123-sketch.png", b"sketch"), "file_00ff": ("file_00ff.png", b"figure")}


def sample(assets=ASSETS) -> ImportedConversation:
    found, _ = from_value(SAMPLE, "ann", assets.get)
    assert isinstance(found, ImportedConversation)
    return found


def chat(*nodes: dict, **more) -> ImportedConversation:
    """A conversation of nodes that follow each other, each with its message."""
    mapping = {
        str(number): {"id": str(number), "parent": str(number - 1) if number else None, "message": node}
        for number, node in enumerate(nodes)
    }
    [found] = from_value({"id": "c", "title": "t", "create_time": 5e8, "mapping": mapping} | more, "ann")
    assert isinstance(found, ImportedConversation)
    return found


def said(role: str, *parts: object, **more) -> dict:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role}, "content": content} | more


def test_hidden_nodes_go_and_the_branches_stay():
    found = sample()
    assert [row.role for row in found.messages] == ["user", "assistant", "tool", "assistant", "assistant"]
    ask, run, output, answer, other = found.messages
    assert [ask.parent, run.parent, output.parent, answer.parent, other.parent] == [
        None,
        ask.id,
        run.id,
        output.id,
        ask.id,
    ]
    assert found.conversation.leaf == answer.id
    assert other.model == "gpt-4o"


def test_the_conversation_keeps_title_times_and_star():
    kept = sample().conversation
    assert (kept.title, kept.title_source) == ("Plot of a sine", "user")
    assert (kept.created, kept.updated) == (1740000000250, 1740000100500)
    assert (kept.pinned, kept.archived) == (True, False)


def test_thoughts_belong_to_the_answer_that_follows():
    assert sample().messages[1].reasoning == "Choosing a library\nmatplotlib will do"


def test_code_for_a_tool_is_a_call_and_its_outputs_are_one_row():
    found = sample()
    run, output = found.messages[1:3]
    assert run.tool_calls == (StoredToolCall("call_run", "python", '{"code": "plot(sin)"}'),)
    assert run.content == ()
    assert output.call == ToolCallRecord("python", '{"code": "plot(sin)"}', state="done")
    assert output.content[0] == TextContent("<Figure>")
    assert found.files[output.content[1].blob].data == b"figure"


def test_pictures_come_from_the_archive_under_the_names_they_had():
    found = sample()
    picture, text, missing = found.messages[0].content
    assert isinstance(picture, ImageContent)
    assert (picture.name, picture.mime) == ("sketch.png", "image/png")
    assert text == TextContent("Plot it like this")
    assert "data.csv" in missing.text
    assert [trouble for trouble in found.problems if "data.csv" in trouble]


def test_without_the_archive_pictures_leave_a_note():
    found = sample({})
    assert found.files == {}
    assert found.messages[0].content[0].text == "[sketch.png: this file was not in the import]"


def test_marks_of_citations_are_taken_out():
    assert sample().messages[3].text == "Here it is."


def test_a_damaged_entry_is_named_and_the_rest_is_kept():
    found = list(from_value(SAMPLE, "ann"))
    assert isinstance(found[1], ImportProblem)
    assert "Broken" in found[1].message
    assert not is_conversation(SAMPLE[1])


def test_arguments_that_are_an_object_stay_as_they_are():
    call = said("assistant", recipient="web.run")
    call["content"] = {"content_type": "code", "text": '{"q": "tides"}'}
    row = chat(said("user", "look"), call).messages[1]
    assert row.tool_calls == (StoredToolCall("call_1", "web_run", '{"q": "tides"}'),)


def test_a_tool_nobody_called_shows_what_it_made():
    found = chat(said("user", "draw"), said("tool", "a drawing"), said("assistant", "done"))
    assert [row.role for row in found.messages] == ["user", "assistant", "assistant"]
    assert found.messages[1].text == "a drawing"


def test_a_tool_that_failed_is_told():
    error = said("tool")
    error["content"] = {"content_type": "system_error", "name": "Timeout", "text": "too slow"}
    row = chat(said("user", "x"), said("assistant", "go", recipient="python"), error).messages[2]
    assert row.call.state == "failed"
    assert row.text == "too slow"


def test_thoughts_without_an_answer_are_kept():
    thinking = {
        "author": {"role": "assistant"},
        "content": {"content_type": "thoughts", "thoughts": [{"content": "hm"}]},
    }
    found = chat(said("user", "x"), thinking)
    assert [(row.role, row.reasoning) for row in found.messages] == [("user", ""), ("assistant", "hm")]
    assert found.conversation.leaf == found.messages[-1].id


def test_spoken_words_come_as_text():
    part = {"content_type": "audio_transcription", "text": "hello there", "direction": "in"}
    assert chat(said("user", part)).messages[0].text == "hello there"


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"author": None, "content": None},
        said("user"),
        said("user", ""),
        said("assistant", None, 5),
        said("user", "x", metadata={"is_visually_hidden_from_conversation": True}),
    ],
)
def test_nodes_without_anything_to_show_are_no_rows(node):
    assert chat(node).messages == ()


def test_a_mapping_in_a_circle_is_read():
    mapping = {
        "a": {"parent": "b", "message": said("user", "one")},
        "b": {"parent": "a", "message": said("assistant", "two")},
    }
    [found] = from_value({"id": "c", "mapping": mapping}, "ann")
    assert [row.text for row in found.messages] == ["one", "two"]


def test_rows_without_a_time_have_that_of_the_conversation():
    assert chat(said("user", "x")).messages[0].created == 500_000_000_000
