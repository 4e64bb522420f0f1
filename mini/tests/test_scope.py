"""Requests out of scope: asked in very many ways, and never answered."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from duologue_mini.conversation import foreign_phrases, sensitive_topics, world_questions
from duologue_mini.scene import Turn
from duologue_mini.skills import scope

HONEST = re.compile(
    r"beyond|do not know|don't know|cannot|can't|no idea|wish I knew|knowledge ends|What I know ends|small|know nothing|"
    r"only English|no way|no tool|need a tool|not see|guess|made up|can neither|text only|know only text|have no|opinion|"
    r"view on it|get that wrong|limit|English|no (text|clock|network)|only (the text|what|text)|decide|question for people|"
    r"read and write text|over my head|in other words|do(n't| not) (follow|understand|quite)|not (get|sure)|mean|seems|"
    r"half a sentence|sentence stops|end is missing|could not make sense|went past me|nothing to read|reliable|certain|"
    r"rather not|Better not|invent|too (big|hard|large|much)|more than|Nobody here|not for me"
)
FACTS = re.compile(
    r"\b(was born|is located|was founded|was invented by|consists of|stands for|degrees|km\b|in \d{4})"
)


def turns(count: int, seed: int = 3) -> list[Turn]:
    random = Random(seed)
    return [turn for _ in range(count) for turn in scope.draw(random).turns]


def test_the_same_seed_gives_the_same_scenes() -> None:
    assert turns(200) == turns(200)


def test_requests_are_hardly_ever_the_same() -> None:
    random = Random(5)
    questions = Counter(scope.draw(random).turns[0].user.lower() for _ in range(4000))
    del questions[""]
    words = {text: count for text, count in questions.items() if re.search(r"\w\w", text)}
    assert max(words.values()) <= 14
    assert len(questions) > 3300


def test_answers_vary() -> None:
    answers = Counter(turn.assistant for turn in turns(4000))
    assert len(answers) > 1200
    assert max(answers.values()) < 100


@pytest.mark.parametrize("kind", scope.KINDS, ids=lambda kind: kind.name)
def test_no_kind_is_answered(kind: scope.RequestKind) -> None:
    random = Random(7)
    for _ in range(300):
        turn = scope.refusal_turn(random, kind)
        assert not FACTS.search(turn.assistant), turn
        if kind.name not in scope.SERIOUS and kind.name != "advice":
            assert HONEST.search(turn.assistant), turn
        assert not re.search(r"\$[a-z]", turn.user + turn.assistant + turn.thought), turn


def test_numbers_in_an_answer_come_from_the_question() -> None:
    for turn in turns(3000):
        numbers = set(re.findall(r"\d+", turn.assistant)) - set(re.findall(r"\d+", turn.user))
        assert not numbers, turn


def test_a_subject_that_is_named_is_the_one_asked_about() -> None:
    subject = re.compile(r"(?:About|Of|about|The subject of) ([^.:]+?) (?:I know|is beyond)")
    seen = 0
    for turn in turns(4000):
        found = subject.search(turn.assistant)
        if found and found[1] not in ("the world", "Duologue"):
            assert found[1].lower() in turn.user.lower(), turn
            seen += 1
    assert seen > 30


def test_danger_points_to_people() -> None:
    random = Random(1)
    by_name = {kind.name: kind for kind in scope.KINDS}
    for _ in range(200):
        assert "emergency number" in scope.refusal_turn(random, by_name["emergency"]).assistant
        assert re.search(r"emergency number", scope.refusal_turn(random, by_name["despair"]).assistant)
        assert re.search(r"No|no|not|n't", scope.refusal_turn(random, by_name["harm"]).assistant)
        assert re.search(r"doctor|pharmacist", scope.refusal_turn(random, by_name["health"]).assistant)


def test_beside_tools_nothing_is_asked_that_a_tool_could_do() -> None:
    random = Random(2)
    for _ in range(500):
        turn = scope.draw(random, beside_tools=True).turns[0]
        assert not re.search(r"weather|what time|search the web", turn.user.lower()), turn


def test_the_lists_have_no_duplicates() -> None:
    for table in (
        world_questions.PEOPLE,
        world_questions.EVENTS,
        world_questions.SCIENCES,
        world_questions.WORKS,
        foreign_phrases.SENTENCES,
        sensitive_topics.SAD,
    ):
        assert len(table) == len(set(table))
        assert all(entry.strip() == entry and entry for entry in table)
