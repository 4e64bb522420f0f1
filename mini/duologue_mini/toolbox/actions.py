"""An action, the tool one server makes of it, and requests that contain every value the call needs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from duologue_mini.text import payloads
from duologue_mini.text.phrases import capital, say
from duologue_mini.text.requests import fill_slots, loose
from duologue_mini.toolbox import server_styles
from duologue_mini.toolbox.outcomes import ToolOutcome
from duologue_mini.toolbox.parameters import Input, Parameter, make_input
from duologue_mini.toolbox.server_styles import ServerStyle
from duologue_mini.toolbox.value_kinds import Value

_A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeioAEIO])")
SLOT = re.compile(r"\$([a-z]+)")
POLITE = [
    "$c",
    "$c",
    "$c",
    "$c",
    "please $c",
    "$c please",
    "can you $c",
    "could you $c",
    "could you please $c",
    "would you $c",
    "I want you to $c",
    "I need you to $c",
    "I'd like you to $c",
    "go ahead and $c",
    "I need to $c",
    "use a tool to $c",
]
MORE = [
    "Use {this|it} {when|whenever} the user wants to $d",
    "Use this tool to $d",
    "Needs a connection",
    "Returns {JSON|text|an object|a short text|an error if it fails}",
    "{Call|Use} it {once|with care|only when asked}",
    "Fails if something is missing",
    "{Beta|Deprecated names are accepted|Rate limited}",
    "{Fast|Slow}, {cached|not cached}",
    "Works {offline|for all users|in all rooms|only for members}",
]
QUOTES = ['"$s"', '"$s"', '"$s"', "'$s'", "“$s”", "«$s»"]
ENDINGS = ("s", "x", "z", "ch", "sh")


@dataclass(frozen=True)
class Action:
    """`names` separated by |; `does` is a verb phrase in its base form; `asks` is lower case for a command, otherwise a whole
    sentence.

    `needs` are required inputs, `takes` optional ones. `also` names domains that this tool may serve as well, and
    skills that must not appear beside it. `figure` computes fields of the result from the arguments.
    """

    domain: str
    names: str
    does: str
    asks: str
    outcome: ToolOutcome
    needs: Mapping[str, Parameter] = field(default_factory=dict)
    takes: Mapping[str, Parameter] = field(default_factory=dict)
    also: str = ""
    words: Mapping[str, str] = field(default_factory=dict)  # slots of an invented action's patterns
    figure: Callable[[Random, dict[str, Any]], dict[str, Any]] | None = None

    def phrase(self, random: Random, pattern: str) -> str:
        """A wording of one of this action's patterns."""
        text = say(random, f"{{{pattern}}}", **self.words)
        return _A_BEFORE_VOWEL.sub(r"\1n ", text) if self.words else text


@dataclass(frozen=True)
class Tool:
    """An action as one server offers it."""

    name: str
    action: Action
    does: str
    inputs: tuple[Input, ...]
    function: dict[str, Any]

    def input(self, slot: str) -> Input:
        """The input for this slot."""
        return next(one for one in self.inputs if one.slot == slot)


@dataclass(frozen=True)
class Request:
    """What the user writes, the arguments that follow from it, and the values by slot."""

    text: str
    arguments: dict[str, Any]
    values: dict[str, Value]

    @property
    def written_values(self) -> dict[str, str]:
        """The values as the user wrote them, by slot."""
        return {slot: one.text.lstrip(", ") for slot, one in self.values.items()}


def tool(random: Random, action: Action, server: ServerStyle, crowded: bool) -> Tool:
    """The action as a tool of this server."""
    options = list(action.takes.items())
    if crowded and len(options) > 1:
        options = random.sample(options, random.randint(0, len(options)))
    inputs: list[Input] = []
    for slot, parameter in [*action.needs.items(), *options]:
        keys = {one.key for one in inputs}
        candidates = (make_input(random, server, slot, parameter, slot in action.needs) for _ in range(5))
        fresh = next((one for one in candidates if one.key not in keys), None)
        if fresh or slot in action.needs:
            inputs.append(
                fresh or replace(make_input(random, server, slot, parameter, True), key=f"the_{slot}")
            )
    if random.random() < 0.25:
        random.shuffle(inputs)
    name = server.name(random.choice(action.names.split("|")))[:64]
    does = action.phrase(random, action.does)
    about = description(random, does, crowded)
    if about and random.random() < 0.05:
        name = server.name(f"{payloads.coin_word(random)} {random.choice(['', payloads.word(random)])}")
    declarations = [(one.key, one.required, one.schema) for one in inputs]
    function = server_styles.definition(random, server, name, about, declarations)
    return Tool(name, action, does, tuple(inputs), function)


