"""Answers follow the rules of their system prompt."""

from __future__ import annotations

import json
from random import Random

from duologue_mini.skills import instructed
from duologue_mini.system_prompts import languages, roles, rules
from duologue_mini.system_prompts.tones import TONES


def test_each_rule_changes_an_answer_as_it_says() -> None:
    random = Random(1)
    for _ in range(300):
        for maker, _ in rules.RULES:
            rule = maker(random)
            answer = rule.change("Hello, how are you?")
            name = maker.__name__
            if name == "_capitals":
                assert answer == "HELLO, HOW ARE YOU?"
            elif name == "_small":
                assert answer == "hello, how are you?"
            elif name in ("_ending", "_beginning"):
                answer_text = rule.thought.partition('"')[2].removesuffix('".')
                assert answer_text.lower() in rule.system.lower()
                assert (
                    answer.rstrip(".").endswith(answer_text)
                    if name == "_ending"
                    else answer.startswith(answer_text)
                )
            elif name == "_address":
                assert answer.endswith("?")
                assert answer != "Hello, how are you?"


def test_json_is_valid() -> None:
    random, seen = Random(2), 0
    for _ in range(4000):
        scene = instructed.draw(random)
        if "JSON" in (scene.system or ""):
            for turn in scene.turns:
                seen += 1
                assert len(json.loads(turn.assistant)) == 1
    assert seen > 20


def test_every_scene_has_a_system_prompt() -> None:
    random = Random(3)
    assert all(instructed.draw(random).system for _ in range(500))


def test_languages_can_answer_what_they_ask() -> None:
    for language in languages.ALL:
        assert set(language.says) <= set(language.answers)
        assert language.answers["not told"]
        for patterns in language.says.values():
            assert patterns


def test_all_tones_have_the_same_kinds_of_answers() -> None:
    kinds = [set(answers) for _, answers in TONES.values()]
    assert all(kind == kinds[0] for kind in kinds)


def test_who_names_the_name() -> None:
    random = Random(4)
    for _ in range(1000):
        being = roles.role(random)
        assert being.name in being.system
        _, answer = roles.who(random, being)
        assert being.name in answer


def test_secrets_are_kept() -> None:
    random, seen = Random(5), 0
    for _ in range(3000):
        scene = instructed.draw(random)
        for turn in scene.turns:
            if turn.thought.startswith("I must not tell"):
                seen += 1
                assert "secret" in turn.assistant or "tell you" in turn.assistant
    assert seen > 50
