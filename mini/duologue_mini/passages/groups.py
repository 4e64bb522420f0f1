"""Texts in which several people do similar things, or one event follows another; questions of who, what, most, next."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.text import particulars, payloads, words
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots


@dataclass(frozen=True)
class GroupQuestion:
    """A question about a group, its right answers and the thought; slots are filled."""

    user: str
    answers: list[str]
    thought: str


@dataclass(frozen=True)
class Group:
    """A text and its questions."""

    text: str
    questions: list[GroupQuestion]


@dataclass(frozen=True)
class Deed:
    """A kind of action: `$p` did it with `$v`."""

    value: Callable[[Random], str]
    statement: str
    short: str  # the form after the first one: ", Tom the cake"
    who: list[str]
    what: list[str]
    answer: str


DEEDS = [
    Deed(
        payloads.thing,
        "$p brought the $v",
        "$p the $v",
        ["Who brought the $v?"],
        ["What did $p bring?"],
        "$p brought the $v.",
    ),
    Deed(
        payloads.place,
        "$p lives in $v",
        "$p in $v",
        ["Who lives in $v?"],
        ["Where does $p live?"],
        "$p lives in $v.",
    ),
    Deed(
        lambda r: r.choice(words.COLOURS),
        "$p chose $v",
        "$p $v",
        ["Who chose $v?"],
        ["{What|Which colour} did $p choose?"],
        "$p chose $v.",
    ),
    Deed(
        lambda r: r.choice(words.FOODS),
        "$p ordered $v",
        "$p $v",
        ["Who {ordered|gets|asked for} the $v?"],
        ["What did $p order?"],
        "$p ordered $v.",
    ),
    Deed(
        lambda r: r.choice(words.HOBBIES),
        "$p likes $v",
        "$p $v",
        ["Who likes $v?"],
        ["What does $p like?"],
        "$p likes $v.",
    ),
    Deed(
        particulars.weekday,
        "$p works on $v",
        "$p on $v",
        ["Who works on $v?"],
        ["When does $p work?", "On which day does $p work?"],
        "$p works on $v.",
    ),
    Deed(
        particulars.clock,
        "$p comes at $v",
        "$p at $v",
        ["Who comes at $v?"],
        ["{When|At what time} does $p come?"],
        "$p comes at $v.",
    ),
    Deed(
        payloads.thing,
        "$p repairs the $v",
        "$p the $v",
        ["Who repairs the $v?"],
        ["What does $p repair?"],
        "$p repairs the $v.",
    ),
    Deed(
        lambda r: r.choice(particulars.JOBS),
        "$p is a $v",
        "$p a $v",
        ["Who is the $v?"],
        ["What is $p's job?", "What does $p do?"],
        "$p is a $v.",
    ),
    Deed(
        lambda r: f"room {r.randint(1, 60)}",
        "$p sleeps in $v",
        "$p in $v",
        ["Who sleeps in $v?"],
        ["{Where|In which room} does $p sleep?"],
        "$p sleeps in $v.",
    ),
    Deed(
        payloads.first_name,
        "$p sits next to $v",
        "$p next to $v",
        ["Who sits next to $v?"],
        ["Next to whom does $p sit?"],
        "$p sits next to $v.",
    ),
    Deed(
        payloads.coin_word, "$p said $v", "$p said $v", ["Who said $v?"], ["What did $p say?"], "$p said $v."
    ),
]

# The statement, the questions for most and least, the question for how many, the answer.
COUNTS: list[tuple[str, str, str, str, str]] = [
    (
        "$p has $v $x",
        "Who has the most $x?",
        "Who has the {fewest|smallest number of} $x?",
        "How many $x does $p have?",
        "$p has $v $x.",
    ),
    (
        "$p is $v years old",
        "Who is the oldest?",
        "Who is the youngest?",
        "How old is $p?",
        "$p is $v years old.",
    ),
    (
        "$p paid $v euros",
        "Who paid the most?",
        "Who paid the least?",
        "How much did $p pay?",
        "$p paid $v euros.",
    ),
    (
        "$p ran $v kilometres",
        "Who ran the {farthest|longest way}?",
        "Who ran the {least|shortest way}?",
        "How far did $p run?",
        "$p ran $v kilometres.",
    ),
    (
        "$p scored $v points",
        "Who {won|has the most points|scored highest}?",
        "Who {came last|has the fewest points}?",
        "How many points did $p score?",
        "$p scored $v points.",
    ),
    (
        "$p is $v centimetres tall",
        "Who is the tallest?",
        "Who is the {smallest|shortest}?",
        "How tall is $p?",
        "$p is $v centimetres tall.",
    ),
    (
        "$p read $v pages",
        "Who read the most[ pages]?",
        "Who read the fewest pages?",
        "How many pages did $p read?",
        "$p read $v pages.",
    ),
]
STEPS = [
    "{opened|closed|painted|cleaned|sold|found|washed|hid|moved|weighed} the $x",
    "{called|met|visited|thanked|asked|paid} $p",
    "{went to|drove to|walked to|phoned} $q",
    "{ate|cooked|bought|shared} $f",
    "{wrote|read|sent|burned} {a letter|the report|a note|the list}",
]


def group(random: Random) -> Group:
    """Draws a group of some kind."""
    return random.choices([_deeds, _counts, _steps], [5, 3, 3])[0](random)


def _people(random: Random, count: int) -> list[str]:
    people: list[str] = []
    while len(people) < count:
        name = payloads.first_name(random)
        if name not in people:
            people.append(name)
    return people


def _values(random: Random, value: Callable[[Random], str], count: int) -> list[str]:
    values: list[str] = []
    while len(values) < count:
        candidate = value(random)
        if candidate not in values:
            values.append(candidate)
    return values


def _join(random: Random, parts: list[str]) -> str:
    if len(parts) > 1 and random.random() < 0.3:
        return ". ".join(capital(part) if part[0].isascii() else part for part in parts) + "."
    return ", ".join(parts[:-1]) + random.choice([" and ", ", and "]) + parts[-1] + "."


def _deeds(random: Random) -> Group:
    deed = random.choice(DEEDS)
    people = _people(random, random.randint(2, 6))
    values = _values(random, deed.value, len(people))
    short = random.random() < 0.5
    parts = [
        fill_slots(deed.short if short and index else deed.statement, {"p": person, "v": value})
        for index, (person, value) in enumerate(zip(people, values, strict=True))
    ]
    text = ", ".join(parts[:-1]) + " and " + parts[-1] + "." if short else _join(random, parts)
    questions = []
    for person, value in zip(people, values, strict=True):
        if person in values:
            continue
        fills: dict[str, object] = {"p": person, "v": value}
        full = fill_slots(deed.answer, fills)
        questions.append(GroupQuestion(fill_slots(pick(random, deed.who), fills), [f"{person}.", full], full))
        questions.append(GroupQuestion(fill_slots(pick(random, deed.what), fills), [full], full))
    stranger = payloads.coin_word(random).capitalize() + "a"
    if stranger not in people:
        question = fill_slots(pick(random, deed.what), {"p": stranger})
        questions.append(
            GroupQuestion(
                question,
                ["The text does not say.", f"The text does not mention {stranger}."],
                f"{stranger} is not in the text.",
            )
        )
    return Group(text, questions)


def _counts(random: Random) -> Group:
    statement, most, least, how_many, answer = random.choice(COUNTS)
    people = _people(random, random.randint(2, 5))
    numbers = random.sample(range(2, random.choice([20, 99, 400])), len(people))
    thing = payloads.things(random)
    fills: list[dict[str, object]] = [
        {"p": person, "v": number, "x": thing} for person, number in zip(people, numbers, strict=True)
    ]
    text = _join(random, [fill_slots(statement, one) for one in fills])
    listing = ", ".join(f"{one['p']} {one['v']}" for one in fills)
    questions = []
    for superlative, index in ((most, numbers.index(max(numbers))), (least, numbers.index(min(numbers)))):
        entry = fills[index]
        full = fill_slots(answer, entry)
        kind = "largest" if superlative is most else "smallest"
        user = fill_slots(pick(random, [superlative]), {"x": thing})
        questions += [
            GroupQuestion(
                user,
                [f"{entry['p']}.", f"{entry['p']}: {full}"],
                f"{listing}. {numbers[index]} is the {kind}: {entry['p']}.",
            )
        ] * 2
    for one in fills:
        full = fill_slots(answer, one)
        questions.append(GroupQuestion(fill_slots(how_many, one), [full, f"{one['v']}."], full))
    return Group(text, questions)


def _steps(random: Random) -> Group:
    """Several actions of one person in order."""
    who = payloads.first_name(random)
    values = _values(random, lambda r: _step(r), random.randint(3, 6))
    links = [
        "First ",
        *(random.choice(["Then ", "After that ", "Next "]) for _ in values[2:]),
        random.choice(["Finally ", "At last ", "In the end "]),
    ]
    text = " ".join(f"{link}{who} {value}." for link, value in zip(links, values, strict=True))
    questions = [
        GroupQuestion(f"What did {who} do first?", [f"{who} {values[0]}."], f"First {who} {values[0]}."),
        GroupQuestion(
            f"What did {who} do {random.choice(['last', 'at the end'])}?",
            [f"{who} {values[-1]}."],
            f"The last is: {values[-1]}.",
        ),
    ]
    for index in range(len(values) - 1):
        before, after = values[index], values[index + 1]
        order = f"{before}, then {after}."
        questions.append(
            GroupQuestion(
                f"What {random.choice(['happened', f'did {who} do'])} after {who} {before}?",
                [f"{who} {after}."],
                order,
            )
        )
        questions.append(
            GroupQuestion(
                f"What did {who} do {random.choice(['just before', 'right before'])} {who} {after}?",
                [f"{who} {before}."],
                order,
            )
        )
    return Group(text, questions)


def _step(random: Random) -> str:
    return pick(
        random,
        STEPS,
        x=payloads.thing(random),
        p=payloads.first_name(random),
        q=payloads.place(random),
        f=random.choice(words.FOODS),
    )
