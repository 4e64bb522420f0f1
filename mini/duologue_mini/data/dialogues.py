"""Assembles scenes into whole dialogues: system prompt, tools, several topics in a row, thinking on or off."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini import skills
from duologue_mini.scene import Scene, ToolUse, Turn
from duologue_mini.text.phrases import pick
from duologue_mini.text.typos import add_typos

SYSTEMS = [
    "You are a helpful assistant.",
    "You are a helpful assistant.",
    "You are a {helpful|friendly|kind|polite|useful} {AI |}assistant.",
    "You are a helpful{, honest|, friendly|, polite} {AI |}assistant.[ Answer the user's questions.]",
    "{Help|Assist} the user[ {with their questions|as well as you can}].",
    "You are {duologue-mini|an assistant}[, a small model].[ {Be kind|Be helpful|Be honest}.]",
    "{Be helpful|Answer the user|You answer questions}.",
    "You are {duologue-mini|a small model|an assistant}. {Use the tools when they help|Answer in plain English|Keep"
    " it short|Be clear and kind}.",
]
UNBOUND = frozenset({"reading"})
"""A scene's own system prompt binds every answer, so no other topic may follow it, except after these skills."""
OPENING = frozenset({"recall", "alone"})
"""Scenes that must come first and stay in one piece: they ask for the first words, or make sense only at the start."""
TELLERS = frozenset({"recall", "memory"})
"""Skills in which the user makes statements about themselves."""
BESIDE_TOOLS = frozenset(
    {
        "alone",
        "goodbyes",
        "greetings",
        "guide",
        "identity",
        "manners",
        "memory",
        "reading",
        "recall",
        "stories",
    }
)
"""Skills whose turns never need a tool, whatever tools are offered."""
RANKS = {"greetings": 0, "memory": 1, "goodbyes": 3}
TELLS_A_NAME = re.compile(r"\b(my name|i'm|i am|call me|this is) [^\W\d_]", re.IGNORECASE)
MOST_TOOLS = 16
LONGEST = 11_000
"""Characters after which a long conversation gets no further topic."""


@dataclass(frozen=True)
class Dialogue:
    """The messages of a whole chat, as a client would send them, with the last answer."""

    skill: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    thinking: bool


def draw(
    random: Random,
    emphasis: Mapping[str, float],
    *,
    thinking_share: float = 0.3,
    topics: float = 1.0,
    long_share: float = 0.01,
) -> Dialogue:
    """One dialogue of the corpus.

    `emphasis` multiplies the weights of the skills it names, `topics` the share of dialogues with several topics;
    `long_share` is the share with very many topics.
    """
    first = skills.draw(random, emphasis)
    thinking = random.random() < thinking_share
    if first.system is not None and first.skill not in UNBOUND:
        return assemble(random, first.skill, first.turns, first.system, first.tools, thinking)
    system = first.system or (pick(random, SYSTEMS) if random.random() < 0.35 else None)
    if first.tools:
        turns, tools = _around_tools(random, first, emphasis, topics)
        return assemble(random, first.skill, turns, system, tools, thinking)
    if first.system is None and random.random() < long_share:
        scenes = [first, *_many(random, emphasis)]
    else:
        scenes = [first, *_more(random, emphasis, topics)]
    tools = _idle_tools(random, scenes)
    return assemble(random, first.skill, _order(random, scenes), system, tools, thinking)


def _further(random: Random, emphasis: Mapping[str, float]) -> Iterator[Scene]:
    """Endless scenes that can be combined: without tools and system prompts of their own."""
    while True:
        scene = skills.draw(random, emphasis)
        if not scene.tools and scene.system is None:
            yield scene


def _more(random: Random, emphasis: Mapping[str, float], topics: float) -> list[Scene]:
    count = random.choices([1, 2, 4, 7], [22, 14, 8, 4])[0] if random.random() < 0.48 * topics else 0
    return [scene for scene, _ in zip(_further(random, emphasis), range(count), strict=False)]


def _many(random: Random, emphasis: Mapping[str, float]) -> list[Scene]:
    """So many topics that the conversation fills much of the context, begun by a statement that can be asked for at the end."""
    limit, length, scenes = random.uniform(0.15, 1.0) * LONGEST, 0, [skills.drawer("memory")(random)]
    for scene in _further(random, emphasis):
        length += sum(len(turn.user) + len(turn.assistant) + 40 for turn in scene.turns)
        if length > limit:
            return scenes
        scenes.append(scene)
    raise AssertionError("there are always further scenes")


def _around_tools(
    random: Random, first: Scene, emphasis: Mapping[str, float], topics: float
) -> tuple[list[Turn], list[dict[str, Any]]]:
    """The turns before and after a scene with tools, and the tools of the whole chat."""
    scenes, tools = [first], list(first.tools)
    if random.random() < 0.2 * topics:
        second = skills.draw(random, {name: 0.0 for name in skills.WEIGHTS if "tools" not in name})
        if _together(first, second):
            scenes.append(second)
            tools += second.tools
            random.shuffle(tools)
    if random.random() < 0.4 * topics:
        names = [name for name in skills.WEIGHTS if name in BESIDE_TOOLS]
        scenes += [
            scene
            for scene in (
                skills.drawer(random.choice(names))(random) for _ in range(random.choice([1, 1, 2, 3]))
            )
            if not scene.tools and scene.system is None
        ]
    return _order(random, scenes), tools


