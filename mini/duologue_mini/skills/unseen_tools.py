"""Skill: calling tools the model has never seen, with the right arguments, and using their results.

Tools and turns come from `toolbox/`; this module mixes the kinds of turns and puts other topics beside them.
"""

from collections.abc import Callable
from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import beyond, duologue, echo, farewells, greetings, identity, memory, stories, sums
from duologue_mini.text import payloads, words
from duologue_mini.text.phrases import capital, pick, say
from duologue_mini.text.requests import fill_slots, loose
from duologue_mini.toolbox import (
    catalogue,
    chains,
    exchanges,
    follow_ups,
    invented_tools,
    references,
    tool_sets,
)
from duologue_mini.toolbox.actions import Tool
from duologue_mini.toolbox.tool_sets import ToolSet

SKILL = "unseen_tools"
Draw = Callable[[Random], Scene]
Kind = Callable[[Random, int], Scene]


def draw(random: Random) -> Scene:
    """Some tools, and turns around them."""
    return _draw_scene(random, tool_sets.count(random))


def draw_few(random: Random) -> Scene:
    """The same with one to three tools: a larger share of the tokens counts for the loss."""
    return _draw_scene(random, random.choice([1, 2, 2, 3]))


def _draw_scene(random: Random, size: int) -> Scene:
    kinds = list(KINDS)
    return random.choices(kinds, [KINDS[kind] for kind in kinds])[0](random, size)


def _scene(random: Random, turns: list[Turn], table: ToolSet) -> Scene:
    """The turns with their tools, more turns with the same tools, now and then another topic."""
    for _ in range(random.choices([0, 1, 2, 4], [58, 24, 12, 6])[0]):
        turns = [*turns, *_more(random, table)]
    if random.random() < 0.12:
        beside = _beside(random, table)
        turns = [*beside, *turns] if random.random() < 0.5 else [*turns, *beside]
    return Scene(SKILL, turns, tools=table.definitions())


def _more(random: Random, table: ToolSet) -> list[Turn]:
    """One more task for the offered tools."""
    tool = random.choice(table.tools)
    chance = random.random()
    if chance < 0.08:
        return [one.turn for one in exchanges.failure_exchanges(random, tool)]
    if chance < 0.18:
        turns = exchanges.lacking(random, tool)
        if turns:
            return [one.turn for one in turns]
    if chance < 0.26:
        several = exchanges.twice(random, tool)
        if several:
            return [several.turn]
    if chance < 0.38:
        phantom = tool_sets.missing_tool(random, table)
        if phantom:
            return [exchanges.without_tool(random, phantom)]
    first = exchanges.call_exchange(random, tool)
    again = follow_ups.asked_again(random, first) if random.random() < 0.3 else None
    return [first.turn, again] if again else [first.turn]


def _call(random: Random, size: int) -> Scene:
    """One call of the right tool among many, at times with a follow-up question or another call."""
    table, tools = tool_sets.draw_tool_set(random, [tool_sets.action(random)], size)
    first = exchanges.call_exchange(random, tools[0])
    turns = [first.turn]
    chance = random.random()
    if chance < 0.22:
        more = follow_ups.asked_again(random, first)
        turns += [more] if more else []
    elif chance < 0.32:
        again = follow_ups.and_there(random, first)
        turns += [again.turn] if again else []
    return _scene(random, turns, table)


def _lacking(random: Random, size: int) -> Scene:
    """A required argument is missing."""
    for _ in range(8):
        action = tool_sets.action(random)
        if action.needs:
            break
    table, tools = tool_sets.draw_tool_set(random, [action], size)
    turns = exchanges.lacking(random, tools[0])
    if turns is None:
        return _scene(random, [exchanges.call_exchange(random, tools[0]).turn], table)
    return _scene(random, [one.turn for one in turns], table)


