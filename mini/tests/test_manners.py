"""Manners: small talk is varied, names and words come back unchanged, sums are right, and the model is only itself."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from duologue_mini.conversation import self_description, small_talk
from duologue_mini.conversation.jokes import JOKES
from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import manners

SUM = re.compile(r"(\d+) ([+×-]) (\d+) = (-?\d+)\.")


def scenes(count: int, seed: int = 3) -> list[Scene]:
    random = Random(seed)
    return [manners.draw(random) for _ in range(count)]


def turns(count: int, seed: int = 3) -> list[Turn]:
    return [turn for scene in scenes(count, seed) for turn in scene.turns]


def test_the_same_seed_gives_the_same_scenes() -> None:
    assert scenes(200) == scenes(200)


def test_openings_vary() -> None:
    questions = Counter(scene.turns[0].user.lower() for scene in scenes(3000))
    assert max(questions.values()) <= 25
    assert len(questions) > 2000


def test_nothing_is_left_unfilled() -> None:
    for turn in turns(5000):
        for text in (turn.user, turn.assistant, turn.thought):
            assert text.strip(), turn
            assert not re.search(r"\$[a-zA-Z]|[|{}]", text.replace('{"type"', "")), text
            assert not re.search(r" [,.!?](\s|$)|,[.!?]|\.\.$(?<!\.\.\.)", text), text


def test_every_sum_is_right() -> None:
    seen = 0
    for turn in turns(6000):
        for first, sign, second, value in SUM.findall(turn.assistant):
            a, b = int(first), int(second)
            assert int(value) == {"+": a + b, "-": a - b, "×": a * b}[sign], turn
            seen += 1
    assert seen > 200


def test_a_name_is_repeated() -> None:
    random = Random(9)
    for _ in range(500):
        turn = manners.with_name(random)
        names = re.search(r"called (.+)\. I greet", turn.thought)
        assert names
        assert names[1] in turn.user
        assert names[1] in turn.assistant
        assert turn.exact


def test_the_model_claims_to_be_nobody_else() -> None:
    random = Random(4)
    other = next(aspect for aspect in self_description.ASPECTS if aspect.name == "other")
    for _ in range(300):
        turn = manners.aspect_turn(random, other)
        assert "duologue-mini" in turn.assistant
        assert re.search(r"\b(No|Not|not)\b", turn.assistant), turn


def test_every_aspect_of_the_model_is_asked_about() -> None:
    thoughts = {turn.thought for turn in turns(8_000)}
    for aspect in self_description.ASPECTS:
        start = re.split(r"[\[{$]", aspect.thought)[0]
        assert any(thought.startswith(start) for thought in thoughts), aspect.name


def test_a_repeated_answer_is_the_same_answer() -> None:
    seen = 0
    for scene in scenes(6000):
        for before, turn in zip(scene.turns, scene.turns[1:], strict=False):
            if "repeat my last answer" in turn.thought:
                assert turn.assistant == before.assistant
                seen += 1
    assert seen > 50


def test_no_joke_is_told_twice_in_a_row() -> None:
    for scene in scenes(6000):
        jokes = [
            joke.text
            for turn in scene.turns
            for joke in JOKES
            if joke.text in turn.assistant and "again" not in turn.thought
        ]
        assert len(jokes) == len(set(jokes))


def test_messages_without_their_beginning_are_scenes_of_their_own() -> None:
    users = {text for questions, *_ in small_talk.ALONE for text in questions}
    assert users
    alone = [scene for scene in scenes(4000) if scene.skill == "alone"]
    assert len(alone) > 40
    assert all(len(scene.turns) == 1 for scene in alone)


def test_scenes_that_open_or_close_a_chat_are_marked() -> None:
    names = Counter(scene.skill for scene in scenes(4000))
    assert set(names) == {"greetings", "goodbyes", "manners", "identity", "alone"}
    for scene in scenes(4000):
        if scene.skill == "goodbyes":
            assert len(scene.turns) == 1
