"""Skill: repeating text word for word, and a few changes of form."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import pick

ASK = [
    "{Repeat|Say|Echo|Write|Type|Copy|Repeat after me|Say after me|Please say|Please repeat|Can you say|"
    "Could you repeat}[:] {\"$t\"|$t|'$t'}",
    "{Repeat|Echo|Say|Copy} {this|the following|these words|this back|exactly this}[ {word for word|back to"
    " me|please}]: $t",
    "{Say|Answer|Reply|Respond} {with|only|just}[:] $t",
    "{Say|Write} the {word|words} $t[.]",
]
COUNT = ["{Count|Please count|Can you count} {from 1 to|to|up to} $k[.]"]
WISHES = ["hello", "good morning", "thank you", "good night", "welcome"]
BACKWARDS = ["{Count|Please count} {down|backwards} from $k[.]"]


def draw(random: Random) -> Scene:
    """A scene in which the answer repeats something."""
    kind = random.choices(["echo", "twice", "count", "down"], [12, 1, 1, 1])[0]
    if kind == "count":
        top = random.randint(2, 15)
        numbers = ", ".join(str(number) for number in range(1, top + 1))
        return _scene(pick(random, COUNT, k=top), numbers, f"I count to {top}.")
    if kind == "down":
        top = random.randint(2, 12)
        numbers = ", ".join(str(number) for number in range(top, 0, -1))
        return _scene(pick(random, BACKWARDS, k=top), numbers, f"I count down from {top}.")
    text = _text(random)
    if kind == "twice":
        return _scene(
            pick(random, ["{Say|Repeat|Write} $t {twice|two times}[.]"], t=text),
            f"{text} {text}",
            "I say it twice.",
        )
    return _scene(pick(random, ASK, t=text), text, "The user wants it said back. I copy it.")


def _scene(user: str, assistant: str, thought: str) -> Scene:
    return Scene("echo", [Turn(user, assistant, thought, exact=True)])


def _long(random: Random) -> str:
    """Many random words, digits or letters to copy."""
    real = words.THINGS + words.ANIMALS + words.FOODS + words.NAMES + words.ADJECTIVES + words.PLACES
    count = random.randint(4, 12)
    kind = random.choice(["real", "invented", "mixed", "digits", "letters"])
    if kind == "digits":
        return " ".join(str(random.randint(0, random.choice([9, 99, 999]))) for _ in range(count))
    if kind == "letters":
        return " ".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(count))
    share = {"real": 0.0, "invented": 1.0, "mixed": 0.5}[kind]
    return " ".join(
        words.invent_word(random) if random.random() < share else random.choice(real) for _ in range(count)
    )


def _a_certain_animal(random: Random) -> str:
    return f"{words.article(random.choice(words.ADJECTIVES))} {random.choice(words.ANIMALS)}"


def _text(random: Random) -> str:
    makers = [
        lambda: random.choice(words.THINGS),
        lambda: f"the {random.choice(words.ADJECTIVES)} {random.choice(words.ANIMALS)}",
        lambda: words.invent_word(random),
        lambda: " ".join(
            random.choice(words.THINGS + words.ANIMALS + words.FOODS) for _ in range(random.randint(2, 5))
        ),
        lambda: " ".join(words.invent_word(random) for _ in range(random.randint(1, 3))),
        lambda: f"I like {random.choice(words.FOODS)}",
        lambda: f"{random.choice(WISHES)} {words.name(random)}",
        lambda: str(random.randint(0, 9999)),
        lambda: random.choice(
            ["hello", "yes", "no", "ok", "banana", "hello world", "test", "one two three", "I am ready"]
        ),
        lambda: f"{words.name(random)} has {_a_certain_animal(random)}",
    ]
    text = _long(random) if random.random() < 0.35 else random.choice(makers)()
    return text.capitalize() if random.random() < 0.15 else text
