"""The tokenizer, and which part of a dialogue counts for the loss."""

from random import Random

import pytest

pytest.importorskip("tokenizers")

from duologue_mini.data import dialogues
from duologue_mini.data.corpus import render_dialogue
from duologue_mini.model import tokenizer


@pytest.fixture(scope="module")
def texts() -> list[str]:
    random = Random(1)
    return [render_dialogue(dialogues.draw(random, {})) for _ in range(400)]


@pytest.fixture(scope="module")
def encoder(texts: list[str]) -> tokenizer.Encoder:
    return tokenizer.Encoder(tokenizer.train(texts, 1024))


def test_ids_decode_to_the_text(encoder: tokenizer.Encoder, texts: list[str]) -> None:
    for text in texts[:100]:
        for cut in (None, tokenizer.SubwordDropout(Random(2), 0.5)):
            ids, loss_mask, starts = encoder.encode(text, cut)
            assert encoder.tokenizer.decode(ids, skip_special_tokens=False) == text
            assert len(ids) == len(loss_mask)
            assert all(ids[start] == encoder.tokenizer.token_to_id("<|im_start|>") for start in starts)


def test_the_loss_covers_only_the_assistants_words_which_are_never_cut(
    encoder: tokenizer.Encoder, texts: list[str]
) -> None:
    for text in texts[:100]:
        whole = encoder.encode(text)
        cut = encoder.encode(text, tokenizer.SubwordDropout(Random(3), 0.6))

        def written(encoded: tuple[list[int], list[bool], list[int]]) -> list[int]:
            return [identity for identity, learned in zip(*encoded[:2], strict=True) if learned]

        assert written(whole) == written(cut)
        said = encoder.tokenizer.decode(written(whole), skip_special_tokens=False)
        assert said.count("<|im_end|>") == text.count("<|im_start|>assistant")
        assert "<|im_start|>" not in said


def test_a_cut_keeps_markers_whole_and_is_seeded() -> None:
    text = "<|im_start|>user\n<tool_response>\nBruvok said something<|im_end|>\n"
    parts = tokenizer.SubwordDropout(Random(1), 1.0)(text)
    assert "".join(parts) == text
    assert len(parts) > 3
    assert any("<|im_start|>" in part for part in parts)
    assert any("<tool_response>" in part for part in parts)
    assert parts == tokenizer.SubwordDropout(Random(1), 1.0)(text)
    assert tokenizer.SubwordDropout(Random(1), 0.0)(text) == [text]


def test_digits_stand_alone(encoder: tokenizer.Encoder) -> None:
    assert len(encoder.tokenizer.encode("12345").ids) == 5
