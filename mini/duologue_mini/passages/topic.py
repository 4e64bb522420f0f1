"""What passages are about: shops, trips, pets, machines, villages .., and what each may tell.

Each topic is a subject with a name and some facts; a fact is a value, the sentences that tell it, the questions
it answers, and the answer. Knows nothing about how a passage is put together.

Slots: `$n` the subject's name, `$t` how a later sentence calls it, `$s` how a question calls it, `$v` the value,
`$vs` the value with an s, `$r` a relation, `$b` a building, `$w` a thing; the last three are the same all
through one passage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.text import particulars as of
from duologue_mini.text import payloads, words

Value = Callable[[Random], str]


@dataclass(frozen=True, eq=False)
class TopicFact:
    """One thing a passage may tell."""

    value: Value
    statements: list[str]
    questions: list[str]
    answer: str
    true: str = ""  # a question with yes or no; `$v` is what it supposes
    about: str = "that"  # what a text lacks when this is not told
    short: str = "$v"


@dataclass(frozen=True)
class Topic:
    """A kind of subject; the first fact opens the passage."""

    subject: Value
    later: list[str]
    facts: list[TopicFact]
    gist: str
    question_name: str = "$n"  # how a question says the name
    people: bool = False  # the subject is a person: "she", "he", or a first name later on


def one_of(*options: str) -> Value:
    """Draws one of these."""
    return lambda random: random.choice(options)


def titled_name(*tails: str) -> Value:
    """A coined name and a word that says what it is."""
    return lambda random: f"{payloads.coin_word(random).capitalize()} {random.choice(tails)}"


def the_thing(random: Random) -> str:
    """A thing in lower case with "the"."""
    return f"the {random.choice(words.ADJECTIVES)} {payloads.thing(random)}"


GOODS: Value = lambda random: random.choice([payloads.things(random), random.choice(words.FOODS)])  # noqa: E731
COLOUR = one_of(*words.COLOURS)
JOB = one_of(*of.JOBS)
