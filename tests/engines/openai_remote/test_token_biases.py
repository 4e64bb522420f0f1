"""Texts in `logit_bias` become token ids where a server tells them."""

from __future__ import annotations

import json

import anyio
import pytest

from duologue.engines.openai_remote import token_biases
from duologue.engines.openai_remote.server_kinds import Tokenizer, server_kind
from duologue.engines.openai_remote.token_biases import TokenBiases, tokens_in
from duologue.errors import Unsupported

pytestmark = pytest.mark.anyio
KNOWN = {"*": [7], "Hello": [8, 9]}


class Server:
    """Tells the tokens of two texts."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []

    async def ask(self, path: str, body: object) -> bytes:
        self.asked.append((path, body))
        assert isinstance(body, dict)
        tokens = KNOWN.get(body.get("prompt") or body.get("text") or "")
        return b"" if tokens is None else json.dumps({"tokens": tokens, "ids": tokens}).encode()


def tokenizer_of(kind: str) -> Tokenizer:
    tokenizer = server_kind(kind).tokenizer
    assert tokenizer is not None
    return tokenizer


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("vllm", "/tokenize", {"model": "m", "prompt": "*", "add_special_tokens": False}),
        ("sglang", "/tokenize", {"model": "m", "prompt": "*", "add_special_tokens": False}),
        ("tabbyapi", "/v1/token/encode", {"model": "m", "text": "*", "add_bos_token": False}),
        ("koboldcpp", "/api/extra/tokencount", {"model": "m", "prompt": "*", "special": False}),
    ],
)
async def test_each_kind_is_asked_in_its_own_way(kind: str, path: str, body: object) -> None:
    server = Server()
    assert await TokenBiases(server.ask).of({"*": -100.0}, tokenizer_of(kind), "m") == {"7": -100.0}
    assert server.asked == [(path, body)]


async def test_every_token_of_a_text_has_its_bias_and_a_named_id_its_own() -> None:
    biases = TokenBiases(Server().ask)
    assert await biases.of({"Hello": 1.0, "9": 2.0}, tokenizer_of("vllm"), "m") == {"9": 2.0, "8": 1.0}


async def test_a_text_is_asked_once_for_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    biases = TokenBiases(server.ask)
    for model in ("m", "m", "other"):
        await biases.of({"*": 1.0}, tokenizer_of("vllm"), model)
    assert len(server.asked) == 2
    monkeypatch.setattr(token_biases, "REMEMBERED", 1)
    await biases.of({"Hello": 1.0}, tokenizer_of("vllm"), "m")
    await biases.of({"*": 1.0}, tokenizer_of("vllm"), "m")
    assert len(server.asked) == 4, "no more than so many are kept"


async def test_a_text_whose_tokens_are_not_told_is_refused() -> None:
    with pytest.raises(Unsupported, match="'unheard' is a text, and this upstream does not tell") as caught:
        await TokenBiases(Server().ask).of({"*": 1.0, "unheard": 1.0}, tokenizer_of("vllm"), "m")
    assert caught.value.param == "logit_bias"


async def test_a_tokenizer_that_hangs_is_waited_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(path: str, body: object) -> bytes:
        await anyio.sleep_forever()
        return b""

    monkeypatch.setattr(token_biases, "PATIENCE", 0.0)
    with pytest.raises(Unsupported, match="does not tell"):
        await TokenBiases(hang).of({"*": 1.0}, tokenizer_of("vllm"), "m")


async def test_too_many_texts_are_refused() -> None:
    texts = {f"word {number}": 1.0 for number in range(101)}
    with pytest.raises(Unsupported, match="at most 100"):
        await TokenBiases(Server().ask).of(texts, tokenizer_of("vllm"), "m")


@pytest.mark.parametrize(
    "answer", [b"", b"[1]", b'{"tokens": 3}', b'{"tokens": [1, "2"]}', b'{"tokens": [true]}']
)
async def test_an_answer_without_tokens_is_none(answer: bytes) -> None:
    assert tokens_in(answer, "tokens") == ()
