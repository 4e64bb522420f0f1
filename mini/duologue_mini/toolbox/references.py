"""What is meant by "the second one", "it" and "that city": values that stand further up in the chat.

Knows where such a value comes from: a list, something just made, or the user's own words.
"""

import json
from dataclasses import replace
from random import Random

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import filled
from duologue_mini.toolbox import invented_tools, outcomes
from duologue_mini.toolbox.actions import Action, Request, Tool, arguments, request
from duologue_mini.toolbox.catalogue import named
from duologue_mini.toolbox.exchanges import result_of, then, told, used, why
from duologue_mini.toolbox.parameters import Parameter
from duologue_mini.toolbox.value_kinds import Value

# a tool that lists, a tool that takes one of them, where it goes, and how it is asked for
PICKS = [
    (named("search files"), named("read file"), "path", "{read|open|show me} the $which{ one| file|}"),
    (named("search files"), named("delete file"), "path", "{delete|remove} the $which{ one| file|}"),
    (named("search files"), named("file info"), "path", "How big is the $which{ one| file|}?"),
    (named("search text"), named("read file"), "path", "{read|open|show me} the $which{ one| file|}"),
    (
        named("list tables"),
        named("describe table"),
        "table",
        "{describe|show the columns of} the $which{ one| table|}",
    ),
    (
        named("list tables"),
        named("count rows"),
        "table",
        "How many rows {does|are in} the $which one{ have|}?",
    ),
    (named("list containers"), named("restart service"), "service", "restart the $which{ one|}"),
    (named("list containers"), named("get logs"), "service", "{show|get|read} the log of the $which{ one|}"),
    (
        named("list channels"),
        named("post message"),
        "channel",
        "{post|write} $text in the $which{ one| channel|}",
    ),
    (named("suggest names"), named("define word"), "word", "What does the $which{ one|} mean?"),
]
ORDER = ["first", "second", "third", "fourth", "fifth", "sixth"]


def pick(random: Random) -> tuple[Action, Action, str, str]:
    """Two tools of which one lists what the other takes: everyday ones, or for a thing nobody knows."""
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


def picked(random: Random, lister: Tool, taker: Tool, slot: str, asks: str) -> list[Turn]:
    """A list, then one of it by its place: the value is in the result."""
    made = request(random, lister)
    for _ in range(6):
        use, got = used(random, lister, made)
        if got.items:
            break
    first = Turn(
        made.text, told(random, lister, made, got), then(random, lister, got), exact=True, rounds=((use,),)
    )
    if not got.items:
        return [first]
    index = random.randrange(len(got.items))
    word = "last" if index == len(got.items) - 1 and index and random.random() < 0.5 else ORDER[index]
    item = got.items[index]
    inputs = tuple(one for one in taker.inputs if one.slot != slot)
    own = {**taker.action.said, "which": word}
    open_tool = replace(taker, inputs=inputs, action=replace(taker.action, said=own))
    ask = request(random, open_tool, asks=asks)
    values = ask.values | {slot: Value(item, item)}
    whole = Request(ask.text, arguments(taker, values), values)
    after = result_of(random, taker, whole)
    thought = f"The {word} one is {item}. {why(random, taker, whole.arguments)}"
    called_now = ToolUse(taker.name, whole.arguments, after.text, thought)
    second = Turn(
        ask.text,
        told(random, taker, whole, after),
        then(random, taker, after),
        exact=True,
        rounds=((called_now,),),
    )
    return [first, second]


def made_then(random: Random, maker: Tool, taker: Tool) -> list[Turn]:
    """Something is made and gets an id; then something is done to it, which needs that id."""
    made = request(random, maker)
    use, _ = used(random, maker, made)
    value = taker.input("id").shape.draw(random)
    known = value.argument if isinstance(value.argument, int) else value.said
    text = random.choice(
        [
            json.dumps({"id": known}),
            json.dumps({"ok": True, "id": known}),
            f"ok, id {known}",
            f"Created. id: {known}",
        ]
    )
    got = outcomes.Result(text, {"id": str(known)})
    use = ToolUse(use.name, use.arguments, text, use.thought)
    first = Turn(
        made.text, told(random, maker, made, got), then(random, maker, got), exact=True, rounds=((use,),)
    )
    rest = replace(taker, inputs=tuple(one for one in taker.inputs if one.slot != "id"))
    it = (
        "{that one|this $Noun|the $Noun}"
        if " " in taker.action.said["Verb"]
        else "{it|it|that one|this $Noun}"
    )
    ask = request(random, rest, asks=f"{{$Verb|now $Verb}} {it}{{ now| again|}}")
    values = ask.values | {"id": value}
    whole = Request(ask.text, arguments(taker, values), values)
    after = outcomes.result(random, taker.action.outcome)
    answer = told(random, taker, whole, after)
    thought = f"It is the one just made: {known}. {why(random, taker, whole.arguments)}"
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
    """The user says something first, and refers to it in the request."""
    one = next((one for one in tool.inputs if one.required and one.parameter.kind in REFERENCES), None)
    if one is None:
        return None
    kind = one.parameter.kind
    drawn = one.shape.draw(random)
    noted = filled(
        say(random, "{{Noted|All right|I see|Good to know|Got it}: $v.}", v="$v"), {"v": drawn.said}
    )
    first = Turn(
        filled(say(random, TELLS[kind]), {"v": drawn.said}),
        noted,
        f"The user tells me: {drawn.said}. I note it.",
        exact=True,
    )
    said = say(random, REFERENCES[kind])
    made = request(random, tool, given={one.slot: Value(drawn.argument, said)})
    if one.slot not in made.values:
        return None
    values = made.values | {one.slot: drawn}
    whole = Request(made.text, arguments(tool, values), values)
    use, got = used(random, tool, whole)
    use = ToolUse(use.name, use.arguments, use.result, f"{capital(said)} is {drawn.said}. {use.thought}")
    return [
        first,
        Turn(
            whole.text, told(random, tool, whole, got), then(random, tool, got), exact=True, rounds=((use,),)
        ),
    ]


def refers(what: Action) -> bool:
    """Whether it takes something that may have been said before."""
    return any(one.kind in REFERENCES for one in what.needs.values())
