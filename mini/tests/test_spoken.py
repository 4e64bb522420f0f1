"""Spoken answers contain no symbols and no digits."""

from __future__ import annotations

from random import Random

import pytest

from duologue_mini.skills import spoken
from duologue_mini.text.speech import sayable, to_speech


def test_every_answer_is_speakable() -> None:
    random = Random(1)
    for _ in range(1500):
        scene = spoken.draw(random)
        assert scene.system
        for turn in scene.turns:
            assert sayable(turn.assistant), turn.assistant
            assert turn.after_thought is None or sayable(turn.after_thought)


@pytest.mark.parametrize(
    ("written", "speech"),
    [
        (
            "347 + 586 = 933.",
            "Three hundred forty-seven plus five hundred eighty-six is nine hundred thirty-three.",
        ),
        ("12 - 30 = -18.", "Twelve minus thirty is minus eighteen."),
        ("It starts at 9:05.", "It starts at nine oh five."),
        ("It is on 12 May.", "It is on the twelfth of May."),
        ("A ticket costs $45.", "A ticket costs forty-five dollars."),
        ("It was founded in 1987.", "It was founded in nineteen eighty-seven."),
        ("- tea\n- milk\n- bread", "Tea, milk and bread."),
        ("Write to ana_7@blor.net.", "Write to ana underscore seven at blor dot net."),
        ("The code of your bike is 4071.", "The code of your bike is four zero seven one."),
        ("That makes **85**.", "That makes eighty-five."),
        ("I am here at 7 p.m.", "I am here at seven p m."),
        ("`duologue setup` helps you choose.", "Duologue setup helps you choose."),
    ],
)
def test_text_is_turned_into_speech(written: str, speech: str) -> None:
    assert to_speech(written) == speech
