"""Turns around a tool: asked for and called, lacking something, failing, and none that fits.

Knows how such turns follow each other; knows no particular tool.
"""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import filled, loose
from duologue_mini.text.words import joined
from duologue_mini.toolbox import outcomes
from duologue_mini.toolbox.actions import QUOTES, Input, Request, Tool, arguments, request
from duologue_mini.toolbox.outcomes import Result
from duologue_mini.toolbox.value_kinds import Value

WHY = [
    "The user wants to $d. $n {does that|fits}. $a",
    "{To|I should} $d: $n. $a",
    "$n {fits|is the right tool}: it can $d. $a",
    "{This needs|I need|I call|The tool for this is} $n. $a",
    "The user asks to $d. {I call|I use} $n. $a",
]
GOT = {
    "done": ["{It worked|The tool says it is done|No error: it is done}. {I tell the user|I say so}."],
    "facts": [
        "{The tool has answered|The answer is here}. I {pass it on|tell what was asked}.",
        "The result has it. I copy the values.",
    ],
    "list": ["The tool gave $k. I {list them|pass them on}.", "$k in the result."],
    "text": ["The tool gave a text. I {pass it on|copy it}."],
    "error": ["{The call failed|That is an error}. I say so {plainly|and invent nothing}."],
}

MAKING = set("create add book order plan send post submit open schedule register reserve generate".split())  # noqa: SIM905


@dataclass(frozen=True)
class Exchange:
    """A turn, and what it was made of."""

    turn: Turn
    tool: Tool
    request: Request
    result: Result | None = None


def used(random: Random, tool: Tool, made: Request, thought: str = "") -> tuple[ToolUse, Result]:
    """The call this request leads to, and what comes back."""
    got = result_of(random, tool, made)
    return ToolUse(tool.name, made.arguments, got.text, thought or why(random, tool, made.arguments)), got


def result_of(random: Random, tool: Tool, made: Request) -> Result:
    """What the tool answers: fields that echo the request agree with it, sums are right."""
    outcome = tool.action.outcome
    known: dict[str, Any] = {
        name: made.values[name].argument for name in outcome.fields if name in made.values
    }
    if tool.action.figure:
        known |= tool.action.figure(random, {slot: one.argument for slot, one in made.values.items()})
    return outcomes.result(random, outcome, known, tool.action.names.split(maxsplit=1)[0] in MAKING)


def why(random: Random, tool: Tool, given: dict[str, Any]) -> str:
    """One line: which tool, and with what."""
    listed = ", ".join(f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in given.items())
    if listed:
        told = random.choice(["Arguments: ", "With ", "I fill in "]) + listed + "."
    else:
        told = say(random, "{It takes no arguments|No arguments are needed|Nothing to fill in}.")
    return filled(capital(say(random, random.choice(WHY))), {"d": tool.does, "n": tool.name, "a": told})


def then(random: Random, tool: Tool, got: Result) -> str:
    """What the model thinks of a result."""
    counted = f"{len(got.items)} {tool.action.said.get('Nouns', tool.action.outcome.plural)}"
    return say(random, random.choice(GOT[tool.action.outcome.kind]), k=counted)


def told(random: Random, tool: Tool, made: Request, got: Result, said: dict[str, str] | None = None) -> str:
    """The answer after a call."""
    return outcomes.answer(random, tool.action.outcome, got, said or made.said, tool.action.said)


def called(random: Random, tool: Tool, made: Request | None = None) -> Exchange:
    """Asked for and called."""
    made = made or (named(random, tool) if random.random() < 0.07 else request(random, tool))
    use, got = used(random, tool, made)
    turn = Turn(
        made.text, told(random, tool, made, got), then(random, tool, got), exact=True, rounds=((use,),)
    )
    return Exchange(turn, tool, made, got)


