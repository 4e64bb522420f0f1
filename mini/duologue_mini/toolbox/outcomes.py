"""What tools return and what the assistant says of it: done, facts, lists, texts, errors.

Results are plain words, JSON or tables. An answer says only what its result holds.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from duologue_mini.text import payloads
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import fill_slots
from duologue_mini.text.words import join_words
from duologue_mini.toolbox.sample_strings import date, time
from duologue_mini.toolbox.value_kinds import value

Said = dict[str, str]


@dataclass(frozen=True)
class ToolOutcome:
    """`answer` may contain the request's slots and, for facts, the fields; `plural` names the items of a list.

    `focus` is the field the user asked about: `$value` in the answer. Facts without an `answer` are summarised.
    """

    kind: str
    answer: str
    fields: dict[str, str] = field(default_factory=dict)
    plural: str = ""
    focus: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The result as text, and what the answer may use of it: fields by name, the items of a list."""

    text: str
    fields: Said
    items: tuple[str, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)


def done(answer: str) -> ToolOutcome:
    """Something was done; the result says little else."""
    return ToolOutcome("done", answer)


def facts(answer: str, **fields: str) -> ToolOutcome:
    """Fields with their kinds."""
    return ToolOutcome("facts", answer, fields)


def listing(plural: str, kind: str) -> ToolOutcome:
    """Several things of one kind."""
    return ToolOutcome("list", "", {"item": kind}, plural)


def reading(answer: str) -> ToolOutcome:
    """A text, quoted as it is: `$text` in the answer."""
    return ToolOutcome("text", answer)


def result(
    random: Random, outcome: ToolOutcome, context: Mapping[str, Any] | None = None, making: bool = False
) -> ToolResult:
    """The result of a tool of this outcome; fields in `context` are not drawn. Only a tool that is `making` something
    returns a new id.
    """
    if outcome.kind == "done":
        return _done(random, making)
    if outcome.kind == "text":
        return _text(random)
    if outcome.kind == "list":
        return _list(random, outcome)
    values = {name: value(random, kind) for name, kind in outcome.fields.items()}
    plain = {**{name: one.argument for name, one in values.items()}, **(context or {})}
    return ToolResult(_render(random, plain), {name: str(one) for name, one in plain.items()}, (), plain)


def answer(
    random: Random, outcome: ToolOutcome, result: ToolResult, values_by_slot: Said, own: Mapping[str, str]
) -> str:
    """The assistant's answer; `values_by_slot` are the request's values as written, `own` the action's words."""
    if outcome.kind == "list":
        return _list_answer(random, own.get("Nouns", outcome.plural), result)
    if outcome.kind == "facts" and not outcome.answer:
        return _summary(random, result, values_by_slot, own)
    pattern = outcome.answer
    if outcome.kind == "done" and random.random() < 0.12:
        pattern = "{Done|It is done|That is done|All done|Ready}{.|!}"
    text = say(random, f"{{{pattern}}}", **own)
    if outcome.kind == "done" and "id" in result.fields and random.random() < 0.6:
        text += " " + say(random, "{Its|The} {id|number} is $new.")
    extra = {"value": result.fields.get(outcome.focus, ""), "new": result.fields.get("id", "")}
    fields = result.fields | values_by_slot if outcome.kind == "done" else values_by_slot | result.fields
    return fill_slots(capital(text), fields | extra)


def _summary(random: Random, result: ToolResult, values: Said, own: Mapping[str, str]) -> str:
    """Some fields, in one sentence or as a list."""
    names = list(result.fields)[: random.choice([2, 3, 3, 4])]
    head = say(random, "{{The |}$Noun $id|{This is|Here is} {the |}$Noun $id}", **own)
    if len(names) > 2 and random.random() < 0.4:
        lines = "\n".join(f"- {name.replace('_', ' ')}: {result.fields[name]}" for name in names)
        return fill_slots(capital(head), values) + ":\n" + lines
    summary = join_words([f"{name.replace('_', ' ')} {result.fields[name]}" for name in names])
    return f"{fill_slots(capital(head), values)}: {summary}."


