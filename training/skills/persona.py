"""Skill: obeying a simple system prompt: a name, a manner, a fixed phrase.

Knows what operators write there.
"""

from random import Random

from training import words
from training.phrases import pick
from training.scene import Scene, Turn
from training.skills import farewells, greetings, identity

NAMED = [
    "{You are|Your name is|You are called|You're} $n[, {a|an|the} {$d|helpful|friendly} {assistant|helper|"
    "robot|companion|bot}][.]",
    "You are {a|the} {$d|helpful|friendly} {assistant|helper|robot|companion} {named|called} $n[.]",
    "{Act as|Play|Pretend to be|Your role:} $n[, {a|the} {$d|helpful} {assistant|helper|butler}][.]",
    "{Call yourself|Always call yourself|Introduce yourself as} $n[.]",
]
NAMED_WHO = [
    "I am $n{.|, {your assistant|at your service|here to help}.} {How can I help|What can I do for you}?",
    "My name is $n.[ {How can I help|What can I do for you}?]",
]
SHORT = [
    "{Answer|Reply|Respond} {briefly|in one sentence|in short sentences|with few words|as short as"
    " possible|concisely}[.]",
    "{Be|Keep it|You are|Keep your answers} {brief|short|concise|terse}[.]",
    "{Use|Give|Write} {one sentence|short answers|few words|short sentences only}[ only|at most][.]",
]
SHORT_TURNS = [
    (greetings.HELLO, "{Hello|Hi}!"),
    (greetings.HOW_ARE_YOU, "{Fine|Good|Well}, {thanks|thank you}."),
    (identity.WHO, "{I am duologue-mini|duologue-mini, Duologue's small model}."),
    (identity.MAKER, "The Duologue project."),
    (identity.ABLE, "{Small talk, small sums, help with Duologue|Chat, small sums and help about Duologue}."),
    (farewells.GOODBYE, "{Bye|Goodbye}!"),
    (farewells.THANKS, "{You're welcome|My pleasure}!"),
]
ENDING = [
    '{End|Finish|Close} {every|each} {answer|reply|message} with {"$w"|$w|the word $w}[.]',
    '{Always|Please} {end|finish} with {"$w"|the word $w}[.]',
]
OPENING = [
    '{Begin|Start|Open} {every|each} {answer|reply|message} with {"$w"|$w|the word $w}[.]',
    '{Always|Please} {begin|start} with {"$w"|the word $w}[.]',
]


def draw(random: Random) -> Scene:
    """A system prompt, and a turn or two that show it is obeyed."""
    return random.choices([_named, _short, _framed], [5, 4, 2])[0](random)


def _named(random: Random) -> Scene:
    name = words.name(random)
    system = pick(random, NAMED, n=name, d=random.choice(words.ADJECTIVES))
    asked = pick(
        random,
        [
            question
            for question in identity.WHO
            if "ChatGPT" not in question and "duologue-mini" not in question
        ],
    )
    turns = [Turn(asked, pick(random, NAMED_WHO, n=name), f"The system prompt says I am {name}.")]
    if random.random() < 0.35:
        hello = pick(
            random, ["{Hello|Hi}! {I am|My name is} $n. {How can I help|What can I do for you}?"], n=name
        )
        turns.insert(0, Turn(pick(random, greetings.HELLO), hello, f"The user greets me. I am {name}."))
    return Scene("persona", turns, system=system)


def _short(random: Random) -> Scene:
    turns = []
    for questions, answer in random.sample(SHORT_TURNS, random.choice([1, 2, 2])):
        questions = [question for question in questions if "ChatGPT" not in question]
        turns.append(Turn(pick(random, questions), pick(random, [answer]), "I answer briefly."))
    opening = random.choice(["", "", "You are a helpful assistant. "])
    return Scene("persona", turns, system=opening + pick(random, SHORT))


def _framed(random: Random) -> Scene:
    word = random.choice(
        [random.choice(words.THINGS), words.invented(random), "over", "ahoy", "friend", "sir", "captain"]
    )
    at_end = random.random() < 0.5
    questions, answers = random.choice(
        [
            (greetings.HELLO, greetings.HELLO_ANSWERS),
            (farewells.THANKS, farewells.THANKS_ANSWERS),
            (greetings.HOW_ARE_YOU, greetings.HOW_ARE_YOU_ANSWERS),
        ]
    )
    answer = pick(random, answers)
    answer = f"{answer} {word.capitalize()}!" if at_end else f"{word.capitalize()}! {answer}"
    system = pick(random, ENDING if at_end else OPENING, w=word)
    return Scene("persona", [Turn(pick(random, questions), answer, f"I must say {word}.")], system=system)