def named(random: Random, tool: Tool) -> Request:
    """A request that names the tool and its parameters as a programmer would."""
    values: dict[str, Value] = {}
    parts: list[str] = []
    between = random.choice([" = ", "=", ": ", " ", " set to "])
    for one in tool.inputs:
        if not one.required and random.random() < 0.5:
            continue
        drawn = one.shape.draw(random)
        argument = drawn.argument
        if one.chosen or isinstance(argument, (int, float, list, dict)):
            text = json.dumps(argument, ensure_ascii=False) if not isinstance(argument, str) else argument
        else:
            text = str(argument)
        if isinstance(argument, str) and (one.free or (between in ("=", " = ") and random.random() < 0.4)):
            text = (
                random.choice(QUOTES[:4]).replace("$s", text)
                if '"' not in text and "'" not in text
                else json.dumps(text, ensure_ascii=False)
            )
        values[one.slot] = Value(argument, text.strip("\"'") if one.free else text)
        parts.append(f"{one.key}{between}{text}")
    given = arguments(tool, values)
    if given and random.random() < 0.2:
        listed = json.dumps(given, ensure_ascii=False)
    else:
        listed = joined(parts) if random.random() < 0.5 else ", ".join(parts)
    ask = "{call|use|run|please call|can you use|try} {the tool |}$n" + (
        "{ with|:| with these arguments:} $a" if given else ""
    )
    text = filled(capital(say(random, ask)), {"n": tool.name, "a": listed})
    return Request(
        text, given, {slot: Value(one.argument, str(one.argument)) for slot, one in values.items()}
    )


def lacking(random: Random, tool: Tool) -> list[Exchange] | None:
    """Something required is not said: the assistant asks for just that, gets it, and calls."""
    open_slots = [one for one in tool.inputs if one.required and one.slot not in ("state", "action")]
    if not open_slots:
        return None
    count = 2 if len(open_slots) > 1 and random.random() < 0.2 else 1
    asked = random.sample(open_slots, count)
    asked.sort(key=tool.inputs.index)
    made = request(random, tool, without=tuple(one.slot for one in asked))
    question = " ".join(one.question(random) for one in asked)
    if random.random() < 0.35:
        question = (
            say(random, "{Sure|Gladly|I can do that|Of course|Happy to|All right}{.|!}") + " " + question
        )
    keys = joined([one.key for one in asked])
    thought = f"{tool.name} needs {keys}, and the user has not said {'it' if count == 1 else 'them'}. I ask."
    first = Exchange(Turn(made.text, question, thought, exact=True), tool, made)
    given = {one.slot: one.shape.draw(random) for one in asked}
    whole = Request(_given(random, asked, given), {}, made.values | given)
    whole = Request(whole.text, arguments(tool, whole.values), whole.values)
    return [first, called(random, tool, whole)]


def _given(random: Random, asked: list[Input], given: dict[str, Value]) -> str:
    """The user's answer to the question."""
    if len(asked) == 2:
        parts = [f"{one.parameter.label} {_shown(random, one, given[one.slot])}" for one in asked]
        return random.choice([", ", " and "]).join(parts)
    one = asked[0]
    shown = _shown(random, one, given[one.slot], alone=True)
    if one.chosen:
        return loose(random, capital(shown))
    patterns = [
        "$v",
        "$v",
        "it's $v",
        "it is $v",
        "{use|take|make it} $v",
        "the $l is $v",
        "$v please",
        "$v{.|, thanks}",
    ]
    if not one.free and one.parameter.clause:
        patterns.append(one.clause(random).strip(" ,:").replace(f"${one.slot}", "$v"))
    pattern = say(random, random.choice(patterns), l=one.parameter.label)
    if pattern.startswith("$v") and shown[:1].isupper():
        pattern = random.choice(["it's ", "it is ", "use ", "make it "]) + pattern
    if one.free and not pattern.endswith("$v"):
        pattern = "$v"
        shown = f'"{shown}"' if '"' not in shown and not shown.startswith(("'", "“", "«")) else shown
    return filled(loose(random, capital(pattern)), {"v": shown})


def _shown(random: Random, one: Input, drawn: Value, alone: bool = False) -> str:
    said = drawn.said.lstrip(", ")
    if one.free and '"' not in said and (not alone or random.random() < 0.4 or said[-1:] in ".?!"):
        return random.choice(QUOTES[:4]).replace("$s", said) if "'" not in said else f'"{said}"'
    return said


