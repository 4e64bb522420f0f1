"""Answers repeat what the user said, and the newest value counts."""

from __future__ import annotations

import re
from random import Random

from duologue_mini.conversation.statements import several
from duologue_mini.skills import recall

TOLD = re.compile(r"^The user tells me: (.*?)\.(?: I note it\.)?$")
NOW = re.compile(r"^Before: (.*)\. Now: (.*)\. The new one counts\.$")


def test_recalled_values_were_stated_before() -> None:
    random, seen = Random(1), 0
    for _ in range(2500):
        earlier_text: list[str] = []
        for turn in recall.draw(random).turns:
            if match := TOLD.match(turn.thought):
                earlier_text += match[1].split("; ")
            elif match := NOW.match(turn.thought):
                assert match[1] in earlier_text
                earlier_text[earlier_text.index(match[1])] = match[2]
            elif turn.thought.startswith("The user told me: "):
                seen += 1
                assert turn.thought.removeprefix("The user told me: ").removesuffix(".") in earlier_text
            elif match := re.search(r" Later: (.*)\. The later one counts\.$", turn.thought):
                assert match[1] in earlier_text
    assert seen > 1500


def test_values_that_were_never_stated_are_not_made_up() -> None:
    random, seen = Random(2), 0
    for _ in range(1500):
        for turn in recall.draw(random).turns:
            if "The user has not told me" in turn.thought:
                seen += 1
                assert " not " in turn.assistant
    assert seen > 150


def test_conversations_reach_ten_turns() -> None:
    random = Random(3)
    lengths = [len(recall.draw(random).turns) for _ in range(800)]
    assert max(lengths) >= 12
    assert min(lengths) <= 2


def test_the_first_question_is_quoted_as_it_was_asked() -> None:
    random, seen = Random(4), 0
    for _ in range(4000):
        turns = recall.draw(random).turns
        for index, turn in enumerate(turns):
            if turn.thought.startswith("The first question: "):
                seen += 1
                quoted = turn.assistant.partition('"')[2].rstrip('"?.!').lower()
                assert any(quoted in one.user.lower() for one in turns[:index])
    assert seen > 40


def test_statements_drawn_together_do_not_contradict() -> None:
    random = Random(5)
    for _ in range(500):
        statements = several(random, 5)
        assert len({one.about for one in statements}) == 5
        assert len({one.value for one in statements}) == 5