def _twice(random: Random, size: int) -> Scene:
    """One tool, called for several values at once."""
    table, tools = tool_sets.draw_tool_set(random, [tool_sets.action(random)], size)
    turns = exchanges.twice(random, tools[0]) or exchanges.call_exchange(random, tools[0])
    return _scene(random, [turns.turn], table)


def _both(random: Random, size: int) -> Scene:
    """Two tools in one message."""
    table, chosen_tools = tool_sets.draw_tool_set(
        random, [tool_sets.action(random), tool_sets.action(random)], max(2, size)
    )
    if len(chosen_tools) < 2:
        return _scene(random, [exchanges.call_exchange(random, chosen_tools[0]).turn], table)
    return _scene(random, [exchanges.both(random, *chosen_tools)], table)


def _chain(random: Random, size: int) -> Scene:
    """Two rounds: the first result feeds the second call."""
    action = chains.chain(random)
    table, tools = tool_sets.draw_tool_set(random, [action.first, action.second], max(2, size))
    if len(tools) < 2:
        return _scene(random, [exchanges.call_exchange(random, tools[0]).turn], table)
    return _scene(random, [chains.chain_turn(random, action, *tools)], table)


def _referring(random: Random, size: int) -> Scene:
    """A reference to a value further up: in a list, in a result, in what the user said."""
    kind = random.choice(["list", "made", "told"])
    if kind == "list":
        lister, taker, slot, asks = references.pick(random)
        table, tools = tool_sets.draw_tool_set(random, [lister, taker], max(2, size))
        if len(tools) == 2:
            first, second = tools
            return _scene(random, references.pick_from_list(random, first, second, slot, asks), table)
    elif kind == "made":
        thing = invented_tools.noun(random)
        pair = [
            invented_tools.action(random, thing, form=form)
            for form in (invented_tools.NEW, invented_tools.ONE)
        ]
        table, tools = tool_sets.draw_tool_set(random, pair, max(2, size))
        if len(tools) == 2:
            return _scene(random, references.made_then(random, *tools), table)
    else:
        action = random.choice([one for one in catalogue.ACTIONS if references.refers(one)])
        table, tools = tool_sets.draw_tool_set(random, [action], size)
        turns = references.told_before(random, tools[0])
        if turns:
            return _scene(random, turns, table)
    return _call(random, size)


def _failing(random: Random, size: int) -> Scene:
    """An error, reported plainly."""
    table, tools = tool_sets.draw_tool_set(random, [tool_sets.action(random)], size)
    return _scene(random, [one.turn for one in exchanges.failure_exchanges(random, tools[0])], table)


def _no_tool_scene(random: Random, size: int) -> Scene:
    """A task no tool can do, at times before or after one that a tool can."""
    action = tool_sets.action(random)
    table, _ = tool_sets.draw_tool_set(random, [], size, missing=action)
    if not table.tools:
        return _call(random, size)
    phantom = tool_sets.alone(random, action)
    turns = [exchanges.without_tool(random, phantom)]
    if table.tools and random.random() < 0.25:
        turn = exchanges.call_exchange(random, random.choice(table.tools)).turn
        turns = [turn, *turns] if random.random() < 0.5 else [*turns, turn]
    return Scene(SKILL, turns, tools=table.definitions())


def _plain(random: Random, size: int) -> Scene:
    """Tools are offered, and the chat needs none."""
    table, _ = tool_sets.draw_tool_set(random, [], size)
    return Scene(SKILL, _beside(random, table), tools=table.definitions())


def _beside(random: Random, table: ToolSet) -> list[Turn]:
    """Turns that none of these tools is meant for."""
    topics: list[Draw] = [greetings.draw, identity.draw, farewells.draw, duologue.draw, stories.draw]
    if not table.serves("memory") and not table.serves("notes"):
        topics += [memory.draw, memory.draw]
    if not table.serves("text"):
        topics.append(echo.draw)
    if not any(table.serves(sense) for sense in ("sum", "calculator", "shell")):
        topics.append(sums.draw)
    if not any(table.serves(sense) for sense in ("beyond", "anything", "sum", "shell", "web", "docs")):
        topics += [lambda generator: beyond.draw(generator, beside_tools=True), _of_the_world, _of_the_world]
    return random.choice(topics)(random).turns


