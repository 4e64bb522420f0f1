"""Kinds of values, such as `place` or `int:1:60`: JSON Schema, values, and how people write them.

A value the user writes reaches the call unchanged, except that numbers become numbers and lists become lists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, NamedTuple

from duologue_mini.text import payloads, words
from duologue_mini.toolbox import sample_strings


class Value(NamedTuple):
    """A value as the argument of a call, and as the user writes it."""

    argument: Any
    text: str


@dataclass(frozen=True)
class ValueKind:
    """A schema and a function that draws values for it; `free` values are running text, which needs quotes or the end of the
    sentence."""

    schema: dict[str, Any]
    draw: Callable[[Random], Value]
    free: bool = False


def shape(random: Random, kind: str) -> ValueKind:
    """The kind as one tool defines it: formats, limits and inner names differ between tools."""
    name, _, rest = kind.partition(":")
    if name in COMPOUND:
        return COMPOUND[name](random)
    if name in ("int", "num"):
        return _numeric(random, name, *(int(limit) for limit in rest.split(":")))
    if name == "one":
        return ValueKind({"type": "string"}, _one_of(rest))
    if name.endswith("s") and name not in TEXTS:
        return _list(random, name.removesuffix("s"))
    maker, form, free = TEXTS[name]
    schema = {"type": "string", "format": form} if form and random.random() < 0.35 else {"type": "string"}
    return ValueKind(schema, _plain(maker), free)


def value(random: Random, kind: str) -> Value:
    """A value of this kind with its numbers in digits, as a tool returns it."""
    sample = shape(random, kind).draw(random)
    if isinstance(sample.argument, (int, float)):
        return Value(sample.argument, str(sample.argument))
    return sample


@cache
def _plain(maker: Callable[[Random], str]) -> Callable[[Random], Value]:
    def draw(random: Random) -> Value:
        text = maker(random)
        return Value(text, text)

    return draw


@cache
def _one_of(options: str) -> Callable[[Random], Value]:
    choices = options.split("|")
    return _plain(lambda random: random.choice(choices))


def number(random: Random, low: int, high: int) -> Value:
    """A whole number; a small one may be written in words."""
    if high - low > 999 and random.random() < 0.5:
        high = low + 10 ** random.randint(1, len(str(high - low)) - 1)
    value = random.randint(low, high)
    in_words = 0 <= value <= 60 and random.random() < 0.1
    return Value(value, words.number_in_words(value) if in_words else str(value))


def _decimal(random: Random, low: int, high: int) -> Value:
    if random.random() < 0.4:
        return number(random, low, high)
    value = float(f"{random.randint(low, max(low, high - 1))}.{random.randint(1, random.choice([9, 99]))}")
    return Value(value, str(value))


def _numeric(random: Random, name: str, low: int, high: int) -> ValueKind:
    schema: dict[str, Any] = {"type": "integer" if name == "int" else "number"}
    if random.random() < 0.08:
        schema["minimum"] = low
        if random.random() < 0.7:
            schema["maximum"] = high
    maker = number if name == "int" else _decimal
    return ValueKind(schema, lambda generator: maker(generator, low, high))


def _list(random: Random, inner: str) -> ValueKind:
    """Some values of one kind: "a, b and c", "a b c", or as written in JSON."""
    of_what = shape(random, "int:0:999" if inner == "int" else "num:0:99" if inner == "num" else inner)

    def draw(random: Random) -> Value:
        several = [of_what.draw(random) for _ in range(random.choice([1, 2, 2, 3, 3, 4]))]
        if len({one.text for one in several}) < len(several):
            several = several[:1]
        return Value(
            [one.argument for one in several],
            sample_strings.enumerate_values(random, [one.text for one in several]),
        )

    return ValueKind({"type": "array", "items": of_what.schema}, draw)


def _fields(random: Random, fields: list[tuple[str, str]], said: str) -> ValueKind:
    """An object whose keys have alternative names, and a pattern that words it with $0, $1."""
    keys = [random.choice(names.split()) for names, _ in fields]
    inner = [shape(random, kind) for _, kind in fields]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: one.schema for key, one in zip(keys, inner, strict=True)},
        "required": keys,
    }
    if random.random() < 0.3:
        schema["additionalProperties"] = False

    def draw(random: Random) -> Value:
        values = [one.draw(random) for one in inner]
        if values[0].text == values[-1].text:
            values = [one.draw(random) for one in inner]
        text = said
        for index, one in enumerate(values):
            text = text.replace(f"${index}", one.text)
        return Value({key: one.argument for key, one in zip(keys, values, strict=True)}, text)

    return ValueKind(schema, draw)


def _identifier(random: Random) -> ValueKind:
    """An id: a number, or a code in a format of this tool."""
    if random.random() < 0.3:
        return ValueKind({"type": "integer"}, lambda generator: number_as_digits(generator))
    return ValueKind({"type": "string"}, _plain(payloads.code))


def number_as_digits(random: Random) -> Value:
    """A number that serves as an id."""
    value = random.randrange(1, 10 ** random.randint(2, 5))
    return Value(value, str(value))


COMPOUND: dict[str, Callable[[Random], ValueKind]] = {
    "id": _identifier,
    "filed": lambda random: ValueKind({"type": "integer"}, number_as_digits),
    "range": lambda random: _fields(
        random, [("from min start low", "int:0:50"), ("to max end high", "int:51:999")], "$0 to $1"
    ),
    "size": lambda random: _fields(
        random, [("width w", "int:10:2000"), ("height h", "int:10:2000")], "$0 by $1"
    ),
    "point": lambda random: _fields(
        random, [("latitude lat", "num:-80:80"), ("longitude lon lng", "num:-170:170")], "$0, $1"
    ),
    "address": lambda random: _fields(
        random, [("street road line1", "street"), ("city town place", "place")], "$0 in $1"
    ),
    "contact": lambda random: _fields(
        random, [("name full_name", "person"), ("email mail", "mail")], "$0 ($1)"
    ),
    "filter": lambda random: _fields(
        random, [("field key column", "token"), ("value equals is", "token")], "$0 equal to $1"
    ),
}

Maker = Callable[[Random], str]

# name: function, JSON Schema format, whether it is running text
TEXTS: dict[str, tuple[Maker, str, bool]] = {
    "place": (payloads.place, "", False),
    "person": (payloads.person, "", False),
    "street": (sample_strings.street, "", False),
    "word": (payloads.word, "", False),
    "token": (sample_strings.token, "", False),
    "text": (sample_strings.message, "", True),
    "title": (sample_strings.title, "", True),
    "query": (sample_strings.query, "", True),
    "path": (sample_strings.path, "", False),
    "folder": (sample_strings.folder, "", False),
    "file": (sample_strings.file_name, "", False),
    "glob": (sample_strings.glob, "", False),
    "mail": (payloads.mail, "email", False),
    "url": (sample_strings.url, "uri", False),
    "host": (sample_strings.host, "", False),
    "date": (sample_strings.date, "date", False),
    "day": (sample_strings.day, "", False),
    "time": (sample_strings.time, "", False),
    "moment": (sample_strings.moment, "date-time", False),
    "code": (payloads.code, "", False),
    "phone": (sample_strings.phone, "", False),
    "colour": (sample_strings.colour, "", False),
    "language": (lambda random: random.choice(words.LANGUAGES), "", False),
    "currency": (sample_strings.currency, "", False),
    "symbol": (sample_strings.symbol, "", False),
    "version": (sample_strings.version, "", False),
    "branch": (sample_strings.branch, "", False),
    "repository": (sample_strings.repository, "", False),
    "channel": (sample_strings.channel, "", False),
    "service": (sample_strings.service, "", False),
    "table": (sample_strings.table, "", False),
    "sql": (sample_strings.sql, "", True),
    "command": (sample_strings.command, "", True),
    "sum": (sample_strings.expression, "", True),
    "selector": (sample_strings.selector, "", False),
    "food": (sample_strings.food, "", False),
    "room": (sample_strings.room, "", False),
    "zone": (sample_strings.zone, "", False),
    "thing": (payloads.thing, "", False),
    "key": (sample_strings.key, "", False),
}
