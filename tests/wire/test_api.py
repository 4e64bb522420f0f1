"""The bodies of the conversations API: what is refused, and by which sentence."""

from typing import Any

import pytest

from duologue.errors import BadRequest, TooLarge
from duologue.values.conversations import GenerationOptions, ResourceContent, TextContent
from duologue.values.requests import Sampling
from duologue.wire import api

TEXT = {"type": "text", "text": "hello"}
SEND = {"verb": "send", "run": "r1", "message": {"id": "m1", "content": [TEXT]}}
HASH = "0123456789abcdef" * 4


def test_a_conversation_needs_nothing() -> None:
    asked = api.read(api.NewConversationBody, {})
    assert (asked.id, asked.title, asked.temporary) == (None, "", False)
    assert asked.options.options() == GenerationOptions()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"id": "a b"}, "id must be 1 to 64 characters of A-Z a-z 0-9 _ -."),
        ({"id": ""}, "id must be 1 to 64 characters of A-Z a-z 0-9 _ -."),
        ({"id": "x" * 65}, "id must be 1 to 64 characters of A-Z a-z 0-9 _ -."),
        ({"id": "ä"}, "id must be 1 to 64 characters of A-Z a-z 0-9 _ -."),
        ({"titel": "x"}, "titel is not a known field."),
        ({"temporary": 1}, "temporary must be true or false."),
        (
            {"options": {"sampling": {"temperature": 500}}},
            "options.sampling.temperature must be a number from 0 to 100.",
        ),
        ({"options": {"sampling": {"temperatur": 1}}}, "options.sampling.temperatur is not a known field."),
        ({"options": {"max_turns": 0}}, "options.max_turns must be a whole number from 1 to 1,000."),
        ({"tags": 3}, "tags must be a list."),
    ],
)
def test_what_is_wrong_with_a_conversation_is_said_by_its_field(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRequest) as raised:
        api.read(api.NewConversationBody, body)
    assert raised.value.message == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"verb": "zap"}, "verb must be one of send, regenerate, continue, edit."),
        ({"verb": None}, "verb must be one of send, regenerate, continue, edit."),
        ({"run": "no no"}, "run must be 1 to 64 characters of A-Z a-z 0-9 _ -."),
        ({"message": {"id": "m", "content": []}}, "message.content must not be empty."),
        (
            {"message": {"id": "m", "content": [{"type": "x"}]}},
            "message.content[0].type must be one of text, file, resource.",
        ),
        (
            {"message": {"id": "m", "content": [{"type": "file", "blob": "../../etc"}]}},
            "message.content[0].blob must be the hash of a stored file: 64 characters of 0-9 a-f.",
        ),
        ({"busy": "wait"}, "busy must be one of refuse, queue or steer."),
        ({"new": {}}, "new is not a known field."),
    ],
)
def test_what_is_wrong_with_a_verb_is_said_by_its_field(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRequest) as raised:
        api.read_run(SEND | change)
    assert raised.value.message == sentence


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (SEND, api.SendBody),
        ({"verb": "regenerate", "run": "r", "message": "m"}, api.RegenerateBody),
        ({"verb": "continue", "run": "r", "message": "m"}, api.ContinueBody),
        ({"verb": "edit", "run": "r", "message": "m", "new": {"id": "n", "content": [TEXT]}}, api.EditBody),
    ],
)
def test_each_verb_is_read_as_what_it_is(body: dict[str, Any], kind: type[object]) -> None:
    assert isinstance(api.read_run(body), kind)


def test_a_parent_that_is_null_is_told_from_one_that_is_absent() -> None:
    assert "parent" not in api.read_run(SEND).model_fields_set
    assert "parent" in api.read_run(SEND | {"parent": None}).model_fields_set


def test_a_change_names_only_what_was_sent() -> None:
    assert api.read(api.ConversationChangeBody, {"folder": None, "pinned": True}).named() == {
        "folder": None,
        "pinned": True,
    }


def test_options_become_values_under_any_of_their_names() -> None:
    asked = api.read(
        api.OptionsBody,
        {
            "model": "m",
            "sampling": {"repeat_penalty": 1.5, "max_tokens": 9, "stop": ["x"]},
            "servers": {"a": False},
            "effort": "low",
        },
    )
    assert asked.options() == GenerationOptions(
        model="m",
        sampling=Sampling(max_tokens=9, repetition_penalty=1.5),
        stop=("x",),
        servers={"a": False},
        effort="low",
    )


def test_an_effort_is_one_of_three_words_or_none() -> None:
    assert api.read(api.OptionsBody, {"effort": None}).options().effort is None
    with pytest.raises(BadRequest, match="effort must be one of low, medium or high"):
        api.read(api.OptionsBody, {"effort": "minimal"})


def test_a_draft_holds_text_and_files_and_whatever_else() -> None:
    draft = api.read(api.DraftBody, {"text": "x", "files": [{"blob": HASH}], "caret": 3})
    assert (draft.text, len(draft.files)) == ("x", 1)
    with pytest.raises(BadRequest, match="files must be a list"):
        api.read(api.DraftBody, {"files": "x"})


def test_parts_that_are_no_files_become_content() -> None:
    parts = api.read(
        api.ContentChangeBody, {"content": [TEXT, {"type": "resource", "server": "s", "uri": "u"}]}
    ).content
    assert [api.plain_content(part) for part in parts] == [  # type: ignore[arg-type]
        TextContent("hello"),
        ResourceContent("s", "u"),
    ]


def test_a_message_may_bring_so_much_text_and_so_many_files() -> None:
    text = api.read(api.ContentChangeBody, {"content": [{"type": "text", "text": "ä" * 600_000}]}).content
    with pytest.raises(TooLarge, match=r"limits\.text_mb"):
        api.check_contents(text, text_mb=1, attachments=1)
    api.check_contents(text, text_mb=2, attachments=1)
    files = api.read(api.ContentChangeBody, {"content": [{"type": "file", "blob": HASH}] * 3}).content
    with pytest.raises(TooLarge, match=r"3 files; at most 2"):
        api.check_contents(files, text_mb=1, attachments=2)


def test_a_body_nested_too_deeply_is_refused() -> None:
    values: dict[str, Any] = {}
    for _ in range(3000):
        values = {"x": values}
    with pytest.raises(BadRequest, match="too deeply nested"):
        api.read(api.ApprovalAnswerBody, {"action": "accept", "values": values})
