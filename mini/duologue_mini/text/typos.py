"""Typing habits and mistakes: lower case, missing full stops, a stray word in front, a wrong key."""

from random import Random

OPENERS = [
    "tell me, ",
    "sorry, ",
    "one question: ",
    "and ",
    "now ",
    "listen, ",
    "hello, ",
    "hi! ",
    "good morning. ",
    "I was wondering, ",
    "hey mini, ",
    "oh, ",
    "hey, ",
    "ok, ",
    "okay so ",
    "um, ",
    "well, ",
    "so ",
    "hi, ",
    "please, ",
    "alright, ",
    "quick question: ",
]
CLOSERS = [
    " please",
    " please?",
    " thanks",
    " my friend",
    " for me",
    ", mate",
    " today",
    " right now",
    " if you can",
    " again",
    ", please",
    " :)",
    "...",
    " ?",
    "!!",
    " pls",
    " now",
    ", thank you",
]


def add_typos(random: Random, text: str, *, exact: bool = False) -> str:
    """The text as a user might type it; with `exact` only the case of its start may change."""
    if exact:
        return text[:1].lower() + text[1:] if random.random() < 0.3 else text
    if random.random() < 0.09:
        text = random.choice(OPENERS) + text[:1].lower() + text[1:]
    if random.random() < 0.35:
        text = text.lower()
    if random.random() < 0.3:
        text = text.rstrip(".?!")
    if random.random() < 0.07:
        text = text.rstrip(".?!") + random.choice(CLOSERS)
    if random.random() < 0.07:
        text = _slip(random, text)
    if random.random() < 0.01:
        text = text.upper()
    return text


def _slip(random: Random, text: str) -> str:
    letters = [
        index for index in range(1, len(text) - 1) if text[index].isalpha() and text[index + 1].isalpha()
    ]
    if not letters:
        return text
    index = random.choice(letters)
    kind = random.choice(["swap", "drop", "double"])
    if kind == "swap":
        return text[:index] + text[index + 1] + text[index] + text[index + 2 :]
    return text[:index] + (text[index] * 2 if kind == "double" else "") + text[index + 1 :]