PLAIN_DONE = [
    "ok",
    "OK",
    "done",
    "Done.",
    "success",
    "Success",
    "true",
    "1",
    "",
    "{}",
    "completed",
    "accepted",
]
PLAIN_DONE += ['{"ok": true}', '{"success": true}', '{"status": "ok"}', '{"result": "ok"}', '{"error": null}']


def _done(random: Random, making: bool) -> ToolResult:
    if making and random.random() < 0.4:
        identifier = payloads.code(random) if random.random() < 0.6 else str(random.randint(1, 99999))
        plain: dict[str, Any] = {"id": int(identifier) if identifier.isdigit() else identifier}
        identifier = str(plain["id"])
        if random.random() < 0.6:
            plain = random.choice(
                [
                    {"status": "ok"} | plain,
                    plain | {"ok": True},
                    {"success": True} | plain,
                    plain | {"state": "new"},
                ]
            )
        if random.random() < 0.2:
            return ToolResult(f"ok, id {identifier}", {"id": identifier})
        return ToolResult(json.dumps(plain, ensure_ascii=False), {"id": identifier})
    text = random.choice(PLAIN_DONE)
    return ToolResult(text, {})


def _text(random: Random) -> ToolResult:
    lines = [capital(payloads.sentence(random)) + "." for _ in range(random.choice([1, 1, 2, 3]))]
    if random.random() < 0.3:
        lines = [payloads.phrase(random, 1, 6) for _ in range(random.choice([1, 2, 3, 4]))]
    text = random.choice(["\n", " "]).join(lines)
    return ToolResult(text, {"text": text})


def _list(random: Random, outcome: ToolOutcome) -> ToolResult:
    count = random.choices([0, 1, 2, 3, 4, 5, 6], [12, 12, 22, 22, 16, 10, 6])[0]
    items = list(dict.fromkeys(value(random, outcome.fields["item"]).text for _ in range(count)))
    if not items:
        text = random.choice(
            ["[]", "", "No results.", "none", '{"results": []}', "{'items': []}", '{"count": 0}']
        )
        return ToolResult(text.replace("'", '"'), {}, ())
    style = random.randrange(7)
    if style == 0:
        text = "\n".join(items)
    elif style == 1:
        text = "\n".join(f"{random.choice('-*')} {item}" for item in items)
    elif style == 2:
        key = random.choice(["name", "title", "value", "label"])
        rows = [{key: item, "id": random.randint(1, 999)} for item in items]
        text = json.dumps(rows, ensure_ascii=False)
    elif style == 3:
        plain = {"count": len(items), random.choice(["items", "results", "data", "found"]): items}
        text = json.dumps(plain, ensure_ascii=False)
    elif style == 4:
        text = "\n".join(f"{index}. {item}" for index, item in enumerate(items, 1))
    else:
        text = json.dumps(items, ensure_ascii=False, indent=2 if random.random() < 0.2 else None)
    return ToolResult(text, {}, tuple(items))


def _list_answer(random: Random, plural: str, result: ToolResult) -> str:
    if not result.items:
        return say(
            random, "{There are no $p|I found no $p|The tool found no $p|There is nothing: no $p}.", p=plural
        )
    listing = join_words(list(result.items))
    count = len(result.items)
    if count > 2 and random.random() < 0.3:
        head = say(random, "{I found|There are} $k $p:", p=plural, k=count)
        return head + "\n" + "\n".join(f"- {item}" for item in result.items)
    if count == 1:
        return say(random, "{I found one|There is one|Only one}:") + f" {listing}."
    head = say(
        random,
        "{I found $k $p|There are $k|The $p are|These are the $p|I see $k $p|Here they are}:",
        p=plural,
        k=count,
    )
    return f"{head} {listing}."


