"""Open WebUI's export: chats with a tree, and blocks inside answers."""

import json
from pathlib import Path
from time import process_time

import pytest

from duologue.conversations.importing.open_webui import from_value, is_chat
from duologue.conversations.importing.values import ImportedConversation, ImportProblem
from duologue.values.conversations import DocumentContent, ImageContent, RowError, StoredToolCall
from duologue.values.events import Usage

SAMPLE = json.loads((Path(__file__).parent / "samples" / "open_webui.json").read_bytes())


def sample() -> ImportedConversation:
    conversation = next(from_value(SAMPLE, "ann"))
    assert isinstance(conversation, ImportedConversation)
    return conversation


def answer(content: str, **more) -> tuple:
    """The rows of one answer."""
    message = {"id": "a", "parentId": None, "role": "assistant", "content": content} | more
    chat = {"id": "c", "chat": {"history": {"messages": {"a": message}, "currentId": "a"}}}
    [found] = from_value(chat, "ann")
    return found.messages


def block(kind: str, body: str = "", **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<details type="{kind}" done="true"{written}>\n<summary>S</summary>\n{body}\n</details>\n'


def test_the_tree_hangs_below_the_system_prompt():
    found = sample()
    rows = found.messages
    assert [row.role for row in rows] == [
        *("system", "user", "assistant", "assistant", "tool", "assistant", "user", "assistant")
    ]
    assert rows[0].text == "Answer in one line."
    places = {row.id: place for place, row in enumerate(rows)}
    assert [row.parent and places[row.parent] for row in rows] == [None, 0, 1, 1, 3, 4, 5, 6]
    assert found.conversation.leaf == rows[-1].id


def test_the_conversation_keeps_folder_tags_pin_and_archive():
    found = sample()
    kept = found.conversation
    assert kept.tags == ("travel", "weather")
    assert (kept.pinned, kept.archived) == (True, True)
    assert (kept.created, kept.updated) == (1750000000000, 1750000200000)
    assert found.folder.id == kept.folder
    assert found.folder.name == "Imported folder 1"


def test_a_folder_with_a_name_keeps_it_and_holds_all_of_its_chats():
    chats = [
        {
            "id": str(number),
            "folder_id": "f",
            "folder": {"name": "Work"},
            "chat": {"messages": [], "models": []},
        }
        for number in range(2)
    ]
    first, second = from_value(chats, "ann")
    assert first.folder == second.folder
    assert first.folder.name == "Work"


def test_blocks_of_an_answer_become_reasoning_calls_and_results():
    asked, result, said = sample().messages[3:6]
    assert asked.reasoning == "I need the weather & the time.\nSo I ask."
    assert asked.text == "Let me look."
    assert asked.tool_calls == (StoredToolCall("call_w", "weather", '{"city": "Oslo"}'),)
    assert result.text == '{"t": -3}'
    assert (result.call.name, result.call.state) == ("weather", "done")
    assert said.text == "It is -3 degrees."
    assert (asked.usage, said.usage) == (None, Usage(40, 12))


def test_other_folded_blocks_stay_text():
    assert sample().messages[-1].text == "You are welcome. <details>this is text</details>"


def test_an_answer_without_blocks_is_not_touched():
    [row] = answer("  two\n\n  spaces \n")
    assert row.text == "  two\n\n  spaces \n"


def test_calls_side_by_side_are_of_one_turn_and_later_ones_of_the_next():
    one, two = (
        block("tool_calls", id=name, name=name, arguments="&quot;{}&quot;", result="") for name in "ab"
    )
    rows = answer(one + two + "then" + block("tool_calls", id="c", name="c") + "end")
    assert [(row.role, row.text) for row in rows] == [
        ("assistant", ""),
        ("tool", ""),
        ("tool", ""),
        ("assistant", "then"),
        ("tool", ""),
        ("assistant", "end"),
    ]
    assert [call.id for call in rows[0].tool_calls] == ["a", "b"]
    assert [row.parent for row in rows[1:]] == [row.id for row in rows[:-1]]


def test_an_answer_that_ends_with_a_call_has_no_empty_row_behind_it():
    rows = answer(block("tool_calls", id="c", name="c"))
    assert [row.role for row in rows] == ["assistant", "tool"]


def test_a_failed_answer_says_why():
    failed = sample().messages[2]
    assert failed.status == "failed"
    assert failed.error == RowError("model", "imported", "The model is not loaded.")


def test_pictures_and_what_was_read_of_documents_come_along():
    found = sample()
    _, picture, document, missing = found.messages[1].content
    assert isinstance(picture, ImageContent)
    assert found.files[picture.blob].data.startswith(b"\x89PNG")
    assert isinstance(document, DocumentContent)
    assert found.files[document.blob].data == b"It was cold."
    assert "not in the import" in missing.text
    assert len(found.problems) == 1


def test_a_chat_without_a_tree_is_a_line_of_messages():
    found = list(from_value(SAMPLE, "ann"))[1]
    assert [row.text for row in found.messages] == ["one", "two"]
    assert found.messages[1].parent == found.messages[0].id


def test_a_damaged_entry_is_named():
    found = list(from_value(SAMPLE, "ann"))[2]
    assert isinstance(found, ImportProblem)
    assert "No chat here" in found.message


@pytest.mark.parametrize("value", [None, 3, {}, {"chat": 1}, {"chat": {"messages": 1}}, {"messages": []}])
def test_other_json_is_no_chat(value):
    assert not is_chat(value)


def test_a_message_of_an_unknown_role_is_left_out_and_its_answers_move_up():
    messages = {
        "a": {"id": "a", "parentId": None, "role": "user", "content": "one"},
        "b": {"id": "b", "parentId": "a", "role": "narrator", "content": "two"},
        "c": {"id": "c", "parentId": "b", "role": "assistant", "content": "three"},
    }
    [found] = from_value({"id": "x", "history": {"messages": messages, "currentId": "c"}}, "ann")
    assert [row.text for row in found.messages] == ["one", "three"]
    assert found.messages[1].parent == found.messages[0].id
    assert "narrator" in found.problems[0]


@pytest.mark.parametrize(
    "said",
    [
        "<details>" * 50_000,
        '<details a="' * 50_000,
        "<details" + ' a="b"' * 50_000,
        "<details " + "a " * 50_000,
        '<details type="reasoning">' * 20_000 + "</details>",
        "<details>" + "<" * 50_000,
    ],
    ids=["open", "quotes", "attributes", "words", "nested", "brackets"],
)
def test_blocks_that_never_end_cost_no_more_than_their_length(said):
    began = process_time()
    rows = answer(said)
    assert process_time() - began < 2
    assert rows[0].role == "assistant"