def _together(first: Scene, second: Scene) -> bool:
    """Whether two scenes can share a chat: no tool that one calls resembles a tool of the other."""
    tools = [*first.tools, *second.tools]
    calls = all(turn.rounds for scene in (first, second) for turn in scene.turns)
    size = sum(len(json.dumps(tool)) for tool in tools)
    return (
        calls
        and second.system is None
        and len(tools) <= MOST_TOOLS
        and size < 7000
        and _apart(first, second.tools)
        and _apart(second, first.tools)
    )


def _apart(scene: Scene, others: list[dict[str, Any]]) -> bool:
    """Whether no tool called in a scene shares a word with any of the others."""
    names = {use.name for turn in scene.turns for together in turn.rounds for use in together}
    own = set().union(*(_words(tool) for tool in scene.tools if _function(tool)["name"] in names))
    return not any(own & _words(tool) for tool in others)


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    return tool.get("function") or tool


def _words(tool: dict[str, Any]) -> set[str]:
    """The words of a tool's name and description longer than three letters, without plural endings."""
    text = f"{_function(tool)['name']} {_function(tool).get('description', '')}"
    split = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)
    return {word.casefold().rstrip("s") for word in split if len(word) > 3}


def _idle_tools(random: Random, scenes: list[Scene]) -> list[dict[str, Any]]:
    """Tools that are offered but not needed, where no turn could be meant for them."""
    if random.random() > 0.25 or not all(scene.skill in BESIDE_TOOLS for scene in scenes):
        return []
    return skills.draw(random, {name: 0.0 for name in skills.WEIGHTS if "tools" not in name}).tools


def _order(random: Random, scenes: list[Scene]) -> list[Turn]:
    """Greetings first, goodbyes last, and other topics between a statement and the question about it."""
    random.shuffle(scenes)
    if random.random() < 0.7:
        scenes.sort(key=lambda scene: RANKS.get(scene.skill, 2))
    scenes = _consistent(scenes)
    memories = [scene for scene in scenes if scene.skill == "memory" and len(scene.turns) > 1]
    turns = [turn for scene in scenes for turn in scene.turns]
    if memories and random.random() < 0.7:
        question = memories[0].turns[-1]
        last = len(turns) - 1 if scenes[-1].skill == "goodbyes" else len(turns)
        index = next(index for index, turn in enumerate(turns) if turn is question)
        far = random.randint(index, max(index, last)) if random.random() < 0.7 else max(index, last)
        turns.insert(far, question)
        del turns[index]
    return turns


def _consistent(scenes: list[Scene]) -> list[Scene]:
    """At most one opening scene, at the front; and statements about the user in only one scene, so that none contradict."""
    opening = [scene for scene in scenes if scene.skill in OPENING][:1]
    rest = [scene for scene in scenes if scene.skill not in OPENING]
    tellers = [scene for scene in [*opening, *rest] if scene.skill in TELLERS]
    if tellers:
        rest = [
            scene
            for scene in rest
            if scene is tellers[0] or not (scene.skill in TELLERS or _tells_a_name(scene))
        ]
    return [*opening, *rest]


def _tells_a_name(scene: Scene) -> bool:
    return any(turn.exact and TELLS_A_NAME.search(turn.user) for turn in scene.turns)


def assemble(
    random: Random,
    skill: str,
    turns: list[Turn],
    system: str | None,
    tools: list[dict[str, Any]],
    thinking: bool,
) -> Dialogue:
    """The messages of these turns; only the last user turn is answered with a thought, as in a server's history."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for index, turn in enumerate(turns):
        thinks = thinking and index == len(turns) - 1
        messages.append({"role": "user", "content": add_typos(random, turn.user, exact=turn.exact)})
        messages += answer_messages(turn, thinks)
    return Dialogue(skill, messages, tools, thinking)


def answer_messages(turn: Turn, thinks: bool) -> list[dict[str, Any]]:
    """The messages after the user's: calls, their results, the answer."""
    messages = [message for together in turn.rounds for message in _tool_messages(together, thinks)]
    answer = turn.after_thought if thinks and turn.after_thought else turn.assistant
    return [*messages, _assistant(answer, turn.thought if thinks else None)]


def _assistant(content: str, thought: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if thought:
        message["reasoning_content"] = thought
    return message


def _tool_messages(together: tuple[ToolUse, ...], thinks: bool) -> list[dict[str, Any]]:
    """One round: a message with its calls, then the tools' answers in their order."""
    call = _assistant("", together[0].thought if thinks else None)
    call["tool_calls"] = [
        {"type": "function", "function": {"name": use.name, "arguments": use.arguments}} for use in together
    ]
    return [call, *({"role": "tool", "content": use.result} for use in together)]