def _render(random: Random, plain: dict[str, Any]) -> str:
    """Fields as text: mostly JSON, now and then with additional ones."""
    noisy = dict(plain)
    for _ in range(random.choice([0, 0, 0, 0, 1, 2, 4])):
        key, more = _noise(random)
        noisy.setdefault(key, more)
    if len(noisy) > len(plain) and random.random() < 0.5:
        keys = list(noisy)
        random.shuffle(keys)
        noisy = {key: noisy[key] for key in keys}
    style = random.random()
    if style < 0.5:
        return json.dumps(noisy, ensure_ascii=False)
    if style < 0.58:
        return json.dumps(noisy, ensure_ascii=False, separators=(",", ":"))
    if style < 0.64:
        return json.dumps(noisy, ensure_ascii=False, indent=2)
    if style < 0.72:
        outer = random.choice(["result", "data", "response", "output"])
        return json.dumps({outer: noisy}, ensure_ascii=False)
    if len(plain) == 1 and style < 0.9:
        return str(next(iter(plain.values())))
    joint = random.choice(["\n", "\n", ", ", "; "])
    between = random.choice([": ", ": ", " = ", " "])
    return joint.join(f"{key.replace('_', ' ')}{between}{one}" for key, one in noisy.items())


def _noise(random: Random) -> tuple[str, Any]:
    """An additional field."""
    key = random.choice(["source", "updated", "took_ms", "version", "ok", "cached", "request_id", "page", ""])
    if key == "":
        return payloads.coin_word(random), random.choice([random.randint(0, 999), payloads.word(random)])
    makers: dict[str, Any] = {
        "updated": f"{date(random)}T{time(random)}",
        "ok": True,
        "cached": random.random() < 0.5,
        "source": payloads.word(random),
        "version": f"{random.randint(0, 9)}.{random.randint(0, 20)}",
        "request_id": payloads.code(random),
    }
    return key, makers.get(key, random.randint(1, 500))


ERRORS = [
    "{timeout|timed out|the request timed out|timeout after $k s|connection timed out}",
    "{not found|404 Not Found|no such $t|$t not found|unknown $t}",
    "{permission denied|forbidden|403 Forbidden|access denied|not allowed|unauthorized|401 Unauthorized}",
    "{rate limit exceeded|too many requests|429 Too Many Requests|quota exceeded}",
    "{internal server error|500 Internal Server Error|unexpected error|something went wrong|server error}",
    "{service unavailable|503 Service Unavailable|the $t is offline|no connection to $t|$t is busy|offline}",
    "{connection refused|network unreachable|could not connect to $t|host unreachable|no network}",
    "{invalid $t|bad request: $t|the $t is locked|$t is full|$t expired|$t already exists}",
    "{disk full|out of memory|battery is empty|device is not responding|the $t is closed|$t jammed}",
    "{error $k|code $k: $t|$t failed with code $k|exit status $k}",
]
ERROR_ANSWERS = [
    "{That did not work|It did not work|That failed|Sorry, that failed|Sorry, that did not work|It failed}: $e.",
    "{The tool|$n} {reports an error|failed|answered with an error|says}: $e.",
    "I {could not|was not able to} do {that|it}: {the tool says |}$e.",
    "{I tried, but|I called $n, but} {it failed|the tool failed|that gave an error}: $e.",
]
ERROR_OFFERS = [
    "",
    "",
    "",
    " {Shall I|Should I} try again?",
    " {You can try again later|Maybe try again later}.",
]


def failure(random: Random, name: str) -> tuple[str, str]:
    """The text of a failed call, and the assistant's answer to it."""
    text = say(random, random.choice(ERRORS), t=payloads.word(random), k=random.randint(2, 600))
    if random.random() < 0.4:
        text = capital(text)
    style = random.randrange(7)
    if style < 2:
        error = random.choice(["Error: ", "ERROR: ", "error: ", "Failed: "]) + text
    elif style == 2:
        error = text
    elif style == 3:
        error = json.dumps({"error": {"message": text, "code": random.randint(1, 599)}})
    elif style == 4:
        error = json.dumps({"ok": False, random.choice(["error", "message", "reason"]): text})
    elif style == 5:
        error = json.dumps({"isError": True, "text": text})
    else:
        error = json.dumps({"error": text})
    offers = say(random, random.choice(ERROR_OFFERS))
    answer = say(random, random.choice(ERROR_ANSWERS)) + (f" {offers}" if offers else "")
    return error, fill_slots(capital(answer), {"e": text, "n": name})
