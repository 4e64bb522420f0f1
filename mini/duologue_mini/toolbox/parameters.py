"""A parameter in general, and as one tool has it, with key, schema and wording."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from duologue_mini.text.phrases import capital, say
from duologue_mini.toolbox.server_styles import ServerStyle
from duologue_mini.toolbox.value_kinds import Value, ValueKind, shape

CLAUSES = [
    " with {the |}$l $v",
    " with {the |}$l $v",
    ", $l $v",
    ", {the |}$l is $v",
    " and {the |}$l $v",
    ", use $v as {the |}$l",
    " with $v as {the |}$l",
    ", {set |}$l to $v",
    ", $l: $v",
    ", $l = $v",
]
QUESTIONS = [
    "{What|Which} $l {should I use|do you want|shall I take|would you like}?",
    "What is the $l?",
    "{Please tell me|Tell me|I need|I still need|I am missing} the $l.",
    "{What|Which} $l?",
    "{Can|Could} you {tell|give} me the $l?",
]
ABOUTS = ["{The|A|} $l", "$l", "$l {to use|of the $d|for the request}", "{Required: |}the $l", ""]


@dataclass(frozen=True)
class Parameter:
    """`clause` is a wording with $v; `choices` are the only values, each with its wording, inline or as a clause."""

    keys: str
    kind: str = "token"
    about: str = ""
    clause: str = ""
    question: str = ""
    choices: tuple[tuple[Any, str], ...] = ()

    @property
    def label(self) -> str:
        """The name users use for it."""
        return self.keys.split(maxsplit=1)[0].replace("_", " ")


@dataclass(frozen=True)
class Input:
    """A parameter as one tool has it."""

    slot: str
    key: str
    parameter: Parameter
    required: bool
    schema: dict[str, Any]
    shape: ValueKind

    @property
    def free(self) -> bool:
        """Whether its values are running text."""
        return self.shape.free

    @property
    def chosen(self) -> bool:
        """Whether its values are a few fixed ones."""
        return bool(self.parameter.choices)

    def clause(self, random: Random) -> str:
        """The wording in a request, with the value as `$slot`."""
        if self.chosen:
            return f" ${self.slot}"
        if not self.parameter.clause or random.random() < 0.12:
            return say_open(random, random.choice(CLAUSES), self.parameter.label).replace(
                "$v", f"${self.slot}"
            )
        return say_open(random, self.parameter.clause, self.parameter.label).replace("$v", f"${self.slot}")

    def question(self, random: Random) -> str:
        """The assistant's question for it."""
        pattern = self.parameter.question
        if not pattern or random.random() < 0.25:
            pattern = random.choice(QUESTIONS)
        return capital(say(random, pattern, l=self.parameter.label))


def say_open(random: Random, pattern: str, label: str) -> str:
    """A wording that keeps the space it begins with."""
    return pattern[: len(pattern) - len(pattern.lstrip())] + say(random, pattern, l=label)


def make_input(random: Random, server: ServerStyle, slot: str, parameter: Parameter, required: bool) -> Input:
    """The parameter as a tool of this server has it."""
    key = server.key(random.choice(parameter.keys.split()))
    if parameter.choices:
        schema, fitting = _choice(random, parameter)
    else:
        fitting = shape(random, parameter.kind)
        schema = fitting.schema
        if schema.get("type") in ("integer", "number") and random.random() < 0.05:
            fitting = _as_text(fitting)
            schema = fitting.schema
    schema = _annotate(random, server, key, parameter, fitting, schema)
    if not required:
        schema = _optional(random, server, fitting, schema)
    return Input(slot, key, parameter, required, schema, fitting)


def _choice(random: Random, parameter: Parameter) -> tuple[dict[str, Any], ValueKind]:
    """An enum spelled in this tool's way, or a boolean."""
    values = [value for value, _ in parameter.choices]
    if all(isinstance(value, bool) for value in values):
        spellings: list[Any] = values
        schema: dict[str, Any] = {"type": "boolean"}
    elif values in (["on", "off"], ["open", "closed"]) and random.random() < 0.3:
        spellings = [True, False]
        schema = {"type": "boolean"}
    else:
        styles: list[Callable[[str], str]] = [str, str.upper, str.capitalize]
        style = random.choices(styles, [8, 2, 1])[0]
        spellings = [style(value) if isinstance(value, str) else value for value in values]
        schema = {"type": "string" if isinstance(values[0], str) else "integer", "enum": spellings}
        if random.random() < 0.06 and isinstance(values[0], str):
            schema = {"enum": spellings}
    wordings = [wording for _, wording in parameter.choices]

    def draw(generator: Random) -> Value:
        index = generator.randrange(len(spellings))
        wording = wordings[index]
        return Value(spellings[index], say(generator, wording) if "{" in wording else wording)

    return schema, ValueKind(schema, draw)


def _as_text(fitting: ValueKind) -> ValueKind:
    """A number that this tool takes as a string."""

    def draw(random: Random) -> Value:
        value = fitting.draw(random)
        return Value(str(value.argument), str(value.argument))

    return ValueKind({"type": "string"}, draw)


def _annotate(
    random: Random,
    server: ServerStyle,
    key: str,
    parameter: Parameter,
    fitting: ValueKind,
    schema: dict[str, Any],
) -> dict[str, Any]:
    """The schema with a title or a description where this server writes them."""
    before: dict[str, Any] = {}
    if server.flavour == "titled":
        before["title"] = " ".join(word.capitalize() for word in parameter.label.split())
    if random.random() < server.description_share:
        pattern = parameter.about if parameter.about and random.random() < 0.8 else random.choice(ABOUTS)
        about = say(random, pattern, l=parameter.label, d="call")
        if about and not parameter.choices and random.random() < 0.12 and not fitting.free:
            about += f", {random.choice(['e.g.', 'for example', 'such as'])} {fitting.draw(random).text}"
        elif about and parameter.choices and random.random() < 0.2:
            about += ": " + ", ".join(str(value).lower() for value, _ in parameter.choices)
        about = capital(about) if random.random() < 0.85 else about
        return (
            schema | before | {"description": about + random.choice(["", "", "."])}
            if about
            else schema | before
        )
    return schema | before


def _optional(
    random: Random, server: ServerStyle, fitting: ValueKind, schema: dict[str, Any]
) -> dict[str, Any]:
    """Marks an optional parameter: a default, or `anyOf` with null, by the server's style."""
    if server.flavour == "titled" and random.random() < 0.4:
        inner = {name: part for name, part in schema.items() if name not in ("title", "description")}
        outer = {name: part for name, part in schema.items() if name in ("title", "description")}
        return {"anyOf": [inner, {"type": "null"}], "default": None} | outer
    if random.random() < 0.3 and not fitting.free:
        return schema | {"default": fitting.draw(random).argument}
    return schema
