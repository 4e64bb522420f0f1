"""Rules in system prompts: how to begin, to end, to address the user; capitals, one sentence, JSON.

Each rule is a sentence of the prompt and a function that applies it to an answer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.text import payloads
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots

Change = Callable[[str], str]


@dataclass(frozen=True)
class Rule:
    """A sentence of a system prompt and the function it applies to an answer. `short` asks for very short answers."""

    system: str
    change: Change
    thought: str
    short: bool = False
    last: int = 0  # order of application: rules with a higher number act later


WORDS_SAID = [
    "over",
    "ahoy",
    "friend",
    "captain",
    "sir",
    "beep",
    "indeed",
    "cheers",
    "amen",
    "please",
    "meow",
    "hooray",
]
PHRASES_SAID = [
    "Have a nice day",
    "At your service",
    "Stay safe",
    "Over and out",
    "That is all",
    "Yours truly",
    "Long live the queen",
    "Good luck",
]


def _words(random: Random) -> str:
    """A word or phrase that an answer must contain."""
    kind = random.random()
    if kind < 0.35:
        return random.choice(WORDS_SAID)
    if kind < 0.5:
        return random.choice(PHRASES_SAID)
    if kind < 0.9:
        return payloads.any_word(random)
    return payloads.phrase(random, 2, 3)


def _ending(random: Random) -> Rule:
    phrase = _words(random)
    lower = phrase[0].islower()

    def change(answer: str) -> str:
        return (
            f"{answer.rstrip('.!')}, {phrase}."
            if lower and not answer.endswith("?")
            else f"{answer} {phrase}."
        )

    patterns = [
        "{End|Finish|Close|Conclude} {every|each|all your|every single} {answer|reply|message|response} with {\"$w\"|$w|the word{s|} $w|'$w'}[.]",
        '{Always|You must always|Please always} {end|finish|close} {with|by saying} {"$w"|$w}[.]',
        "{The last words of your reply are|Your replies end with|Say as the last thing}: $w[.]",
    ]
    return Rule(_wish(random, patterns, phrase), change, f'I end with "{phrase}".', last=2)


def _wish(random: Random, patterns: list[str], phrase: str) -> str:
    text = pick(random, patterns)
    right, wrong = ("the words", "the word ") if " " in phrase else ("the word", "the words ")
    return fill_slots(text.replace(f"{wrong}$w", f"{right} $w"), {"w": phrase})


def _beginning(random: Random) -> Rule:
    phrase = capital(_words(random))
    mark = random.choice(["!", ".", ","])
    patterns = [
        "{Begin|Start|Open} {every|each|all your} {answer|reply|message|response} with {\"$w\"|$w|the word{s|} $w|'$w'}[.]",
        '{Always|You must always|Please} {begin|start} with {"$w"|$w}[.]',
        "{The first words of your reply are|Your replies begin with}: $w[.]",
    ]
    return Rule(
        _wish(random, patterns, phrase),
        lambda answer: f"{phrase}{'!' if mark == '!' else '.'} {answer}",
        f'I begin with "{phrase}".',
        last=2,
    )


def _address(random: Random) -> Rule:
    title = random.choice(
        [
            "Captain",
            "Sir",
            "Madam",
            "Boss",
            "Your Majesty",
            "friend",
            "Doctor",
            "Chief",
            payloads.first_name(random),
            payloads.coin_word(random).capitalize(),
        ]
    )
    patterns = [
        '{Always call|Address|Call|You call} the user {"$w"|$w|as $w}[.]',
        "The user {is|is called|wants to be called} $w; {use that|say it} in every answer[.]",
    ]

    def change(answer: str) -> str:
        return f"{answer[:-1]}, {title}{answer[-1]}" if answer[-1] in ".!?" else f"{answer}, {title}"

    return Rule(
        fill_slots(pick(random, patterns), {"w": title}).replace("Call the user as", "Address the user as"),
        change,
        f"I call the user {title}.",
        last=1,
    )


def _capitals(random: Random) -> Rule:
    patterns = [
        "{Answer|Reply|Write|Respond|Always answer|Speak} {in|only in|using only} {capitals|capital letters|upper case|uppercase|ALL CAPS|all caps}[.]",
        "{Use|Write} only {capital|upper-case} letters[.]",
    ]
    return Rule(pick(random, patterns), str.upper, "I write in capitals.", last=3)


def _small(random: Random) -> Rule:
    patterns = [
        "{Answer|Reply|Write|Respond|Always answer} {in|only in|using only} {small letters|lower case|lowercase}[.]",
        "{Use|Write} no capital letters[.]",
    ]
    return Rule(pick(random, patterns), str.lower, "I write in small letters.", last=3)


def _one_sentence(random: Random) -> Rule:
    patterns = [
        "{Answer|Reply|Respond} {in|with|only in} {one|a single|exactly one} {short |}sentence[ only][.]",
        "{Use|Give|Write} {one sentence|a single sentence|no more than one sentence}[ only| per answer][.]",
        "{Keep|Hold} {every answer|your answers} to one sentence[.]",
    ]
    return Rule(pick(random, patterns), str, "One sentence.")


def _few_words(random: Random) -> Rule:
    patterns = [
        "{Answer|Reply|Respond} {very briefly|with very few words|in at most {five|four|5} words|as short as possible|tersely}[.]",
        "{Use|Write} {at most|no more than} {five|four|5|6} words[.]",
        "{Be|Your answers are} {extremely brief|very short|terse}[.]",
    ]
    return Rule(pick(random, patterns), str, "Very short.", short=True)


def _wrapped(random: Random) -> Rule:
    kind = random.randrange(4)
    if kind == 0:
        return Rule(
            pick(
                random,
                ["{Put|Write|Set} {every|each} {answer|reply} in {quotes|quotation marks|double quotes}[.]"],
            ),
            lambda answer: f'"{answer}"',
            "I use quotes.",
            last=4,
        )
    if kind == 1:
        return Rule(
            pick(random, ["{Put|Write|Set} {every|each} {answer|reply} in {bold|bold type}[.]"]),
            lambda answer: f"**{answer}**",
            "Bold.",
            last=4,
        )
    if kind == 2:
        return Rule(
            pick(random, ["{Put|Write|Set} {every|each} {answer|reply} in {brackets|parentheses}[.]"]),
            lambda answer: f"({answer})",
            "In brackets.",
            last=4,
        )
    key = random.choice(["answer", "reply", "text", "message", payloads.coin_word(random)])
    patterns = [
        '{Answer|Reply|Respond} {with|in|only with} JSON{ with the key "$w"|: {one key, "$w"|an object with "$w"}}[.]',
        'Your {answer|output} is {a JSON object|JSON} with {one|the} field "$w"[.]',
    ]
    return Rule(
        fill_slots(pick(random, patterns), {"w": key}),
        lambda answer: json.dumps({key: answer}, ensure_ascii=False),
        f"JSON with {key}.",
        last=5,
    )


RULES: list[tuple[Callable[[Random], Rule], int]] = [
    (_ending, 9),
    (_beginning, 6),
    (_address, 5),
    (_capitals, 6),
    (_small, 3),
    (_one_sentence, 8),
    (_few_words, 5),
    (_wrapped, 4),
]


def draw_rules(random: Random) -> list[Rule]:
    makers = [maker for maker, _ in RULES]
    chosen = random.choices(
        makers, [weight for _, weight in RULES], k=random.choices([1, 2, 3], [65, 28, 7])[0]
    )
    rules = {maker.__name__: maker(random) for maker in chosen}
    if "_capitals" in rules:
        rules.pop("_small", None)
    if "_few_words" in rules:
        rules.pop("_one_sentence", None)
    return sorted(rules.values(), key=lambda rule: rule.last)


def apply_rules(answer: str, rules: list[Rule]) -> str:
    for rule in rules:
        answer = rule.change(answer)
    return answer


def join_prompt(random: Random, parts: list[str]) -> str:
    """Joins sentences into a prompt: a paragraph, or lines with dashes."""
    whole = [part if part.endswith((".", "!", '"')) else part + "." for part in parts]
    if len(whole) > 1 and random.random() < 0.25:
        mark = random.choice(["- ", "", "* "])
        return "\n".join(mark + part for part in whole)
    return " ".join(whole)
