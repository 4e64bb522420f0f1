"""Follow-up questions to a tool's answer: another field, how many, the same elsewhere.

Some are answered from the result, others need a new call.
"""

from random import Random

from duologue_mini.scene import Turn
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import fill_slots, loose
from duologue_mini.toolbox.actions import Request, arguments
from duologue_mini.toolbox.exchanges import Exchange, call_exchange, repeatable_input

ASK_MORE = [
    "{And|What about|And what about|What is|What's|Tell me|And what is} the $l?",
    "{What|Which} $l {is it|does it have|was that}?",
    "{Did it say|Does it say} {anything about |}the $l?",
]
NOT_THERE = [
    "{The result|The tool's answer|It} {does not say|says nothing about} the $l.",
    "I {do not|don't} see {the|a} $l in {the result|what the tool answered}.",
]
LABELS = "price owner colour weight reason deadline address length speed author version phone size".split()  # noqa: SIM905


def asked_again(random: Random, before: Exchange) -> Turn | None:
    """A question that the result already answers: no call."""
    tool_result = before.result
    if tool_result is None or before.tool.action.outcome.kind == "text":
        return None
    if tool_result.items:
        return _about_items(random, tool_result.items)
    hidden = {
        name: one
        for name, one in tool_result.fields.items()
        if one not in before.turn.assistant and name not in before.request.values
    }
    if hidden and random.random() < 0.85:
        name = random.choice(list(hidden))
        label = name.replace("_", " ")
        answer = say(random, "{{The $l is $v|It says: $l $v|$v}.}", l=label, v="$v")
        return Turn(
            loose(random, say(random, random.choice(ASK_MORE), l=label)),
            fill_slots(capital(answer), {"v": hidden[name]}),
            f"The result above has {label}: {hidden[name]}. No new call is needed.",
            exact=True,
        )
    if before.tool.action.outcome.kind != "facts":
        return None
    label = random.choice(LABELS)
    if label in tool_result.text:
        return None
    thought = f"The result above has no {label}. I say so."
    return Turn(
        loose(random, say(random, random.choice(ASK_MORE[:1]), l=label)),
        say(random, random.choice(NOT_THERE), l=label),
        thought,
        exact=True,
    )


def _about_items(random: Random, items: tuple[str, ...]) -> Turn:
    count = len(items)
    kind = random.choice(["count", "first", "last", "nth"])
    if kind == "count":
        user, answer = (
            "How many {are there|is that|are they|did you find}?",
            f"{{There {'is' if count == 1 else 'are'} |}}{count}.",
        )
        return Turn(loose(random, say(random, user)), say(random, answer), f"I count: {count}.", exact=True)
    index = {"first": 0, "last": count - 1}.get(kind, random.randrange(count))
    word = kind if kind != "nth" else ["first", "second", "third", "fourth", "fifth", "sixth"][index]
    user = say(
        random,
        "{{Which|What} {is|was|one is} the $w{ one|}?|{And|Tell me} the $w{ one|}?|Read me the $w{ one|} again.}",
        w=word,
    )
    answer = say(random, "{{The $w{ one|} is |It is |}$v.}", w=word, v="$v")
    return Turn(
        loose(random, user),
        fill_slots(capital(answer), {"v": items[index]}),
        f"The {word} in the result: {items[index]}.",
        exact=True,
    )


def and_there(random: Random, before: Exchange) -> Exchange | None:
    """ "And in Rome?": the same call with one value changed."""
    one = repeatable_input(before.tool)
    if one is None or one.slot not in before.request.values or before.result is None:
        return None
    value = one.shape.draw(random)
    clause = (
        say(random, one.parameter.clause or " $v", l=one.parameter.label).strip(" ,:").replace("$v", "$v")
    )
    if before.tool.action.outcome.kind == "done":
        ask = "{{And now|Do} the same {for|with} $v|And {also |}$v|$v too, please|Also $v{, please|}}"
    else:
        ask = (
            "{{And|What about|How about|And what about} "
            + random.choice(["$v", "$c"])
            + "?|{Now|The same for|And for} $v{, please|}}"
        )
    pattern = say(random, ask).replace("$c", clause)
    if pattern.startswith("$v"):
        pattern = "Also " + pattern
    values = before.request.values | {one.slot: value}
    text = fill_slots(loose(random, pattern), {"v": value.text})
    return call_exchange(random, before.tool, Request(text, arguments(before.tool, values), values))
