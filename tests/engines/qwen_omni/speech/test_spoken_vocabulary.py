import pytest

from duologue.engines.qwen_omni.speech.spoken_vocabulary import unspeakable, unspeakable_tokens


@pytest.mark.parametrize(
    "text",
    [
        *("**", " #", "```", "`x`", "{\n", "()", " [", "<|im_start|>", "<think>", "|", "~", "_", "\\n", "==", "\t", "    ", "--"),
        *("---", "（", "】", "「", "😀", " ©", "→☀", "https://", "a/b", "&", "$", "@", "std::", "\x00", "....", "\r\n", "«*»"),
    ],
)  # fmt: skip
def test_markdown_code_brackets_and_pictographs_are_not_spoken(text: str) -> None:
    assert unspeakable(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Hello", " world", ",", ".", "!", "?", "...", "…", ":", ";", "\n", "\n\n", " ", "-", " –", "'s", '"', "„", "“", "«", "5", " %", "€"),
        *("20°", "你好", "。", "、", "を", "ß", "é", "हिन्दी", "\u200d", "\ufffd", "\ufffd\ufffd", "+", "", "x²", "½"),
    ],
)  # fmt: skip
def test_words_numbers_and_their_punctuation_are_spoken(text: str) -> None:
    assert not unspeakable(text)


def test_the_tokens_are_found_by_their_text_not_by_their_number() -> None:
    texts = ["a", "*", "b", "#"]
    assert unspeakable_tokens(texts, control=(), ends=(), size=4) == {1, 3}
    assert unspeakable_tokens(texts[::-1], control=(), ends=(), size=4) == {0, 2}


def test_control_tokens_are_not_written_whatever_their_text_but_the_end_of_a_reply_is() -> None:
    texts = ["a", "audio", "<|im_end|>", "<|x|>"]
    assert unspeakable_tokens(texts, control=(1, 2), ends=(2,), size=4) == {1, 3}


def test_ids_that_are_no_token_are_not_written() -> None:
    assert unspeakable_tokens(["a"], control=(), ends=(), size=4) == {1, 2, 3}
    assert unspeakable_tokens([], control=(), ends=(1,), size=2) == {0}
