"""Turns around a tool: a plain call, a missing argument, an error, several calls, and no tool that fits."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import fill_slots, loose
from duologue_mini.text.words import join_words
from duologue_mini.toolbox import outcomes
from duologue_mini.toolbox.actions import QUOTES, Request, Tool, arguments, request
from duologue_mini.toolbox.outcomes import ToolResult
from duologue_mini.toolbox.parameters import Input
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
    """A turn, and what it was made from."""

    turn: Turn
    tool: Tool
    request: Request
    result: ToolResult | None = None


def use_tool(random: Random, tool: Tool, task: Request, thought: str = "") -> tuple[ToolUse, ToolResult]:
    """The call for this request, and its result."""
    result = result_of(random, tool, task)
    return ToolUse(
        tool.name, task.arguments, result.text, thought or why(random, tool, task.arguments)
    ), result


def result_of(random: Random, tool: Tool, task: Request) -> ToolResult:
    """The tool's result: fields that repeat the request agree with it, computed ones are right."""
    outcome = tool.action.outcome
    context: dict[str, Any] = {
        name: task.values[name].argument for name in outcome.fields if name in task.values
    }
    if tool.action.figure:
        context |= tool.action.figure(random, {slot: one.argument for slot, one in task.values.items()})
    return outcomes.result(random, outcome, context, tool.action.names.split(maxsplit=1)[0] in MAKING)


def why(random: Random, tool: Tool, values: dict[str, Any]) -> str:
    """A thought of one line: which tool, with which arguments."""
    listing = ", ".join(f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in values.items())
    if listing:
        thought = random.choice(["Arguments: ", "With ", "I fill in "]) + listing + "."
    else:
        thought = say(random, "{It takes no arguments|No arguments are needed|Nothing to fill in}.")
    return fill_slots(
        capital(say(random, random.choice(WHY))), {"d": tool.does, "n": tool.name, "a": thought}
    )


def then(random: Random, tool: Tool, tool_result: ToolResult) -> str:
    """The thought after a result."""
    count = f"{len(tool_result.items)} {tool.action.words.get('Nouns', tool.action.outcome.plural)}"
    return say(random, random.choice(GOT[tool.action.outcome.kind]), k=count)


def report(
    random: Random, tool: Tool, task: Request, result: ToolResult, words: dict[str, str] | None = None
) -> str:
    """The answer after a call."""
    return outcomes.answer(
        random, tool.action.outcome, result, words or task.written_values, tool.action.words
    )


def call_exchange(random: Random, tool: Tool, task: Request | None = None) -> Exchange:
    """A request and its call."""
    task = task or (explicit_request(random, tool) if random.random() < 0.07 else request(random, tool))
    use, result = use_tool(random, tool, task)
    turn = Turn(
        task.text,
        report(random, tool, task, result),
        then(random, tool, result),
        exact=True,
        rounds=((use,),),
    )
    return Exchange(turn, tool, task, result)


def explicit_request(random: Random, tool: Tool) -> Request:
    """A request that names the tool and its parameters as a programmer would."""
    values: dict[str, Value] = {}
    parts: list[str] = []
    between = random.choice([" = ", "=", ": ", " ", " set to "])
    for one in tool.inputs:
        if not one.required and random.random() < 0.5:
            continue
        value = one.shape.draw(random)
        argument = value.argument
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
    arguments_so_far = arguments(tool, values)
    if arguments_so_far and random.random() < 0.2:
        listing = json.dumps(arguments_so_far, ensure_ascii=False)
    else:
        listing = join_words(parts) if random.random() < 0.5 else ", ".join(parts)
    ask = "{call|use|run|please call|can you use|try} {the tool |}$n" + (
        "{ with|:| with these arguments:} $a" if arguments_so_far else ""
    )
    text = fill_slots(capital(say(random, ask)), {"n": tool.name, "a": listing})
    return Request(
        text, arguments_so_far, {slot: Value(one.argument, str(one.argument)) for slot, one in values.items()}
    )


def lacking(random: Random, tool: Tool) -> list[Exchange] | None:
    """A required value is missing: the assistant asks for it, gets it, and calls."""
    open_slots = [one for one in tool.inputs if one.required and one.slot not in ("state", "action")]
    if not open_slots:
        return None
    count = 2 if len(open_slots) > 1 and random.random() < 0.2 else 1
    missing = random.sample(open_slots, count)
    missing.sort(key=tool.inputs.index)
    task = request(random, tool, without=tuple(one.slot for one in missing))
    question = " ".join(one.question(random) for one in missing)
    if random.random() < 0.35:
        question = (
            say(random, "{Sure|Gladly|I can do that|Of course|Happy to|All right}{.|!}") + " " + question
        )
    keys = join_words([one.key for one in missing])
    thought = f"{tool.name} needs {keys}, and the user has not said {'it' if count == 1 else 'them'}. I ask."
    first = Exchange(Turn(task.text, question, thought, exact=True), tool, task)
    values = {one.slot: one.shape.draw(random) for one in missing}
    whole = Request(_reply_with(random, missing, values), {}, task.values | values)
    whole = Request(whole.text, arguments(tool, whole.values), whole.values)
    return [first, call_exchange(random, tool, whole)]


