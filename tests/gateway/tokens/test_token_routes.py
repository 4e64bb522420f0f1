"""The routes about tokens: each dialect's body and answer, on an engine whose tokens are bytes."""

import pytest
from tests.support.asked_pool import AskedPool, asking

from duologue import request_parsing
from duologue.config.settings import LimitSettings
from duologue.engines.scripted.language import ScriptedChatEngine
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.tokens import token_routes
from duologue.gateway.tokens.asked_model import AskedModels
from duologue.gateway.tokens.token_routes import router

pytestmark = pytest.mark.anyio
HELLO = [{"role": "user", "content": "Hello"}]
PROMPT = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture
def pool() -> AskedPool:
    return AskedPool()


def client(pool: AskedPool):
    return asking(router(AskedModels(RequestedModels(pool.registry), pool), LimitSettings()), role="user")


async def posted(pool: AskedPool, path: str, body: object):
    async with client(pool) as http:
        return await http.post(path, json=body)


async def test_llama_servers_tokenize_and_detokenize(pool):
    assert (await posted(pool, "/tokenize", {"content": "hé"})).json() == {"tokens": list("hé".encode())}
    pieces = (await posted(pool, "/tokenize", {"content": "hé", "with_pieces": True})).json()["tokens"]
    assert [each["piece"] for each in pieces] == ["h", [0xC3], [0xA9]]
    told = (await posted(pool, "/detokenize", {"tokens": list("hé".encode())})).json()
    assert told == {"content": "hé", "prompt": "hé"}


async def test_vllms_tokenize(pool):
    told = (await posted(pool, "/tokenize", {"prompt": "ab", "model": "alias"})).json()
    assert told == {"count": 2, "max_model_len": 500, "tokens": [97, 98], "token_strs": None}
    for texts in (False, True):
        told = (await posted(pool, "/tokenize", {"messages": HELLO, "return_token_strs": texts})).json()
        assert bytes(told["tokens"]).decode() == PROMPT
        assert told["count"] == len(PROMPT)
        assert told["token_strs"] == (list(PROMPT) if texts else None)


async def test_a_template_is_applied_as_a_chat_has_it(pool):
    assert (await posted(pool, "/apply-template", {"messages": HELLO})).json() == {"prompt": PROMPT}
    tool = {"type": "function", "function": {"name": "clock"}}
    told = (await posted(pool, "/apply-template", {"messages": HELLO, "tools": [tool]})).json()["prompt"]
    assert '"clock"' in told
    told = await posted(
        pool, "/apply-template", {"messages": HELLO, "chat_template_kwargs": {"enable_thinking": False}}
    )
    assert told.json()["prompt"].endswith("<think>\n\n</think>\n\n")


async def test_the_tokens_of_a_chat_are_counted(pool):
    told = (await posted(pool, "/v1/chat/completions/input_tokens", {"messages": HELLO})).json()
    assert told == {"object": "response.input_tokens", "input_tokens": len(PROMPT)}


async def test_tabbys_encode_and_decode(pool):
    assert (await posted(pool, "/v1/token/encode", {"text": "ab"})).json() == {
        "tokens": [97, 98],
        "length": 2,
    }
    told = (await posted(pool, "/v1/token/encode", {"text": HELLO})).json()
    assert bytes(told["tokens"]).decode() == PROMPT.removesuffix("<|im_start|>assistant\n")
    assert (await posted(pool, "/v1/token/decode", {"tokens": [97, 98]})).json() == {"text": "ab"}


async def test_every_question_is_its_users_and_names_the_model_by_its_own_name(pool):
    await posted(pool, "/tokenize", {"content": "a", "model": "alias"})
    [(question, user)] = pool.questions
    assert (question.model, user) == ("m", "ada")


@pytest.mark.parametrize(
    ("path", "body", "status", "param"),
    [
        ("/tokenize", {}, 400, "content"),
        ("/tokenize", {"content": "a", "model": "other"}, 404, "model"),
        ("/tokenize", {"messages": []}, 400, "messages"),
        ("/detokenize", {"tokens": [999]}, 400, "tokens"),
        ("/detokenize", {}, 400, "tokens"),
        ("/apply-template", {"messages": [{"role": "nobody", "content": "a"}]}, 400, "messages[0].role"),
        ("/v1/token/encode", {}, 400, "text"),
        ("/v1/token/decode", {"tokens": "a"}, 400, "tokens"),
        ("/tokenize", {"content": "a" * 1_100_000}, 413, "content"),
    ],
)
async def test_what_cannot_be_answered_names_its_field(pool, path, body, status, param):
    refused = await posted(pool, path, body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (status, param)


async def test_a_model_that_tells_no_tokens_says_so():
    pool = AskedPool(ScriptedChatEngine("m"))
    for path, body in (("/tokenize", {"content": "a"}), ("/apply-template", {"messages": HELLO})):
        refused = await posted(pool, path, body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported")


async def test_a_body_that_is_no_json_object_is_refused(pool):
    async with client(pool) as http:
        for content in (b"", b"[]", b"{", b'{"content": "\\ud83d"}'):
            refused = await http.post("/tokenize", content=content)
            assert refused.status_code == 400


async def test_a_large_body_without_a_length_is_read_off_the_loop(pool, monkeypatch):
    sizes = []
    parse = request_parsing.parsing

    async def counted(size, function, *args, user):
        sizes.append(size)
        return await parse(size, function, *args, user=user)

    async def chunks():
        yield b'{"content": "'
        yield b'a"}'

    monkeypatch.setattr(token_routes, "parsing", counted)
    async with client(pool) as http:
        assert (await http.post("/tokenize", content=chunks())).json() == {"tokens": [97]}
    assert sizes == [16]