def failed(random: Random, tool: Tool) -> list[Exchange]:
    """The tool answers with an error, which is told; sometimes it is tried again."""
    made = request(random, tool)
    use, _ = used(random, tool, made)
    written, answer = outcomes.failure(random, tool.name)
    use = ToolUse(use.name, use.arguments, written, use.thought)
    turn = Turn(made.text, answer, say(random, random.choice(GOT["error"])), exact=True, rounds=((use,),))
    exchanges = [Exchange(turn, tool, made)]
    if random.random() < 0.25:
        again = say(
            random,
            "{{Please |}try {it |}again|Once more{, please|}|Again{, please|}|Retry{ that|}|Do it again|One more time}",
        )
        exchanges.append(called(random, tool, Request(again, made.arguments, made.values)))
    return exchanges


VARIED = (
    "place",
    "person",
    "date",
    "day",
    "id",
    "filed",
    "code",
    "symbol",
    "word",
    "token",
    "service",
    "path",
    "host",
    "language",
)
VARIED += ("branch", "table", "channel", "food", "room", "thing", "key", "url", "file", "folder", "mail")


def varied(tool: Tool) -> Input | None:
    """The input of which there may be several, each with a call of its own."""
    for one in tool.inputs:
        if one.required and not one.chosen and one.parameter.kind in VARIED:
            return one
    return None


def twice(random: Random, tool: Tool) -> Exchange | None:
    """Two or three values for one input: that many calls at once."""
    one = varied(tool)
    if one is None:
        return None
    drawn = list(
        {
            value.said: value
            for value in (one.shape.draw(random) for _ in range(random.choice([2, 2, 2, 3])))
        }.values()
    )
    if len(drawn) < 2:
        return None
    made = request(
        random, tool, given={one.slot: Value(drawn[0].argument, joined([value.said for value in drawn]))}
    )
    if one.slot not in made.values:
        return None
    uses, answers = [], []
    for index, value in enumerate(drawn):
        each = made.values | {one.slot: value}
        single = Request("", arguments(tool, each), each)
        thought = f"{len(drawn)} calls, one for each. " if index == 0 else ""
        use, got = used(random, tool, single)
        uses.append(ToolUse(use.name, use.arguments, use.result, thought + use.thought))
        answer = told(random, tool, single, got)
        answers.append(answer if value.said in answer else f"{value.said}: {answer}")
    together = ("\n" if any("\n" in answer for answer in answers) or random.random() < 0.3 else " ").join(
        answers
    )
    thought = say(
        random, "{All|Both|The} answers are here. I {tell|pass on} each.".replace("All|Both|The", "All|The")
    )
    return Exchange(Turn(made.text, together, thought, exact=True, rounds=(tuple(uses),)), tool, made)


def both(random: Random, first: Tool, second: Tool) -> Turn:
    """Two different things in one message: two calls at once."""
    one, other = request(random, first, closed=True), request(random, second, closed=True)
    start = other.text[:1].lower() + other.text[1:] if not other.text.startswith("I") else other.text
    if one.text.endswith((".", "?", "!")):
        text = one.text + random.choice([" Also, ", " And ", " Then ", " And also "]) + start
    else:
        text = one.text + random.choice([", and ", " and ", ", also ", " and then ", "; "]) + start
    use, got = used(random, first, one)
    next_use, next_got = used(random, second, other)
    use = ToolUse(use.name, use.arguments, use.result, f"Two things. {use.thought} {next_use.thought}")
    answer = f"{told(random, first, one, got)} {told(random, second, other, next_got)}"
    if "\n" in answer:
        answer = f"{told(random, first, one, got)}\n\n{told(random, second, other, next_got)}"
    return Turn(text, answer, "Both tools have answered. I tell both.", exact=True, rounds=((use, next_use),))


NONE = [
    "{I have no tool to|None of my tools can|There is no tool here to|I don't have a tool to|No tool here can} $d.",
    "{Sorry, |I am afraid }{none of my tools can|no tool here can|I have no tool to} $d.",
    "I {cannot|can't} $d {here|with these tools}: {no tool does that|there is no tool for it|none of them does that}.",
    "{That|This} is not something my tools can do: I have none to $d.",
]


def without_tool(random: Random, wanted: Tool) -> Turn:
    """Asked for something that no tool here does."""
    made = request(random, wanted)
    answer = filled(say(random, random.choice(NONE)), {"d": wanted.does})
    thought = random.choice(
        [
            f"No tool here can {wanted.does}. I say so.",
            f"The user wants to {wanted.does}. None of the tools does that.",
        ]
    )
    return Turn(made.text, capital(answer), thought, exact=True)
