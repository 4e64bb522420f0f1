"""What all skills over words and numbers have in common: seeded, varied, well formed, no slot left open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from duologue_mini.scene import Scene
from duologue_mini.skills import arithmetic, instructed, reading, recall, rewriting, spoken

SKILLS = {
    module.__name__.rpartition(".")[2]: module.draw
    for module in (arithmetic, instructed, reading, recall, rewriting, spoken)
}
OPEN = re.compile(r"\$[a-z]|\{[a-z |]+\}|\[[a-z| ]+\]")
each_skill = pytest.mark.parametrize("draw", SKILLS.values(), ids=SKILLS)

Draw = Callable[[Random], Scene]


@each_skill
def test_the_same_seed_draws_the_same(draw: Draw) -> None:
    first, second = Random("a"), Random("a")
    assert [draw(first) for _ in range(20)] == [draw(second) for _ in range(20)]


@each_skill
def test_scenes_are_whole(draw: Draw) -> None:
    random = Random(1)
    for _ in range(1500):
        scene = draw(random)
        assert scene.turns
        for turn in scene.turns:
            assert turn.user.strip()
            assert turn.assistant.strip()
            assert turn.thought.strip()
            assert turn.assistant == turn.assistant.strip()
            assert turn.after_thought is None or turn.after_thought.strip()


@each_skill
def test_no_slot_is_left_open(draw: Draw) -> None:
    random = Random(2)
    for _ in range(1500):
        scene = draw(random)
        for text in [
            scene.system or "",
            *(turn.assistant for turn in scene.turns),
            *(turn.thought for turn in scene.turns),
        ]:
            assert not OPEN.search(text), text


@each_skill
def test_wording_is_varied(draw: Draw) -> None:
    random = Random(3)
    texts = Counter((scene.system, scene.turns[0].user) for scene in (draw(random) for _ in range(2000)))
    assert texts.most_common(1)[0][1] <= 20
    assert len(texts) >= 1500
