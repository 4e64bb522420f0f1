"""The type of a passage's topic, and how topics are written.

A topic is a subject with a name and some facts. A fact is a value, the sentences that state it, the questions it answers,
and the answer.

Slots: `$n` the subject's name, `$t` its name in later sentences, `$s` its name in questions, `$v` the value, `$vs` the
value with an s, `$r` a relation, `$b` a building, `$w` a thing; the last three stay the same throughout a passage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.text import particulars as of
from duologue_mini.text import payloads, words

Value = Callable[[Random], str]


@dataclass(frozen=True, eq=False)
class TopicFact:
    """A fact a passage may state."""

    value: Value
    statements: list[str]
    questions: list[str]
    answer: str
    true: str = ""  # a yes-or-no question; `$v` is the value it assumes
    about: str = "that"  # what a text does not say when the fact is left out
    short: str = "$v"


@dataclass(frozen=True)
class Topic:
    """A kind of subject; the first fact opens the passage."""

    subject: Value
    later: list[str]
    facts: list[TopicFact]
    gist: str
    question_name: str = "$n"  # the name in a question
    people: bool = False  # the subject is a person: "she", "he", or a first name later on


def one_of(*options: str) -> Value:
    """A function that draws one of these."""
    return lambda random: random.choice(options)


def titled_name(*tails: str) -> Value:
    """A function that draws an invented name with a word for its kind."""
    return lambda random: f"{payloads.coin_word(random).capitalize()} {random.choice(tails)}"


def the_thing(random: Random) -> str:
    """A thing in lower case with "the"."""
    return f"the {random.choice(words.ADJECTIVES)} {payloads.thing(random)}"


GOODS: Value = lambda random: random.choice([payloads.things(random), random.choice(words.FOODS)])  # noqa: E731
COLOUR = one_of(*words.COLOURS)
JOB = one_of(*of.JOBS)
