"""What upstreams tell of tokens: texts in `logit_bias` become ids, texts become tokens and tokens texts."""

from __future__ import annotations

import json

import anyio
import pytest

from duologue.engines.openai_remote import upstream_tokens
from duologue.engines.openai_remote.server_kinds import Tokenizer, server_kind
from duologue.engines.openai_remote.upstream_tokens import TokenBiases, UpstreamTokens, tokens_in
from duologue.errors import Unsupported
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText

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
    monkeypatch.setattr(upstream_tokens, "REMEMBERED", 1)
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

    monkeypatch.setattr(upstream_tokens, "PATIENCE", 0.0)
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


class Telling:
    """Answers every question with the same body."""

    def __init__(self, **answer: object) -> None:
        self.asked: list[tuple[str, object]] = []
        self._answer = answer

    async def ask(self, path: str, body: object) -> bytes:
        self.asked.append((path, body))
        return json.dumps(self._answer).encode()


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("llamacpp", "/tokenize", {"content": "a", "add_special": True, "parse_special": True}),
        ("duologue", "/tokenize", {"content": "a", "add_special": True, "parse_special": True}),
        ("vllm", "/tokenize", {"prompt": "a", "add_special_tokens": True}),
        ("sglang", "/tokenize", {"prompt": "a", "add_special_tokens": True}),
        ("tabbyapi", "/v1/token/encode", {"text": "a", "add_bos_token": True, "encode_special_tokens": True}),
    ],
)
async def test_each_kind_is_asked_for_the_tokens_of_a_text(
    kind: str, path: str, body: dict[str, object]
) -> None:
    server = Telling(tokens=[1, 2])
    tokens = UpstreamTokens(server.ask, kind, "http://up")
    assert await tokens.tokens(TokenizeText("a", start=True), "m") == Tokenized((1, 2))
    assert server.asked == [(path, {"model": "m", **body})]
    assert await tokens.tokens(TokenizeText(""), "m") == Tokenized(())


@pytest.mark.parametrize(
    ("kind", "path", "name"),
    [
        ("llamacpp", "/detokenize", "content"),
        ("vllm", "/detokenize", "prompt"),
        ("sglang", "/detokenize", "text"),
        ("tabbyapi", "/v1/token/decode", "text"),
    ],
)
async def test_each_kind_is_asked_for_the_text_of_tokens(kind: str, path: str, name: str) -> None:
    server = Telling(**{name: "hi"})
    assert await UpstreamTokens(server.ask, kind, "http://up").text(DetokenizeTokens((1, 2)), "m") == "hi"
    [(asked, body)] = server.asked
    assert asked == path
    assert isinstance(body, dict)
    assert (body["model"], body["tokens"]) == ("m", [1, 2])


@pytest.mark.parametrize(
    ("kind", "question", "reason"),
    [
        ("ollama", TokenizeText("a"), "no known API for tokens"),
        ("", TokenizeText("a"), "no known API for tokens"),
        ("vllm", TokenizeText("a", pieces=True), "ids of tokens alone"),
        ("vllm", TokenizeText("a", control=False), "control tokens"),
        ("vllm", TokenizeText("a"), "did not answer with tokens"),
    ],
)
async def test_what_an_upstream_does_not_tell_is_refused(
    kind: str, question: TokenizeText, reason: str
) -> None:
    with pytest.raises(Unsupported, match=reason):
        await UpstreamTokens(Telling().ask, kind, "http://up").tokens(question, "m")


async def test_a_text_that_an_upstream_does_not_tell_is_refused() -> None:
    for kind, question in (
        ("ollama", DetokenizeTokens((1,))),
        ("vllm", DetokenizeTokens((1,))),
        ("vllm", DetokenizeTokens((1,), control=False)),
    ):
        with pytest.raises(Unsupported):
            await UpstreamTokens(Telling(text=5).ask, kind, "http://up").text(question, "m")
