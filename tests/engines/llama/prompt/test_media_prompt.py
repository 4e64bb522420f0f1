"""Prompts with pictures and sounds, as numbers and as the body of a request."""

from __future__ import annotations

from duologue.engines.llama.prompt.media_prompt import (
    MediaPrompt,
    MediumPiece,
    TextPiece,
    as_prompt,
    plain_tokens,
)
from duologue.engines.llama.prompt.prompt_steps import common_prefix

BEFORE = TextPiece("ab", (1, 2))
PICTURE = MediumPiece("cGlj", -7, 3)
OTHER = MediumPiece("b3Ro", -8, 3)
AFTER = TextPiece("cd", (3, 4))
END = TextPiece("e", (5,))


def prompt(*pieces: TextPiece | MediumPiece, leading: tuple[int, ...] = ()) -> MediaPrompt:
    return MediaPrompt(pieces, leading, "<__m__>")


def test_a_picture_is_as_many_numbers_as_it_takes_tokens() -> None:
    whole = prompt(BEFORE, PICTURE, AFTER)
    assert tuple(whole) == whole.tokens == (1, 2, -7, -7, -7, 3, 4)
    assert len(whole) == 7
    assert whole[2:4] == (-7, -7)
    assert whole[-1] == 4


def test_another_picture_is_another_prompt_from_there_on() -> None:
    one, other = prompt(BEFORE, PICTURE, AFTER), prompt(BEFORE, OTHER, AFTER)
    assert common_prefix(one.tokens, other.tokens) == 2
    assert common_prefix(one.tokens, prompt(BEFORE, PICTURE, END).tokens) == 5


def test_a_part_ends_with_text_and_with_a_whole_piece() -> None:
    whole = prompt(BEFORE, PICTURE, AFTER, END)
    assert whole.first(1) == (1,)
    for count in (2, 3, 5, 6):
        assert whole.first(count) == (1, 2), count
    first = whole.first(7)
    assert isinstance(first, MediaPrompt)
    assert first.tokens == whole.tokens[:7]
    assert first.body()["prompt_string"] == "ab<__m__>cd"


def test_nothing_can_be_read_before_a_picture_that_comes_first() -> None:
    assert prompt(PICTURE, AFTER).first(4) == ()
    assert prompt(PICTURE, AFTER, leading=(9,)).first(4) == (9,)


def test_what_the_library_adds_is_counted_and_not_sent() -> None:
    whole = prompt(BEFORE, PICTURE, END, leading=(9,))
    assert whole.tokens[:3] == (9, 1, 2)
    assert whole.body() == {
        "prompt_string": "ab<__m__>e",
        "multimodal_data": ["cGlj"],
    }


def test_a_text_cannot_pass_for_a_picture() -> None:
    forged = prompt(TextPiece("<__m__>", (1,)), PICTURE, END)
    assert forged.body()["prompt_string"].count("<__m__>") == 1


def test_prompts_of_both_kinds_are_compared_alike() -> None:
    whole = prompt(BEFORE, PICTURE, END)
    assert as_prompt(whole) is whole
    assert as_prompt([1, 2]) == (1, 2)
    assert plain_tokens(whole) == whole.tokens
    assert plain_tokens((1, 2)) == (1, 2)
