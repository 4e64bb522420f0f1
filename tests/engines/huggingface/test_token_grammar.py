"""The bytes of tokens, and a reply that is held from a trigger on; grammars themselves need llguidance
(tests/engines_extra/test_huggingface.py)."""

from types import SimpleNamespace
from typing import Any

from duologue.engines.huggingface.token_grammar import SpelledTokens, TriggeredTokens, token_spelling


def test_tokens_are_spelled_as_their_vocabulary_writes_them() -> None:
    assert token_spelling("Ġhé") == b" h\xe9"
    assert token_spelling("\u2581the") == b" the"
    assert token_spelling("<0x0A>") == b"\n"
    assert token_spelling("汉") == "汉".encode()


def test_control_tokens_stay_so_unless_a_grammar_may_spell_them() -> None:
    vocabulary = {"a": 0, "<|end|>": 1, "[CALL]": 2, "<call>": 3}
    names = {number: text for text, number in vocabulary.items()}
    tokenizer = SimpleNamespace(
        all_special_ids=[1, 2],
        convert_ids_to_tokens=names.get,
        get_vocab=lambda: vocabulary,
        get_added_vocab=lambda: {"<|end|>": 1, "[CALL]": 2, "<call>": 3},
    )
    spelled = SpelledTokens(tokenizer, 6, [1], ["[CALL]", "<call>"])
    assert spelled.special_token_ids == [1]
    assert spelled.tokens == [b"a", b"<|end|>", b"[CALL]", b"<call>", b"", b""]


class Matcher:
    """Notes what it is given."""

    def __init__(self) -> None:
        self.consumed: list[int] = []

    def consume_tokens(self, tokens: list[int]) -> bool:
        self.consumed += tokens
        return True

    def consume_token(self, token: int) -> bool:
        self.consumed.append(token)
        return True

    def is_stopped(self) -> bool:
        return False


def held(trigger: str) -> tuple[TriggeredTokens, Matcher]:
    matcher = Matcher()
    tokens = SimpleNamespace(decode_bytes=bytes, tokenize_bytes=list)
    torch: Any = None
    return TriggeredTokens(torch, matcher, trigger, tokens, [0]), matcher


def test_nothing_is_held_before_the_trigger_and_everything_behind_it() -> None:
    constraint, matcher = held("<call>")
    logits: Any = None  # which would fail if they were touched
    for letter in b"I say <ca":
        constraint.allow(logits)
        constraint.chose(letter)
    assert matcher.consumed == []
    for letter in b"ll>{":
        constraint.chose(letter)
    assert bytes(matcher.consumed) == b"<call>{"
