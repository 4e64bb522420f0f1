"""Descriptions for /docs of bodies that the framework does not read."""

import json

from duologue.http.openapi import documented, form_body, json_body
from duologue.values.conversations import StoredMessage
from duologue.values.runs import RunEvent
from duologue.wire import api
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.transcripts import TranscriptionFields


def test_a_json_body_shows_every_field_and_no_reference():
    described = dict(
        json_body(ChatCompletionBody, "application/json", "text/event-stream", description="A reply.").items()
    )
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    assert {"messages", "audio", "modalities"} <= set(schema["properties"])
    assert "$ref" not in json.dumps(schema)
    assert described["responses"]["200"]["description"] == "A reply."
    assert set(described["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}


def test_a_json_body_says_the_types_of_its_answer_and_of_the_events_of_a_stream() -> None:
    described = dict(
        json_body(
            ChatCompletionBody,
            "application/json",
            "text/event-stream",
            answers=StoredMessage,
            chunks=RunEvent,
        ).items()
    )
    content = described["responses"]["200"]["content"]
    assert content["application/json"]["schema"]["title"] == "StoredMessage"
    assert len(content["text/event-stream"]["schema"]["anyOf"]) == 12


def test_a_form_needs_its_file():
    schema = form_body(TranscriptionFields)["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert schema["required"] == ["file"]
    assert {"file", "model", "response_format", "stream"} <= set(schema["properties"])


def test_the_documentation_says_all_of_a_route() -> None:
    description = dict(
        documented(
            body=(api.SendBody, api.EditBody), answers=StoredMessage, query={"leaf": "the branch"}
        ).items()
    )
    bodies = description["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert [body["title"] for body in bodies] == ["SendBody", "EditBody"]
    answer = description["responses"]["200"]["content"]["application/json"]["schema"]
    assert {"id", "conversation", "parent", "role"} <= set(answer["required"])
    assert description["parameters"][0]["name"] == "leaf"
    assert "$ref" not in str(description)


def test_a_union_of_events_is_documented_with_each_of_them() -> None:
    description = documented(answers=RunEvent, media="text/event-stream")
    assert description, "it is there before it is made"
    schema = dict(description.items())["responses"]["200"]["content"]["text/event-stream"]["schema"]
    assert len(schema["anyOf"]) == 12


def test_an_answer_without_a_body_has_no_schema() -> None:
    assert "content" not in dict(documented(status=204).items())["responses"]["204"]
    file = dict(documented(takes_file=True).items())
    assert "application/octet-stream" in file["requestBody"]["content"]


def test_what_is_added_to_a_description_leaves_the_rest_of_it() -> None:
    both = dict((documented(answers=StoredMessage, status=201) | {"parameters": []}).items())
    assert both["parameters"] == []
    assert "201" in both["responses"]


def test_an_answer_may_have_several_media_types() -> None:
    description = dict(documented(media=("application/x-ndjson", "text/markdown")).items())
    assert set(description["responses"]["200"]["content"]) == {"application/x-ndjson", "text/markdown"}
