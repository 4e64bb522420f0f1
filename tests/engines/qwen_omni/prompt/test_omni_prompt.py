"""Prompts as numbers, and how they are read in steps."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.qwen_omni.prompt.omni_prompt import (
    OmniPrompt,
    PromptMedium,
    PromptText,
    as_omni_prompt,
    common_beginning,
    reading_steps,
)
from duologue.values.messages import AudioPart, ImagePart

PICTURE = PromptMedium(ImagePart(b"p"), -7, 6, 255, (2, 3))
SOUND = PromptMedium(AudioPart(b"s"), -9, 4, 254)
PROMPT = OmniPrompt([PromptText((1, 2)), PICTURE, PromptText((3,)), SOUND, PromptText((4, 5, 6))])


def test_a_medium_is_one_number_for_each_of_its_tokens() -> None:
    assert PROMPT.tokens == (1, 2, *[-7] * 6, 3, *[-9] * 4, 4, 5, 6)
    assert len(PROMPT) == 16
    assert (PROMPT[0], PROMPT[2], PROMPT[8:10]) == (1, -7, (3, -9))


def test_reading_goes_on_behind_whole_media_only() -> None:
    assert [PROMPT.readable(count) for count in range(17)] == [
        *(0, 1, 2, 2, 2, 2, 2, 2, 8),
        *(9, 9, 9, 9, 13, 14, 15, 16),
    ]


def test_what_comes_behind_a_place_is_the_rest() -> None:
    assert list(PROMPT.after(0)) == list(PROMPT.pieces)
    assert list(PROMPT.after(14)) == [PromptText((5, 6))]
    assert list(PROMPT.after(8)) == list(PROMPT.pieces[2:])
    assert list(PROMPT.after(16)) == []


def test_a_medium_stands_where_its_kind_does() -> None:
    assert PICTURE.positions(3).next == 6
    assert SOUND.positions(3).next == 7
    assert PromptText((1, 2)).positions(0).times == (0, 1)


def test_tokens_without_media_are_a_prompt_too() -> None:
    assert as_omni_prompt((1, 2, 3)).pieces == (PromptText((1, 2, 3)),)
    assert as_omni_prompt(PROMPT) is PROMPT


def test_the_common_beginning_of_two_sequences() -> None:
    assert common_beginning((1, 2, 3), (1, 2, 4)) == 2
    assert common_beginning((1, 2), (1, 2, 4)) == 2
    assert common_beginning((), (1,)) == 0


def test_texts_are_cut_at_the_size_of_a_step_and_media_are_not() -> None:
    steps = list(reading_steps(PROMPT.after(0), 5))
    assert steps == [
        (PromptText((1, 2)),),
        (PICTURE,),
        (PromptText((3,)), SOUND),
        (PromptText((4, 5, 6)),),
    ]
    assert list(reading_steps(iter([PromptText(tuple(range(7)))]), 3)) == [
        (PromptText((0, 1, 2)),),
        (PromptText((3, 4, 5)),),
        (PromptText((6,)),),
    ]


pieces = st.lists(
    st.one_of(
        st.lists(st.integers(0, 99), min_size=1, max_size=12).map(lambda ids: PromptText(tuple(ids))),
        st.sampled_from([PICTURE, SOUND]),
    ),
    max_size=8,
)


@given(pieces, st.integers(1, 9), st.integers(0, 60))
def test_the_steps_are_the_prompt_in_order(found, most: int, start: int) -> None:
    prompt = OmniPrompt(found)
    start = prompt.readable(min(start, len(prompt)))
    steps = list(reading_steps(prompt.after(start), most))
    read = [token for piece in chain.from_iterable(steps) for token in piece.tokens]
    assert tuple(read) == prompt.tokens[start:]
    for step in steps:
        assert step
        size = sum(len(piece.tokens) for piece in step)
        assert size <= most or (len(step) == 1 and isinstance(step[0], PromptMedium))
