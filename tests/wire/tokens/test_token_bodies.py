"""The bodies about tokens, in the words of three servers."""

import pytest

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.tokens.token_bodies import (
    MOST_PIECED,
    DecodeBody,
    DetokenizeBody,
    EncodeBody,
    TokenizeBody,
    chat_body,
    encode_body,
    llama_tokens,
    prompt_request,
    tokenize_body,
    vllm_tokens,
)
from duologue.wire.validation import validate

LIMITS = LimitSettings(text_mb=1)
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"content": "a"}, TokenizeText("a", model="m")),
        ({"content": "a", "add_special": True}, TokenizeText("a", start=True, model="m")),
        ({"content": "a", "parse_special": False}, TokenizeText("a", control=False, model="m")),
        ({"content": "", "with_pieces": True}, TokenizeText("", pieces=True, model="m")),
        ({"prompt": "a"}, TokenizeText("a", start=True, model="m")),
        ({"prompt": "a", "add_special_tokens": False}, TokenizeText("a", model="m")),
        ({"prompt": "a", "return_token_strs": True}, TokenizeText("a", start=True, pieces=True, model="m")),
    ],
)
def test_a_text_is_asked_for_as_its_dialect_means_it(fields, asked):
    body = tokenize_body(fields, LIMITS)
    assert isinstance(body, TokenizeBody)
    assert body.question("m", LIMITS) == asked


def test_messages_are_a_chat():
    body = tokenize_body({"messages": HELLO, "return_token_strs": True, "add_special_tokens": False}, LIMITS)
    assert isinstance(body, ChatCompletionBody)
    request = prompt_request(body, "m", LIMITS)
    assert (request.model, request.messages[0].text, request.unknown) == ("m", "Hello", ())
    assert request.generation_prompt
    encoded = encode_body({"text": HELLO, "add_bos_token": True}, LIMITS)
    assert isinstance(encoded, ChatCompletionBody)
    assert not prompt_request(encoded, "m", LIMITS).generation_prompt
    asked = encode_body({"text": HELLO, "add_generation_prompt": True}, LIMITS)
    assert isinstance(asked, ChatCompletionBody)
    assert prompt_request(asked, "m", LIMITS).generation_prompt


def test_tabbys_bodies():
    body = encode_body({"text": "a", "encode_special_tokens": False}, LIMITS)
    assert isinstance(body, EncodeBody)
    assert body.question("m", LIMITS) == TokenizeText("a", start=True, control=False, model="m")
    decoded = validate(DecodeBody, {"tokens": [1, 2], "decode_special_tokens": False})
    assert decoded.question("m") == DetokenizeTokens((1, 2), control=False, model="m")
    assert validate(DetokenizeBody, {"tokens": []}).question("m") == DetokenizeTokens((), model="m")


@pytest.mark.parametrize("tokens", [[-1], [2**31], [2**70]])
def test_an_id_that_no_model_has_is_refused(tokens):
    with pytest.raises(BadRequest) as met:
        validate(DetokenizeBody, {"tokens": tokens}).question("m")
    assert met.value.param == "tokens"


@pytest.mark.parametrize(
    "fields",
    [{}, {"content": None}, {"content": 5}, {"prompt": ["a"]}, {"content": "a", "model": 5}],
)
def test_a_wrong_body_is_refused_by_the_name_of_its_field(fields):
    with pytest.raises(BadRequest) as met:
        validate(TokenizeBody, fields).question("m", LIMITS)
    assert met.value.param


def test_sizes_are_bounded():
    for fields in (
        {"content": "é" * 600_000},
        {"prompt": "a" * (MOST_PIECED + 1), "return_token_strs": True},
    ):
        body = tokenize_body(fields, LIMITS)
        assert isinstance(body, TokenizeBody)
        with pytest.raises(TooLarge):
            body.question("m", LIMITS)
    with pytest.raises(TooLarge):
        chat_body({"messages": HELLO * 20_000}, LIMITS)


def test_a_prompt_of_files_is_refused():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    with pytest.raises(BadRequest, match=r"messages\[0\].content\[0\]"):
        prompt_request(chat_body({"messages": [{"role": "user", "content": [image]}]}, LIMITS), "m", LIMITS)


def test_answers_have_the_shape_of_their_server():
    found = Tokenized((1, 2), (b"a", b"\xf0\x9f"))
    assert llama_tokens(found, pieces=False) == {"tokens": (1, 2)}
    assert llama_tokens(found, pieces=True) == {
        "tokens": [{"id": 1, "piece": "a"}, {"id": 2, "piece": [0xF0, 0x9F]}]
    }
    assert vllm_tokens(found, 99, pieces=True) == {
        "count": 2,
        "max_model_len": 99,
        "tokens": (1, 2),
        "token_strs": ["a", "�"],
    }
    assert vllm_tokens(found, 99, pieces=False)["token_strs"] is None
