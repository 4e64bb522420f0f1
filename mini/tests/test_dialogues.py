"""Whole dialogues: well formed, consistent, varied, and reproducible."""

import json
from collections import Counter
from random import Random

import pytest

from duologue_mini import skills
from duologue_mini.data.curriculum import LESSONS, lesson_at
from duologue_mini.data.dialogues import LONGEST, MOST_TOOLS, Dialogue, draw
from duologue_mini.model.chat_template import render


@pytest.fixture(scope="module")
def dialogues() -> list[Dialogue]:
    random = Random(11)
    return [draw(random, {}, long_share=0.02) for _ in range(1500)]


def test_the_same_seed_gives_the_same_dialogues() -> None:
    assert [draw(random, {}) for random in [Random(4)] for _ in range(50)] == [
        draw(random, {}) for random in [Random(4)] for _ in range(50)
    ]


def test_a_dialogue_begins_with_the_user_and_ends_with_an_answer(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues:
        roles = [message["role"] for message in dialogue.messages]
        roles_after_system = roles[1:] if roles[0] == "system" else roles
        assert "system" not in roles_after_system
        assert roles_after_system[0] == "user"
        assert roles_after_system[-1] == "assistant"
        assert dialogue.messages[-1]["content"] or dialogue.messages[-1].get("tool_calls")


def test_every_user_message_is_followed_by_an_answer(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues:
        for message, following in zip(dialogue.messages, dialogue.messages[1:], strict=False):
            if message["role"] == "user":
                assert following["role"] == "assistant"


def test_every_call_has_its_result_and_its_tool(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues:
        names = {(tool.get("function") or tool)["name"] for tool in dialogue.tools}
        for place, message in enumerate(dialogue.messages):
            calls = message.get("tool_calls", [])
            results = [it["role"] for it in dialogue.messages[place + 1 : place + 1 + len(calls)]]
            assert results == ["tool"] * len(calls)
            assert {call["function"]["name"] for call in calls} <= names


def test_tool_names_are_unique_and_not_too_many(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues:
        names = [(tool.get("function") or tool)["name"] for tool in dialogue.tools]
        assert len(set(names)) == len(names) <= MOST_TOOLS
        json.dumps(dialogue.tools)


def test_only_the_last_turn_has_a_thought(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues:
        questions = max(place for place, it in enumerate(dialogue.messages) if it["role"] == "user")
        thoughts = [place for place, it in enumerate(dialogue.messages) if it.get("reasoning_content")]
        assert not thoughts if not dialogue.thinking else all(place > questions for place in thoughts)


def test_some_conversations_are_long_and_none_is_much_too_long(dialogues: list[Dialogue]) -> None:
    lengths = sorted(sum(len(it["content"]) for it in dialogue.messages) for dialogue in dialogues)
    assert lengths[-1] > 5000
    assert lengths[len(lengths) // 2] < 1500
    assert sum(length > LONGEST + 2000 for length in lengths) < 5


def test_some_dialogues_have_unused_tools(dialogues: list[Dialogue]) -> None:
    idle = [
        it for it in dialogues if it.tools and not any("tool_calls" in message for message in it.messages)
    ]
    assert len(idle) > 15


def test_every_family_is_drawn(dialogues: list[Dialogue]) -> None:
    counts = Counter(dialogue.skill for dialogue in dialogues)
    assert len(counts) >= len(skills.WEIGHTS) - 2
    assert max(counts.values()) < 0.35 * len(dialogues)


def test_the_same_question_is_rarely_drawn_twice(dialogues: list[Dialogue]) -> None:
    questions = Counter(
        it["content"] for dialogue in dialogues for it in dialogue.messages if it["role"] == "user"
    )
    assert questions.most_common(1)[0][1] < 0.01 * questions.total()


def test_every_dialogue_renders(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues[:300]:
        text = render(dialogue.messages, dialogue.tools, enable_thinking=dialogue.thinking)
        assert text.endswith("<|im_end|>\n")


def test_the_lessons_come_in_order_and_know_their_families() -> None:
    assert [lesson.until for lesson in LESSONS] == sorted(lesson.until for lesson in LESSONS)
    assert lesson_at(0.0) is LESSONS[0]
    assert lesson_at(1.0) is LESSONS[-1]
    assert all(set(lesson.emphasis) <= set(skills.WEIGHTS) for lesson in LESSONS)


def test_emphasis_changes_the_mix() -> None:
    random = Random(2)
    only = dict.fromkeys(skills.WEIGHTS, 0.0) | {"stories": 1.0}
    assert {skills.draw(random, only).skill for _ in range(30)} == {"stories"}
