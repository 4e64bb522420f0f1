"""One module per family of skills, each with `draw(random) -> Scene`, and the mix of the corpus.

A family is imported when it is first drawn.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from random import Random

from duologue_mini.scene import Scene

Draw = Callable[[Random], Scene]

WEIGHTS: dict[str, float] = {
    "guide": 24,
    "scope": 24,
    "unseen_tools": 22,
    "manners": 20,
    "arithmetic": 14,
    "reading": 12,
    "rewriting": 12,
    "recall": 8,
    "instructed": 7,
    "memory": 5,
    "spoken": 5,
    "stories": 5,
    "echo": 2,
    "tools": 2,
}


@cache
def drawer(name: str) -> Draw:
    """The function that draws the scenes of a family."""
    draw: Draw = import_module(f"duologue_mini.skills.{name}").draw
    return draw


def draw(random: Random, emphasis: Mapping[str, float]) -> Scene:
    """Draws a scene of some skill by the mix; `emphasis` multiplies the weights of the skills it names."""
    weights = [weight * emphasis.get(name, 1.0) for name, weight in WEIGHTS.items()]
    return drawer(random.choices(list(WEIGHTS), weights)[0])(random)
