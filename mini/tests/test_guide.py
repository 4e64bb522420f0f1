"""Help about Duologue: varied, about Duologue only, and the user's own words come back unchanged."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from duologue_mini.facts import FACTS, glossary
from duologue_mini.scene import Turn
from duologue_mini.skills import guide

PLACE = re.compile(r"(?<![\w.])(?:~|\.{0,2})/[\w./-]+|\b[\w.-]+\.gguf\b|https?://[\w.:/-]+|--port (\d+)")


def turns(count: int, seed: int = 3) -> list[Turn]:
    random = Random(seed)
    return [turn for _ in range(count) for turn in guide.draw(random).turns]


def test_the_same_seed_gives_the_same_help() -> None:
    assert turns(200) == turns(200)


def test_questions_are_rarely_the_same() -> None:
    questions = Counter(
        guide.draw(random).turns[0].user.lower() for random in [Random(5)] for _ in range(3000)
    )
    assert max(questions.values()) <= 12
    assert len(questions) > 2300


def test_every_topic_and_every_name_comes_up() -> None:
    texts = "\n".join(turn.assistant for turn in turns(25_000))
    for table in (glossary.ADDRESSES, glossary.CODES, glossary.COMMANDS, glossary.FLAGS, glossary.FIGURES):
        for name in table:
            assert name in texts, name
    for knob in glossary.KNOBS:
        assert knob.name in texts
    thoughts = {turn.thought for turn in turns(8_000, seed=4)}
    for name, fact in FACTS.items():
        assert any(fact.subject in thought for thought in thoughts), name


def test_no_pattern_is_left_unfilled() -> None:
    for turn in turns(3000):
        for text in (turn.user, turn.assistant, turn.thought):
            assert text.strip()
            assert not re.search(r"\$[a-z]", text), text
            assert "||" not in text, text


def test_names_from_the_question_come_back_unchanged() -> None:
    """Ports, files, folders and addresses in an answer are those of the question, or those of the docs."""
    fixed = {"9000", "0", "FILE.gguf", "FOLDER"}
    random = Random(8)
    for name in (
        "port given",
        "model given",
        "upstream given",
        "data given",
        "proxy given",
        "pull given",
        "mcp given",
        "backup given",
        "key given",
        "key revoke given",
        "role given",
        "disable given",
        "enable given",
    ):
        for _ in range(200):
            slots = guide.fills(random)
            turn = guide.topic_turn(random, name, slots)
            slot = {
                "port": "port",
                "model": "file",
                "upstream": "url",
                "data": "folder",
                "proxy": "domain",
                "pull": "model",
                "mcp": "domain",
                "backup": "folder",
                "key": "user",
                "role": "user",
                "disable": "user",
                "enable": "user",
            }[name.split()[0]]
            assert slots[slot] in turn.user, turn
            assert slots[slot] in turn.assistant, turn
            assert turn.exact
            for port in re.findall(r"--port (\d+)", turn.assistant):
                assert port == slots["port"] or port in fixed


def test_other_software_and_unknown_names_are_not_explained() -> None:
    random = Random(4)
    for _ in range(500):
        turn = guide.other_turn(random)
        assert re.search(
            r"only Duologue|Duologue only|beyond me|is all I know|my way around Duologue", turn.assistant
        ), turn
        turn = guide.unknown_turn(random)
        assert re.search(
            r"I know no|do not know|There is no|none that I know|unknown to me", turn.assistant
        ), turn


def test_a_repeated_answer_is_the_same_answer() -> None:
    random = Random(6)
    seen = 0
    for _ in range(2500):
        scene = guide.draw(random)
        for before, turn in zip(scene.turns, scene.turns[1:], strict=False):
            if "repeat my last answer" in turn.thought:
                assert turn.assistant == before.assistant
                seen += 1
    assert seen > 10


def test_planned_features_are_never_promised() -> None:
    random = Random(2)
    for _ in range(300):
        turn = guide.topic_turn(random, "not yet", guide.fills(random))
        assert re.search(
            r"[Nn]ot yet|too early|still to come|[Nn]ot in this version|not there yet", turn.assistant
        ), turn
