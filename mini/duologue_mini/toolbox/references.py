"""References such as "the second one", "it" and "that city" to values further up in the chat.

The value comes from a list, from something just created, or from the user's own words.
"""

import json
from dataclasses import replace
from random import Random

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import fill_slots
from duologue_mini.toolbox import invented_tools, outcomes
from duologue_mini.toolbox.actions import Action, Request, Tool, arguments, request
from duologue_mini.toolbox.catalogue import action_named
from duologue_mini.toolbox.exchanges import report, result_of, then, use_tool, why
from duologue_mini.toolbox.parameters import Parameter
from duologue_mini.toolbox.value_kinds import Value

# a tool that lists, a tool that takes an item, the slot it goes into, and the request
PICKS = [
    (
        action_named("search files"),
        action_named("read file"),
        "path",
        "{read|open|show me} the $which{ one| file|}",
    ),
    (
        action_named("search files"),
        action_named("delete file"),
        "path",
        "{delete|remove} the $which{ one| file|}",
    ),
    (action_named("search files"), action_named("file info"), "path", "How big is the $which{ one| file|}?"),
    (
        action_named("search text"),
        action_named("read file"),
        "path",
        "{read|open|show me} the $which{ one| file|}",
    ),
    (
        action_named("list tables"),
        action_named("describe table"),
        "table",
        "{describe|show the columns of} the $which{ one| table|}",
    ),
    (
        action_named("list tables"),
        action_named("count rows"),
        "table",
        "How many rows {does|are in} the $which one{ have|}?",
    ),
    (
        action_named("list containers"),
        action_named("restart service"),
        "service",
        "restart the $which{ one|}",
    ),
    (
        action_named("list containers"),
        action_named("get logs"),
        "service",
        "{show|get|read} the log of the $which{ one|}",
    ),
    (
        action_named("list channels"),
        action_named("post message"),
        "channel",
        "{post|write} $text in the $which{ one| channel|}",
    ),
    (action_named("suggest names"), action_named("define word"), "word", "What does the $which{ one|} mean?"),
]
ORDER = ["first", "second", "third", "fourth", "fifth", "sixth"]


def pick(random: Random) -> tuple[Action, Action, str, str]:
    """Two tools, one of which lists what the other takes: everyday ones, or for an invented thing."""
    if random.random() < 0.5:
        return random.choice(PICKS)
    thing = invented_tools.noun(random)
    lister = invented_tools.action(
        random, thing, form=random.choice([invented_tools.MANY, invented_tools.SOME])
    )
    lister = replace(lister, outcome=outcomes.listing("$Nouns", "token"))
    deed = invented_tools.action(random, thing, form=invented_tools.ONE)
    name = Parameter(
        random.choice(["name", f"{thing.name.replace(' ', '_')}_name", "target", "which"]),
        "token",
        "{Its name|The name}",
        " called $v",
    )
    deed = replace(
        deed, needs={"id": name, **{slot: one for slot, one in deed.needs.items() if slot != "id"}}
    )
    return lister, deed, "id", "{$Verb|now $Verb|$Verb} the $which{ one| $Noun|}"


def pick_from_list(random: Random, lister: Tool, taker: Tool, slot: str, asks: str) -> list[Turn]:
    """A list, then an item of it by position: the value is in the result."""
    task = request(random, lister)
    for _ in range(6):
        use, tool_result = use_tool(random, lister, task)
        if tool_result.items:
            break
    first = Turn(
        task.text,
        report(random, lister, task, tool_result),
        then(random, lister, tool_result),
        exact=True,
        rounds=((use,),),
    )
    if not tool_result.items:
        return [first]
    index = random.randrange(len(tool_result.items))
    word = "last" if index == len(tool_result.items) - 1 and index and random.random() < 0.5 else ORDER[index]
    item = tool_result.items[index]
    inputs = tuple(one for one in taker.inputs if one.slot != slot)
    own = {**taker.action.words, "which": word}
    open_tool = replace(taker, inputs=inputs, action=replace(taker.action, words=own))
    ask = request(random, open_tool, asks=asks)
    values = ask.values | {slot: Value(item, item)}
    whole = Request(ask.text, arguments(taker, values), values)
    after = result_of(random, taker, whole)
    thought = f"The {word} one is {item}. {why(random, taker, whole.arguments)}"
    called_now = ToolUse(taker.name, whole.arguments, after.text, thought)
    second = Turn(
        ask.text,
        report(random, taker, whole, after),
        then(random, taker, after),
        exact=True,
        rounds=((called_now,),),
    )
    return [first, second]


