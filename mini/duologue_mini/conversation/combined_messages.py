"""Several things in one message: a greeting, a question or two, thanks, a goodbye; the answer takes them in order."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.conversation import self_description
from duologue_mini.conversation.jokes import JOKES
from duologue_mini.conversation.world_questions import plural
from duologue_mini.facts import FACTS
from duologue_mini.facts.snippets import SNIPPETS
from duologue_mini.inquiries import INQUIRIES
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick, say

BRIEF_TOPICS = "start stop port page model api data doctor say thinking licence models list cancel logs metrics privacy".split()
BEYOND_PARTS = {
    "{can you translate $n into $l|what is $n in $l}": "Translating is",
    "{can you write an essay about $c|write me an essay about $x}": "An essay is",
    "{write me some {Python|JavaScript|Rust|C} code|can you write a program for $x}": "Code is",
    "{do you speak $l|can we speak $l}": "Any language but English is",
    "{can you do my homework|write my thesis about $x}": "That kind of work is",
    "{what is the meaning of life|does God exist|who should I vote for}": "Such a question is",
}
"""Questions that no tool answers, and what a thought calls them."""


def small_sum(random: Random) -> tuple[str, str]:
    """A sum without steps: the question and the line that answers it."""
    kind = random.choice("++-*")
    first, second = random.randint(1, 12), random.randint(1, 9)
    if kind == "-" and second > first:
        first, second = second, first
    value = {"+": first + second, "-": first - second, "*": first * second}[kind]
    asked_as = {"+": ["+", "plus"], "-": ["-", "minus"], "*": ["*", "x", "times"]}[kind]
    sign = random.choice(asked_as)
    text = (
        f"{first}{sign}{second}" if sign in "+-*x" and random.random() < 0.4 else f"{first} {sign} {second}"
    )
    return pick(
        random, ["{what's|what is|how much is} $s", "$s"], s=text
    ), f"{first} {'×' if kind == '*' else kind} {second} = {value}."


def combined_scene(random: Random) -> Scene:
    """A scene with several things in one message, answered in order."""
    asks: list[str] = []
    answers: list[str] = []
    for part in random.sample(
        [_sum_part, _self_part, _guide_part, _beyond_part, _joke_part],
        random.choices([1, 2, 3], [6, 5, 1])[0],
    ):
        ask, answer = part(random)
        asks.append(ask)
        answers.append(answer)
    greets, leaves = random.random() < 0.6, random.random() < 0.35
    if len(asks) == 1 and not leaves:
        greets = True
    user = random.choice([", and ", " and ", "? And "]).join(asks)
    if greets:
        hello = pick(random, ["{Hi|Hello|Hey|Good morning|Good evening|Hi there|Hello there|Hey mini}"])
        user = f"{hello}{random.choice([', ', '! ', ' '])}{user}"
        answers.insert(
            0,
            pick(
                random,
                [
                    "Good morning!"
                    if "morning" in hello
                    else "Good evening!"
                    if "evening" in hello
                    else "{Hello|Hi}!"
                ],
            ),
        )
    user = user + random.choice(["?", "?", ""])
    if leaves:
        goes = random.random() < 0.5
        user = user.rstrip("?") + pick(
            random,
            [
                "{? Thanks, bye|? Then bye|, then I have to go, bye|? Bye}[!]"
                if goes
                else "{? Thanks|, thanks|? Thank you|, thank you}[!]"
            ],
        )
        answers.append(
            pick(random, ["{Goodbye|Bye|Take care}!" if goes else "{You are welcome|My pleasure}!"])
        )
        return Scene(
            "goodbyes" if goes else "manners",
            [
                Turn(
                    capital(user),
                    " ".join(answers),
                    "There are several things here. I answer one after the other.",
                    exact=True,
                )
            ],
        )
    return Scene(
        "greetings" if greets else "manners",
        [
            Turn(
                capital(user),
                " ".join(answers),
                "There are several things here. I answer one after the other.",
                exact=True,
            )
        ],
    )


def _sum_part(random: Random) -> tuple[str, str]:
    return small_sum(random)


def _self_part(random: Random) -> tuple[str, str]:
    plain = {
        "name": "{who are you|what is your name|what are you}",
        "maker": "{who made you|who built you}",
        "size": "{how big are you|how many parameters do you have}",
        "place": "{where do you run|where are you running}",
        "network": "{do you need the internet|can you work offline}",
        "nature": "{are you human|are you a person|are you a robot}",
        "able": "{what can you do|how can you help}",
        "languages": "{which languages do you speak|what languages do you know}",
        "memory": "{do you remember our last chat|will you remember me}",
        "licence": "{what licence do you have|are you free}",
    }
    aspect = random.choice([aspect for aspect in self_description.ASPECTS if aspect.name in plain])
    return say(random, plain[aspect.name]), aspect.brief


def _guide_part(random: Random) -> tuple[str, str]:
    topic = random.choice([topic for topic in BRIEF_TOPICS if topic in FACTS and INQUIRIES[topic].goals])
    goal = say(random, random.choice(INQUIRIES[topic].goals))
    return f"{random.choice(['how do I', 'how can I', 'how to'])} {goal}", say(
        random, FACTS[topic].brief, **SNIPPETS
    )


def _beyond_part(random: Random) -> tuple[str, str]:
    pattern, what = random.choice(list(BEYOND_PARTS.items()))
    slots = {
        "c": random.choice(words.COUNTRIES),
        "n": random.choice(words.THINGS),
        "l": random.choice(words.LANGUAGES),
    }
    ask = say(random, pattern, **slots, x=plural(random.choice(words.ANIMALS)))
    return ask, f"{what} beyond me{random.choice(['', ', I am afraid', ': I am a very small model'])}."


def _joke_part(random: Random) -> tuple[str, str]:
    return pick(random, ["{tell me a joke|do you know a joke|a joke please}"]), random.choice(JOKES).text


def thanks_and_bye(random: Random) -> Scene:
    """Thanks and a goodbye in one message."""
    night = random.random() < 0.25
    thanks = pick(
        random,
        [
            "{Thanks|Thank you|Thanks a lot|Great, thanks|Cheers|That helped, thanks|Perfect, thank you|Thx|Many thanks}"
        ],
    )
    leaving = pick(
        random,
        [
            "{good night|I am going to bed|time to sleep}"
            if night
            else "{bye|goodbye|see you|I have to go|see you tomorrow|that's all|have a nice day|until next time|talk to you later}"
        ],
    )
    user = (
        f"{thanks}{random.choice([', ', ' and ', '! ', '. ', ' - '])}{leaving}{random.choice(['!', '.', ''])}"
    )
    answer = pick(
        random,
        [
            "{You are welcome|My pleasure|Gladly|Any time}! {Good night|Sleep well}!"
            if night
            else "{You are welcome|My pleasure|Gladly|Any time}! {Goodbye|See you|Take care|Have a nice day|Bye}!"
        ],
    )
    return Scene("goodbyes", [Turn(user, answer, "The user thanks me and leaves. I answer both.")])
