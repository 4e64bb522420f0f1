"""Rules in the API's description are those that the bodies keep: what a schema refuses is refused, and what it allows is taken."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from duologue.errors import BadRequest
from duologue.http.openapi import model_schema
from duologue.wire.anthropic.messages_body import TokenCountBody
from duologue.wire.api import ApprovalAnswerBody, ConversationChangeBody
from duologue.wire.batches.batch_object import BatchBody
from duologue.wire.completions.text_completion_body import TextCompletionBody
from duologue.wire.embeddings.embedding_body import EmbeddingBody
from duologue.wire.embeddings.rerank_body import RerankBody
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.speech import SpeechBody
from duologue.wire.tokens.token_bodies import TokenizeBody
from duologue.wire.tokens.tuning_bodies import SamplingSwitchBody
from duologue.wire.validation import validate

HELLO = [{"role": "user", "content": "Hello"}]
FUNCTION = {"type": "function", "function": {"name": "clock"}}


def described(model: type[Any], body: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(model_schema(model)).is_valid(body)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (ChatCompletionBody, {"messages": HELLO, "min_tokens": 0, "bad_words": [], "allowed_tools": None}),
        (ChatCompletionBody, {"messages": HELLO, "max_tokens": -1}),
        (ChatCompletionBody, {"messages": HELLO, "guided_choice": ["a"]}),
        (ChatCompletionBody, {"messages": [*HELLO, {"role": "assistant"}]}),
        (ChatCompletionBody, {"messages": HELLO, "tools": [FUNCTION], "tool_choice": FUNCTION}),
        (TextCompletionBody, {"prompt": [1, 2]}),
        (TextCompletionBody, {"prompt": ["a", "b"]}),
        (EmbeddingBody, {"input": [[1], [2]], "truncate": "NONE"}),
        (RerankBody, {"query": "a", "documents": [{"text": "b"}]}),
        (TokenizeBody, {"prompt": ""}),
        (SpeechBody, {"input": "Hello", "voice": {"id": "alloy"}}),
        (ResponseBody, {"input": "Hello", "include": ["reasoning.encrypted_content"]}),
        (ResponseBody, {"previous_response_id": "resp_1"}),
        (TokenCountBody, {"model": "", "messages": HELLO, "mcp_servers": []}),
        (
            TokenCountBody,
            {"model": "", "messages": HELLO, "tools": [{"type": "bash_20250124", "name": "bash"}]},
        ),
        (BatchBody, {"input_file_id": "file-1", "endpoint": "/v1/embeddings"}),
        (ApprovalAnswerBody, {"decision": "once"}),
        (ConversationChangeBody, {"tags": ["a"]}),
        (SamplingSwitchBody, {"overrides": {}}),
    ],
)
def test_what_is_described_is_taken(model: type[Any], body: dict[str, Any]) -> None:
    assert described(model, body)
    model.model_validate(body)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (ChatCompletionBody, {"messages": HELLO, "min_tokens": 3}),
        (ChatCompletionBody, {"messages": HELLO, "max_tokens": 0}),
        # Collecting so many choices stopped the server.
        (ChatCompletionBody, {"messages": HELLO, "n": 10**12}),
        (TextCompletionBody, {"prompt": "a", "n": 10**12}),
        (TextCompletionBody, {"prompt": "a", "best_of": 10**12}),
        (ChatCompletionBody, {"messages": HELLO, "guided_choice": [""]}),
        (ChatCompletionBody, {"messages": HELLO, "tool_choice": {}}),
        (TextCompletionBody, {"prompt": []}),
        (TextCompletionBody, {"prompt": [-1]}),
        (EmbeddingBody, {"input": [], "truncate": None}),
        (EmbeddingBody, {"input": "a", "truncate": "END"}),
        (RerankBody, {"query": "a", "documents": []}),
        (SpeechBody, {"input": "Hello", "voice": {}}),
        (ResponseBody, {"input": "Hello", "include": ["all"]}),
    ],
)
def test_what_cannot_be_taken_is_not_described(model: type[Any], body: dict[str, Any]) -> None:
    assert not described(model, body)
    with pytest.raises(BadRequest):
        validate(model, body)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (ChatCompletionBody, {"messages": [{"role": "user", "content": None}]}),
        (ChatCompletionBody, {"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}),
        (RerankBody, {"query": "a"}),
        (TokenizeBody, {"content": None}),
        (ResponseBody, {"input": None}),
        (TokenCountBody, {"model": "", "messages": HELLO, "tools": [{"name": "a"}]}),
        (TokenCountBody, {"model": "", "messages": HELLO, "tools": [{"type": "computer_1", "name": "a"}]}),
        (TokenCountBody, {"model": "", "messages": HELLO, "container": "c"}),
        (BatchBody, {"input_file_id": "file-1", "endpoint": "/v1/audio/speech"}),
        (ApprovalAnswerBody, {}),
        (ApprovalAnswerBody, {"decision": "once", "action": "accept"}),
        (ConversationChangeBody, {"tags": None}),
        (SamplingSwitchBody, {"preset": "a", "overrides": {}}),
    ],
)
def test_what_routes_refuse_after_reading_is_not_described(model: type[Any], body: dict[str, Any]) -> None:
    assert not described(model, body)