def description(random: Random, does: str, crowded: bool) -> str:
    """The description: from empty to three sentences."""
    style = random.random()
    if style < (0.12 if crowded else 0.05):
        return ""
    if style < 0.45:
        text = third_person(does)
    elif style < 0.85:
        text = does
    else:
        text = random.choice(["Tool to ", "Use this to ", "Lets you ", "A tool to ", "Allows you to "]) + does
    text = capital(text) if random.random() < 0.95 else text
    more = random.choices([0, 1, 2], [9, 1, 0] if crowded else [6, 3, 1])[0]
    sentences = [text, *(say(random, one, d=does) for one in random.sample(MORE, more))]
    stop = "." if more or random.random() < 0.6 else ""
    return ". ".join(sentences) + stop


def third_person(does: str) -> str:
    """ "Sends a mail", from "send a mail"."""
    verb, _, rest = does.partition(" ")
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "es" if verb.endswith((*ENDINGS, "o")) else "s"
    return f"{verb} {rest}".strip()


def request(
    random: Random,
    offer: Tool,
    *,
    without: tuple[str, ...] = (),
    given: Mapping[str, Value] | None = None,
    asks: str = "",
    closed: bool = False,
) -> Request:
    """A message that asks for this tool; `without` leaves inputs out, `given` sets values.

    With `closed` the message does not end in unquoted text, so that more may follow.
    """
    core = _core(random, offer, without, asks)
    inline = SLOT.findall(core)
    clauses: list[tuple[Input, str]] = []
    for one in offer.inputs:
        if one.slot in inline or one.slot in without:
            continue
        if one.required or random.random() < 0.45:
            clauses.append((one, one.clause(random)))
    if len(clauses) > 4:
        clauses = [pair for pair in clauses if pair[0].required] or clauses[:3]
    random.shuffle(clauses)
    clauses.sort(
        key=lambda pair: 2 if pair[0].free else int(pair[1] != f" ${pair[0].slot}" or pair[0].chosen)
    )
    text, values = _fill_values(random, offer, core, clauses, given or {}, closed)
    return Request(text, arguments(offer, values), values)


def arguments(offer: Tool, values: Mapping[str, Value]) -> dict[str, Any]:
    """The values under the tool's keys, in its order."""
    return {one.key: values[one.slot].argument for one in offer.inputs if one.slot in values}


def _core(random: Random, offer: Tool, without: tuple[str, ...], asks: str) -> str:
    """A wording without the slots that are left out; if there is none, the tool's own words."""
    input_slots = {one.slot for one in offer.inputs}
    for _ in range(6 if without else 3):
        core = offer.action.phrase(random, asks or offer.action.asks)
        slots = SLOT.findall(core)
        if all(slot in input_slots and slot not in without for slot in slots) and len(set(slots)) == len(
            slots
        ):
            return core
    return offer.does


def _fill_values(
    random: Random,
    offer: Tool,
    core: str,
    clauses: list[tuple[Input, str]],
    fixed: Mapping[str, Value],
    closed: bool,
) -> tuple[str, dict[str, Value]]:
    """The whole wording with its values; running text is quoted or comes last."""
    template, question = core.rstrip(".?!"), core.endswith("?")
    sentence = core[:1].isupper()
    template += "".join(clause for _, clause in clauses)
    if not sentence:
        template = random.choice(POLITE).replace("$c", template)
    slots = SLOT.findall(template)
    values: dict[str, Value] = {}
    fills: dict[str, object] = {}
    for slot in slots:
        one = offer.input(slot)
        values[slot] = fixed[slot] if slot in fixed else one.shape.draw(random)
        last = template.endswith(f"${slot}")
        value_text = values[slot].text
        if one.chosen and value_text.startswith(","):
            template = template.replace(f" ${slot}", f"${slot}", 1)
        if one.free and (closed or not last or random.random() < 0.55):
            quote = random.choice(QUOTES)
            fills[slot] = (
                quote.replace("$s", value_text)
                if quote[0] not in value_text and quote[-1] not in value_text
                else f'"{value_text}"'
            )
        elif one.free:
            value_text = value_text.rstrip(".!?")
            if not isinstance(values[slot].argument, str) or slot in fixed:
                value_text = values[slot].text
            else:
                values[slot] = Value(value_text, value_text)
            fills[slot] = value_text
            if random.random() < 0.4 and template.endswith(f" ${slot}"):
                template = template.removesuffix(f" ${slot}").rstrip(":") + f": ${slot}"
        else:
            fills[slot] = value_text
        if _is_number_words(values[slot]) and not re.search(rf"(^|[\s(])\${slot}($|[\s,.;)])", template):
            fills[slot] = str(values[slot].argument)
    ends = "" if template.endswith(("please",)) and random.random() < 0.5 else "?" if question else "."
    if template.startswith(("can ", "could ", "would ")):
        ends = "?"
    if slots and template.endswith(f"${slots[-1]}") and offer.input(slots[-1]).free and ends == ".":
        ends = random.choice(["", "", "."])
    return fill_slots(loose(random, capital(template) + ends), fills).strip(), values


def _is_number_words(one: Value) -> bool:
    return isinstance(one.argument, int) and not isinstance(one.argument, bool) and one.text.isalpha()
