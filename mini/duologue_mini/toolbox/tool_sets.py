"""The tools of one chat: those that are needed, and distractors that look alike or not at all.

Makes sure that no distractor could do the work of a needed tool.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini.toolbox import catalogue, invented_tools, server_styles
from duologue_mini.toolbox.actions import Action, Tool, tool

COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]
WEIGHTS = [16, 16, 15, 13, 9, 7, 5, 4, 4, 4, 3, 4]

COMMON = "weather clock clock calendar mail files web calculator home music notes reminders todo money contacts".split()  # noqa: SIM905


@dataclass(frozen=True)
class ToolSet:
    """The tools of a chat; `form` is the format of their list."""

    tools: tuple[Tool, ...]
    form: str

    def definitions(self) -> list[dict[str, Any]]:
        """The tool definitions for the prompt."""
        return [server_styles.wrap(one.function, self.form) for one in self.tools]

    def serves(self, sense: str) -> bool:
        """Whether some tool belongs to this domain or may serve it as well."""
        return any(sense == one.action.domain or sense in one.action.also.split() for one in self.tools)


def count(random: Random) -> int:
    """Draws the number of tools."""
    return random.choices(COUNTS, WEIGHTS)[0]


def action(random: Random) -> Action:
    """Draws an action: a very common one, any of the catalogue, or an invented one."""
    chance = random.random()
    if chance < 0.14:
        return random.choice(catalogue.BY_DOMAIN[random.choice(COMMON)])
    return random.choice(catalogue.ACTIONS) if chance < 0.52 else invented_tools.action(random)


def draw_tool_set(
    random: Random, targets: list[Action], size: int, missing: Action | None = None
) -> tuple[ToolSet, list[Tool]]:
    """Draws a tool set of this size that includes the target tools, and those tools; none may be able to do `missing`."""
    chosen = list(targets)
    crowded = size > 6
    attempts = 0
    while len(chosen) < size and attempts < size * 3 + 8:
        attempts += 1
        other = _beside(random, [*targets, *([missing] if missing else [])], chosen)
        if _fits_beside(other, chosen, missing):
            chosen.append(other)
    offers = list(_draw_tools(random, chosen, crowded))
    distinct: list[tuple[Action, Tool]] = []
    for what, one in zip(chosen, offers, strict=True):
        if all(one.name != other.name for _, other in distinct):
            distinct.append((what, one))
    target_tools = [
        next(one for what, one in distinct if what is action)
        for action in targets
        if any(action is what for what, _ in distinct)
    ]
    tools = [one for _, one in distinct]
    random.shuffle(tools)
    form = random.choices(["openai", "bare", "mcp"], [92, 5, 3])[0]
    return ToolSet(tuple(tools), form), target_tools


def _draw_tools(random: Random, chosen: Iterable[Action], crowded: bool) -> Iterable[Tool]:
    """The tools of one server, or of one server per domain."""
    styles: dict[str, server_styles.ServerStyle] = {}
    single = random.random() < 0.55
    for what in chosen:
        domain = "" if single else what.domain
        if domain not in styles:
            styles[domain] = server_styles.draw_style(random, what.domain.replace(" ", "_"), crowded)
        yield tool(random, what, styles[domain], crowded)


def _beside(random: Random, targets: list[Action], chosen: list[Action]) -> Action:
    """A distractor: a sibling of a target, an everyday action, or an invented one."""
    kind = random.random()
    if targets and kind < 0.4:
        like = random.choice(targets)
        if like.words:
            return sibling(random, like, [*targets, *chosen])
        return random.choice(catalogue.BY_DOMAIN.get(like.domain, catalogue.ACTIONS))
    return random.choice(catalogue.ACTIONS) if kind < 0.72 else invented_tools.action(random)


def sibling(random: Random, like: Action, others: list[Action]) -> Action:
    """Another operation on the same kind of thing."""
    thing = invented_tools.Noun(like.words["Noun"], like.words["Nouns"])
    avoid = tuple(one.names.split()[0] for one in others if one.domain == like.domain)
    return invented_tools.action(random, thing, avoid)


def _fits_beside(other: Action, chosen: list[Action], missing: Action | None) -> bool:
    if any(other is one or _same_name(other, one) for one in chosen):
        return False
    if missing is None:
        return True
    also = other.also.split()
    if other is missing or "anything" in also or missing.domain in also or _same_name(other, missing):
        return False
    return not (
        other.words and other.domain == missing.domain and other.names.split()[0] == missing.names.split()[0]
    )


def _same_name(one: Action, other: Action) -> bool:
    """Whether an invented and an everyday action could be confused because they work on the same thing."""
    if one.domain == other.domain:
        return bool(one.words) and one.names.split()[0] == other.names.split()[0]
    if not one.words and not other.words:
        return False
    words = set(one.names.replace("|", " ").split()) & set(other.names.replace("|", " ").split())
    heads = {what.words["Noun"].split()[-1].lower() for what in (one, other) if what.words}
    heads |= {what.words["Nouns"].split()[-1].lower() for what in (one, other) if what.words}
    return bool(words & heads)


def alone(random: Random, what: Action) -> Tool:
    """A tool that is in no tool set."""
    return tool(random, what, server_styles.draw_style(random, what.domain, False), False)


def missing_tool(random: Random, table: ToolSet) -> Tool | None:
    """A tool that is not in the set, and whose task no tool of the set could do."""
    for _ in range(6):
        targets = action(random)
        if all(_fits_beside(one.action, [], targets) for one in table.tools):
            return alone(random, targets)
    return None
