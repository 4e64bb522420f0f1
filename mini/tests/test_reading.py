"""Passages hold the answers to their questions, and not the answers to those they leave out."""

from __future__ import annotations

import re
from random import Random

from duologue_mini.passages import groups, passage
from duologue_mini.skills import reading

QUOTED = re.compile(r'^The text says: "(.*)"$', re.S)


def test_every_answer_is_in_its_sentence() -> None:
    random = Random(1)
    for _ in range(2000):
        read = passage.passage(random)
        assert read.answers
        for entry in read.answers:
            assert entry.sentence in read.text
            assert entry.value.lower() in entry.sentence.lower()
            assert entry.fact.questions


def test_missing_facts_are_not_in_the_text() -> None:
    random = Random(2)
    for _ in range(2000):
        read = passage.passage(random)
        text = {(id(entry.fact.value), entry.fills["n"], entry.fact.answer) for entry in read.answers}
        for fact, fills in read.unknown:
            assert (id(fact.value), fills["n"], fact.answer) not in text


def test_several_subjects_are_always_named() -> None:
    random, seen = Random(3), 0
    for _ in range(2000):
        read = passage.passage(random)
        if read.several:
            seen += 1
            for entry in read.answers:
                assert all("$s" in ask or "$n" in ask for ask in entry.fact.questions)
    assert seen > 200


def test_answers_come_from_the_text() -> None:
    random, seen = Random(4), 0
    for _ in range(2000):
        scene = reading.draw(random)
        message = (scene.system or "") + "\n".join(turn.user for turn in scene.turns)
        for turn in scene.turns:
            if match := QUOTED.match(turn.thought):
                seen += 1
                lines = message.replace("\n> ", "\n")
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