def made_then(random: Random, maker: Tool, taker: Tool) -> list[Turn]:
    """Something is created and gets an id; the next call needs that id."""
    task = request(random, maker)
    use, _ = use_tool(random, maker, task)
    value = taker.input("id").shape.draw(random)
    identifier = value.argument if isinstance(value.argument, int) else value.text
    text = random.choice(
        [
            json.dumps({"id": identifier}),
            json.dumps({"ok": True, "id": identifier}),
            f"ok, id {identifier}",
            f"Created. id: {identifier}",
        ]
    )
    result = outcomes.ToolResult(text, {"id": str(identifier)})
    use = ToolUse(use.name, use.arguments, text, use.thought)
    first = Turn(
        task.text,
        report(random, maker, task, result),
        then(random, maker, result),
        exact=True,
        rounds=((use,),),
    )
    rest = replace(taker, inputs=tuple(one for one in taker.inputs if one.slot != "id"))
    it = (
        "{that one|this $Noun|the $Noun}"
        if " " in taker.action.words["Verb"]
        else "{it|it|that one|this $Noun}"
    )
    ask = request(random, rest, asks=f"{{$Verb|now $Verb}} {it}{{ now| again|}}")
    values = ask.values | {"id": value}
    whole = Request(ask.text, arguments(taker, values), values)
    after = outcomes.result(random, taker.action.outcome)
    answer = report(random, taker, whole, after)
    thought = f"It is the one just made: {identifier}. {why(random, taker, whole.arguments)}"
    second = Turn(
        ask.text,
        answer,
        then(random, taker, after),
        exact=True,
        rounds=((ToolUse(taker.name, whole.arguments, after.text, thought),),),
    )
    return [first, second]


REFERENCES = {
    "place": "that {city|place|town}",
    "date": "that {day|date}",
    "mail": "that address",
    "person": "that person",
}
TELLS = {
    "place": "{I am in|I live in|We are in|I am going to|Think of} $v{ now|}.",
    "date": "{The date is|It is about|I mean the} $v.",
    "mail": "{The|My sister's|The new} {address|mail address} is $v.",
    "person": "{My boss is|It is about|I am thinking of|The person is} $v.",
}


def told_before(random: Random, tool: Tool) -> list[Turn] | None:
    """The user mentions a value first and refers to it in the request."""
    one = next((one for one in tool.inputs if one.required and one.parameter.kind in REFERENCES), None)
    if one is None:
        return None
    kind = one.parameter.kind
    value = one.shape.draw(random)
    acknowledgement = fill_slots(
        say(random, "{{Noted|All right|I see|Good to know|Got it}: $v.}", v="$v"), {"v": value.text}
    )
    first = Turn(
        fill_slots(say(random, TELLS[kind]), {"v": value.text}),
        acknowledgement,
        f"The user tells me: {value.text}. I note it.",
        exact=True,
    )
    reference = say(random, REFERENCES[kind])
    task = request(random, tool, given={one.slot: Value(value.argument, reference)})
    if one.slot not in task.values:
        return None
    values = task.values | {one.slot: value}
    whole = Request(task.text, arguments(tool, values), values)
    use, result = use_tool(random, tool, whole)
    use = ToolUse(use.name, use.arguments, use.result, f"{capital(reference)} is {value.text}. {use.thought}")
    return [
        first,
        Turn(
            whole.text,
            report(random, tool, whole, result),
            then(random, tool, result),
            exact=True,
            rounds=((use,),),
        ),
    ]


def refers(what: Action) -> bool:
    """Whether a tool takes a value that may have been mentioned before."""
    return any(one.kind in REFERENCES for one in what.needs.values())
