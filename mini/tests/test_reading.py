"""Passages hold the answers to their questions, and not the answers to those they leave out."""

from __future__ import annotations

import re
from random import Random

from duologue_mini.passages import groups, passage
from duologue_mini.skills import reading

QUOTED = re.compile(r'^The text says: "(.*)"$', re.S)


def test_every_known_fact_stands_in_its_sentence() -> None:
    random = Random(1)
    for _ in range(2000):
        read = passage.passage(random)
        assert read.answers
        for known in read.answers:
            assert known.sentence in read.text
            assert known.value.lower() in known.sentence.lower()
            assert known.fact.questions


def test_what_is_missing_is_not_told() -> None:
    random = Random(2)
    for _ in range(2000):
        read = passage.passage(random)
        told = {(id(known.fact.value), known.fills["n"], known.fact.answer) for known in read.answers}
        for fact, fills in read.unknown:
            assert (id(fact.value), fills["n"], fact.answer) not in told


def test_several_subjects_are_always_named() -> None:
    random, seen = Random(3), 0
    for _ in range(2000):
        read = passage.passage(random)
        if read.several:
            seen += 1
            for known in read.answers:
                assert all("$s" in ask or "$n" in ask for ask in known.fact.questions)
    assert seen > 200


def test_answers_come_from_the_text() -> None:
    random, seen = Random(4), 0
    for _ in range(2000):
        scene = reading.draw(random)
        given = (scene.system or "") + "\n".join(turn.user for turn in scene.turns)
        for turn in scene.turns:
            if match := QUOTED.match(turn.thought):
                seen += 1
                lines = given.replace("\n> ", "\n")
                assert match[1] in lines
    assert seen > 1000


def test_groups_answer_who_and_most() -> None:
    random = Random(5)
    for _ in range(1000):
        group = groups.group(random)
        assert group.questions
        for question in group.questions:
            name = question.answers[0].partition(" ")[0].rstrip(".")
            assert name in group.text or question.answers[0].startswith("The text")


def test_text_and_answers_are_never_garbled() -> None:
    random = Random(6)
    assert all(turn.exact for _ in range(500) for turn in reading.draw(random).turns)