def _reply_with(random: Random, missing: list[Input], values: dict[str, Value]) -> str:
    """The user's answer to the question."""
    if len(missing) == 2:
        parts = [f"{one.parameter.label} {_show_value(random, one, values[one.slot])}" for one in missing]
        return random.choice([", ", " and "]).join(parts)
    one = missing[0]
    text = _show_value(random, one, values[one.slot], alone=True)
    if one.chosen:
        return loose(random, capital(text))
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
    if pattern.startswith("$v") and text[:1].isupper():
        pattern = random.choice(["it's ", "it is ", "use ", "make it "]) + pattern
    if one.free and not pattern.endswith("$v"):
        pattern = "$v"
        text = f'"{text}"' if '"' not in text and not text.startswith(("'", "“", "«")) else text
    return fill_slots(loose(random, capital(pattern)), {"v": text})


def _show_value(random: Random, one: Input, value: Value, alone: bool = False) -> str:
    text = value.text.lstrip(", ")
    if one.free and '"' not in text and (not alone or random.random() < 0.4 or text[-1:] in ".?!"):
        return random.choice(QUOTES[:4]).replace("$s", text) if "'" not in text else f'"{text}"'
    return text


def failure_exchanges(random: Random, tool: Tool) -> list[Exchange]:
    """The tool returns an error, which the assistant reports; at times the user tries again."""
    task = request(random, tool)
    use, _ = use_tool(random, tool, task)
    error_text, answer = outcomes.failure(random, tool.name)
    use = ToolUse(use.name, use.arguments, error_text, use.thought)
    turn = Turn(task.text, answer, say(random, random.choice(GOT["error"])), exact=True, rounds=((use,),))
    exchanges = [Exchange(turn, tool, task)]
    if random.random() < 0.25:
        again = say(
            random,
            "{{Please |}try {it |}again|Once more{, please|}|Again{, please|}|Retry{ that|}|Do it again|One more time}",
        )
        exchanges.append(call_exchange(random, tool, Request(again, task.arguments, task.values)))
    return exchanges


VARIED: tuple[str, ...] = (
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


def repeatable_input(tool: Tool) -> Input | None:
    """An input that may have several values, each with a call of its own."""
    for one in tool.inputs:
        if one.required and not one.chosen and one.parameter.kind in VARIED:
            return one
    return None


def twice(random: Random, tool: Tool) -> Exchange | None:
    """Two or three values for one input: parallel calls."""
    one = repeatable_input(tool)
    if one is None:
        return None
    options = list(
        {
            value.text: value
            for value in (one.shape.draw(random) for _ in range(random.choice([2, 2, 2, 3])))
        }.values()
    )
    if len(options) < 2:
        return None
    task = request(
        random,
        tool,
        given={one.slot: Value(options[0].argument, join_words([value.text for value in options]))},
    )
    if one.slot not in task.values:
        return None
    uses, answers = [], []
    for index, value in enumerate(options):
        each = task.values | {one.slot: value}
        single = Request("", arguments(tool, each), each)
        thought = f"{len(options)} calls, one for each. " if index == 0 else ""
        use, result = use_tool(random, tool, single)
        uses.append(ToolUse(use.name, use.arguments, use.result, thought + use.thought))
        answer = report(random, tool, single, result)
        answers.append(answer if value.text in answer else f"{value.text}: {answer}")
    together = ("\n" if any("\n" in answer for answer in answers) or random.random() < 0.3 else " ").join(
        answers
    )
    thought = say(
        random, "{All|Both|The} answers are here. I {tell|pass on} each.".replace("All|Both|The", "All|The")
    )
    return Exchange(Turn(task.text, together, thought, exact=True, rounds=(tuple(uses),)), tool, task)


def both(random: Random, first: Tool, second: Tool) -> Turn:
    """Two tasks in one message: two parallel calls."""
    one, other = request(random, first, closed=True), request(random, second, closed=True)
    start = other.text[:1].lower() + other.text[1:] if not other.text.startswith("I") else other.text
    if one.text.endswith((".", "?", "!")):
        text = one.text + random.choice([" Also, ", " And ", " Then ", " And also "]) + start
    else:
        text = one.text + random.choice([", and ", " and ", ", also ", " and then ", "; "]) + start
    use, result = use_tool(random, first, one)
    next_use, next_got = use_tool(random, second, other)
    use = ToolUse(use.name, use.arguments, use.result, f"Two things. {use.thought} {next_use.thought}")
    answer = f"{report(random, first, one, result)} {report(random, second, other, next_got)}"
    if "\n" in answer:
        answer = f"{report(random, first, one, result)}\n\n{report(random, second, other, next_got)}"
    return Turn(text, answer, "Both tools have answered. I tell both.", exact=True, rounds=((use, next_use),))


NONE = [
    "{I have no tool to|None of my tools can|There is no tool here to|I don't have a tool to|No tool here can} $d.",
    "{Sorry, |I am afraid }{none of my tools can|no tool here can|I have no tool to} $d.",
    "I {cannot|can't} $d {here|with these tools}: {no tool does that|there is no tool for it|none of them does that}.",
    "{That|This} is not something my tools can do: I have none to $d.",
]


def without_tool(random: Random, absent: Tool) -> Turn:
    """A request that none of the offered tools can fulfil."""
    task = request(random, absent)
    answer = fill_slots(say(random, random.choice(NONE)), {"d": absent.does})
    thought = random.choice(
        [
            f"No tool here can {absent.does}. I say so.",
            f"The user wants to {absent.does}. None of the tools does that.",
        ]
    )
    return Turn(task.text, capital(answer), thought, exact=True)