def _of_the_world(random: Random) -> Scene:
    """A question about the world that neither the model nor a tool can answer."""
    question = capital(pick(random, beyond.FACTS, **beyond.fills(random)))
    answer = say(
        random,
        "{I do not know that|That is beyond me|I don't know}[: I am a very small model], and"
        " {none of my tools can look it up|no tool here can tell|my tools are not for that}.",
    )
    thought = "This asks for knowledge of the world. I do not have it, and no tool here looks it up."
    return Scene(SKILL, [Turn(question, answer, thought)])


ASK_TOOLS = [
    "{Which|What} tools {do you have|are there|can you use|can you call|are available}[ here]?",
    "{List|Name|Show me} {your|the|all} tools[ by name][.]",
    "What {tools|functions} {have you got|do you know}?",
]


def _which(random: Random, size: int) -> Scene:
    """The user asks which tools there are, or whether one of a given name exists."""
    table, _ = tool_sets.draw_tool_set(random, [], min(size, 8))
    names = [one.name for one in table.tools]
    if random.random() < 0.3:
        return Scene(SKILL, [_needs(random, random.choice(table.tools))], tools=table.definitions())
    if random.random() < 0.4:
        exists = random.random() < 0.5
        name = random.choice(names) if exists else f"{payloads.word(random)}_{payloads.word(random)}"
        exists = name in names
        user = say(random, "{Do you have|Is there|Can you use} {a|the} tool {called |named |}$v?", v="$v")
        answer = say(
            random,
            "{Yes, {I have|there is} $v.|Yes: $v.}"
            if exists
            else "{No, {I have no|there is no} tool $v.|No, $v is not among my tools.}",
        )
        thought = f"{name} is {'in' if exists else 'not in'} the list."
        return Scene(
            SKILL,
            [Turn(fill_slots(user, {"v": name}), fill_slots(answer, {"v": name}), thought, exact=True)],
            tools=table.definitions(),
        )
    head = say(random, "{I have|I can call|These are my tools|There are|I can use} ") + " "
    names_text = (
        ", ".join(names)
        if random.random() < 0.6 or len(names) > 5
        else "\n" + "\n".join(f"- `{name}`" for name in names)
    )
    head = head.rstrip() + ": "
    thought = f"{len(names)} tools in the list. I name them."
    answer = (head + names_text).replace(": \n", ":\n") + ("" if "\n" in names_text else ".")
    return Scene(
        SKILL,
        [Turn(loose(random, pick(random, ASK_TOOLS)), answer, thought, exact=True)],
        tools=table.definitions(),
    )


def _needs(random: Random, one: Tool) -> Turn:
    """The user asks what a tool takes; the answer is read from its schema."""
    required = [f"`{part.key}`" for part in one.inputs if part.required]
    others = [f"`{part.key}`" for part in one.inputs if not part.required]
    user = say(
        random,
        "{{What|Which arguments|Which parameters} does $v {need|take|want}?|What do I {need to |have to |}give $v?}",
        v="$v",
    )
    answer = f"It needs {words.join_words(required)}." if required else "It needs nothing."
    if others:
        answer += f" {words.join_words(others)} {'is' if len(others) == 1 else 'are'} optional."
    return Turn(fill_slots(user, {"v": one.name}), answer, f"I look at the schema of {one.name}.", exact=True)


KINDS: dict[Kind, float] = {
    _call: 40,
    _lacking: 9,
    _twice: 6,
    _both: 6,
    _chain: 8,
    _referring: 7,
    _failing: 6,
    _no_tool_scene: 11,
    _plain: 10,
    _which: 2,
}
