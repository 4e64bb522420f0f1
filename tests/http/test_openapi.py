"""What /docs says of bodies the framework does not read."""

import json

from duologue.http.openapi import form_body, json_body
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.transcripts import TranscriptionFields


def test_a_json_body_shows_every_field_and_no_reference():
    described = json_body(ChatCompletionBody, "application/json", "text/event-stream", said="A reply.")
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    assert {"messages", "audio", "modalities"} <= set(schema["properties"])
    assert "$ref" not in json.dumps(schema)
    assert described["responses"]["200"]["description"] == "A reply."
    assert set(described["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}


def test_a_form_needs_its_file():
    schema = form_body(TranscriptionFields)["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert schema["required"] == ["file"]
    assert {"file", "model", "response_format", "stream"} <= set(schema["properties"])
