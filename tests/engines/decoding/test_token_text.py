"""Whole characters from tokens that are bytes."""

from types import SimpleNamespace

from duologue.engines.decoding.token_text import TokenText, token_bytes

CONTROL = {1000: "<|im_end|>", 1001: "<tool_call>"}


def tokenizer():
    """A token for each byte, and two control tokens."""
    return SimpleNamespace(
        all_special_ids=list(CONTROL),
        convert_tokens_to_ids=lambda text: {name: id for id, name in CONTROL.items()}.get(text),
        convert_ids_to_tokens=lambda id: CONTROL.get(id) or "Ġ" if id == 32 else chr(id),
        decode=lambda ids, **_: bytes(ids).decode(errors="replace"),
    )


def test_a_character_comes_with_its_last_byte() -> None:
    text = TokenText(tokenizer())
    first, second = "é".encode()
    assert (text.add(first), text.pending) == ("", 1)
    assert (text.add(second), text.pending) == ("é", 0)
    assert text.add(ord("a")) == "a"


def test_bytes_that_are_no_character_do_not_wait_for_ever() -> None:
    text = TokenText(tokenizer())
    assert "".join(text.add(0x80) for _ in range(8)) != ""
    assert text.pending == 0


def test_half_a_character_at_the_end_has_no_text() -> None:
    text = TokenText(tokenizer())
    text.add(0xC3)
    assert (text.finish(), text.pending) == ("", 0)


def test_control_tokens_have_no_text_unless_it_is_asked_for() -> None:
    assert TokenText(tokenizer()).add(1000) == ""
    kept = TokenText(tokenizer(), ("<tool_call>", "no token"))
    assert kept.add(1001) == "<tool_call>"
    assert kept.add(1000) == ""
    assert [kept.is_control(token) for token in (1001, 1000, ord("a"))] == [True, False, False]


def test_a_token_is_spelt_with_its_own_bytes() -> None:
    assert token_bytes("Ġhé") == b" h\xe9"
    assert token_bytes("汉") is None
    assert token_bytes(None) is None
    assert token_bytes("<0xF0>") == b"\xf0"
    assert TokenText(tokenizer()).spelling(32) == (" ", b" ")
    assert TokenText(tokenizer()).spelling(0xC3) == ("\\xc3", b"\xc3")


def test_a_letter_that_another_tokenizer_means_as_a_byte_keeps_its_own_bytes() -> None:
    plain = SimpleNamespace(
        all_special_ids=[], convert_ids_to_tokens=lambda id: "é", decode=lambda ids, **_: "é"
    )
    assert TokenText(plain).spelling(7) == ("é", "é".encode())
