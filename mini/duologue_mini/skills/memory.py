"""Skill: remembering what the user said a few turns ago."""
# ruff: noqa: SIM905 (word lists read better as running text)

from dataclasses import dataclass
from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import pick


@dataclass(frozen=True)
class UserFact:
    """A fact about the user, with its statement, acknowledgement, question and answer."""

    topic: str
    value: str
    statement: str
    acknowledgement: str
    question: str
    answer: str


def name_fact(random: Random) -> UserFact:
    """The user's name."""
    value = words.name(random)
    return UserFact(
        "name",
        value,
        pick(
            random,
            [
                "{My name is|I'm|I am|Call me|You can call me|This is|My name's|The name is|They call me|"
                "People call me|Please call me|It's me,} $v[.|!]",
                "{Hi|Hello|Hey}[,] {my name is|I'm|I am|this is|call me} $v[.|!]",
                "{I'm|I am|My name is} $v[,|.] {nice|pleased|good|glad} to meet you[.|!]",
                "{By the way|Remember this|For the record|Just so you know}[:|,] {my name is|I'm called|I"
                " am} $v[.]",
            ],
            v=value,
        ),
        pick(
            random,
            [
                "{Nice|Good|Pleased} to meet you, $v!",
                "{Hello|Hi}, $v! {Nice to meet you.|How can I help?|What can I do for you?}",
                "{Thank you|Got it|All right}, $v. {I will remember that|Noted}.",
            ],
            v=value,
        ),
        pick(
            random,
            [
                "{What is|What's|Do you know|Do you remember|Can you tell me|Tell me|Remind me of|Say} my"
                " name[?]",
                "{Who am I|What am I called|What was my name[ again]|How am I called|Do you know who I am|"
                "What name did I give[ you]|Do you recall my name|So what is my name|Did I tell you my"
                " name|What do people call me}?",
            ],
        ),
        pick(
            random,
            ["Your name is {$v|**$v**}.", "You are {called |}$v.", "You told me[ that] your name is $v."],
            v=value,
        ),
    )


JOBS = """teacher nurse cook baker farmer pilot painter writer singer driver doctor student gardener carpenter
tailor""".split()

FAVOURITES = [
    ("{colour|color}", words.COLOURS),
    ("{food|dish|meal|snack}", words.FOODS),
    ("{animal|pet}", words.ANIMALS),
    ("{city|town|place}", words.PLACES),
    ("{hobby|sport|pastime}", words.HOBBIES),
    ("{country}", words.COUNTRIES),
    ("{number}", [str(number) for number in range(1, 100)]),
    ("{language}", words.LANGUAGES),
    ("{word}", words.THINGS),
]


def favourite_fact(random: Random) -> UserFact:
    """A favourite of the user."""
    pattern, values = random.choice(FAVOURITES)
    topic = pick(random, [pattern])
    value = words.invent_word(random) if topic == "word" and random.random() < 0.5 else random.choice(values)
    best = random.choice(["favourite", "favorite"])
    fills = {"t": topic, "v": value, "f": best}
    return UserFact(
        topic,
        value,
        pick(
            random,
            [
                "My $f $t is $v[.|!]",
                "{My|By the way, my|Remember, my|I tell you: my} $f $t is $v[.]",
                "$v is my $f $t[.|!]",
                "The $t I like {best|most} is $v[.]",
            ],
            **fills,
        ),
        pick(
            random,
            [
                "{Nice|Good to know|Lovely|Noted}! {I will remember that your|Your} $f $t is $v.",
                "{$v, {nice|a good choice}!|Got it: $v.} {I will remember that|Noted}.",
            ],
            **fills,
        ),
        pick(
            random,
            [
                "{What is|What's|Do you remember|Do you know|Tell me|What was} my $f $t[ {again|please}][?]",
                "{Which|What} $t do I like {best|most}?",
                "{Which|What} is my $f $t?",
            ],
            **fills,
        ),
        pick(random, ["Your $f $t is {$v|**$v**}.", "You {said|told me} your $f $t is $v."], **fills),
    )


OWNED = [
    ("cat", words.NAMES),
    ("dog", words.NAMES),
    ("sister", words.NAMES),
    ("brother", words.NAMES),
    ("friend", words.NAMES),
    ("daughter", words.NAMES),
    ("son", words.NAMES),
    ("wife", words.NAMES),
    ("husband", words.NAMES),
    ("boss", words.NAMES),
    ("horse", words.NAMES),
    ("mother", words.NAMES),
    ("father", words.NAMES),
    ("teacher", words.NAMES),
]


def named_fact(random: Random) -> UserFact:
    """The name of a relative, a friend or a pet of the user."""
    topic = random.choice(OWNED)[0]
    value = words.name(random)
    fills = {"t": topic, "v": value}
    return UserFact(
        topic,
        value,
        pick(
            random,
            [
                "{My $t is called|My $t's name is|I have a $t called|I have a $t named|The name of my $t"
                " is} $v[.]"
            ],
            **fills,
        ),
        pick(
            random,
            [
                "{Nice|Lovely}! {Say hello to $v from me|I will remember $v|$v is a good name}.",
                "{Noted|Got it}: your $t is called $v.",
            ],
            **fills,
        ),
        pick(
            random,
            [
                "{What is|What's|Do you remember|What was} {my $t's name|the name of my $t}[?]",
                "{What|How} is my $t called?",
                "Who is my $t?",
            ],
            **fills,
        ),
        pick(random, ["Your $t is called {$v|**$v**}.", "Your $t's name is $v."], **fills),
    )


def plain_fact(random: Random) -> UserFact:
    """The user's home, age or occupation."""
    kind = random.choice(["live", "age", "job", "from"])
    if kind in ("live", "from"):
        value = random.choice(words.PLACES + words.COUNTRIES)
        verb = "live in" if kind == "live" else "come from"
        statements = [f"I {verb} $v[.]", "I'm {living in|in} $v[.]" if kind == "live" else "I am from $v[.]"]
        questions = (
            ["Where do I live?", "Which place do I live in?"]
            if kind == "live"
            else ["Where {do I come|am I} from?"]
        )
        return UserFact(
            kind,
            value,
            pick(random, statements, v=value),
            pick(random, ["{Nice|Noted|Good to know}: $v."], v=value),
            pick(random, questions),
            f"You {verb} {value}.",
        )
    if kind == "age":
        value = str(random.randint(5, 98))
        return UserFact(
            kind,
            value,
            pick(random, ["I am $v years old[.]", "I'm $v[ years old][.]", "My age is $v[.]"], v=value),
            pick(random, ["{Noted|Good to know}: you are $v."], v=value),
            pick(random, ["How old am I?", "What is my age?"]),
            f"You are {value} years old.",
        )
    value = random.choice(JOBS)
    return UserFact(
        kind,
        value,
        pick(random, ["I am a $v[.]", "I work as a $v[.]", "My job is $v[.]"], v=value),
        pick(random, ["{Nice|Noted|Interesting}, a $v!"], v=value),
        pick(random, ["What {is my job|do I do|do I work as|is my profession}?"]),
        f"You are a {value}.",
    )


def draw(random: Random) -> Scene:
    """One to three facts, then a question about one; or a question about a fact the user never gave."""
    if random.random() < 0.12:
        return Scene("memory", [_unknown_turn(random)])
    makers = [name_fact, favourite_fact, named_fact, plain_fact]
    count = random.choice([1, 1, 2, 3])
    facts: list[UserFact] = []
    while len(facts) < count:
        fact = random.choices(makers, [4, 4, 2, 2])[0](random)
        if all(fact.topic != other.topic for other in facts):
            facts.append(fact)
    if count == 2 and random.random() < 0.5:
        turns = [_both(random, facts)]
    else:
        turns = [
            Turn(
                f.statement,
                f.acknowledgement,
                f"The user tells me: {f.topic}, {f.value}. I note it.",
                exact=True,
            )
            for f in facts
        ]
    topics = random.sample(facts, random.choice([1, 1, min(2, count)]))
    for fact in topics:
        turns.append(Turn(fact.question, fact.answer, f"The user asks for the {fact.topic}: {fact.value}."))
    return Scene("memory", turns)


def _both(random: Random, facts: list[UserFact]) -> Turn:
    first, second = facts
    user = first.statement.rstrip(".!") + random.choice([" and ", ". ", ", and "])
    user += second.statement if user.endswith(". ") else second.statement[:1].lower() + second.statement[1:]
    return Turn(
        user,
        f"{first.acknowledgement} {second.acknowledgement}",
        f"The user tells me two things: {first.value}, {second.value}.",
        exact=True,
    )


def _unknown_turn(random: Random) -> Turn:
    fact = random.choice([name_fact, favourite_fact, named_fact, plain_fact])(random)
    answer = pick(
        random,
        [
            "You have not told me[ yet].[ {Tell me and I will remember.|What is it?}]",
            "I do not know that: you have not told me[ yet].",
        ],
    )
    return Turn(fact.question, answer, f"The user asks for the {fact.topic}, but has not told me.")
