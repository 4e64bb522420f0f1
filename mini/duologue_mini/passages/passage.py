"""Short texts assembled from topics, with the questions they answer and those they do not."""

import re
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from duologue_mini.passages import goods, people, places, work
from duologue_mini.passages.topic import Topic, TopicFact
from duologue_mini.text import payloads, words
from duologue_mini.text.lexicon import MEN, OTHER_SCRIPTS, WOMEN
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots

TOPICS: list[Topic] = [
    value
    for module in (people, places, goods, work)
    for value in vars(module).values()
    if isinstance(value, Topic)
]
RELATIONS = ["sister", "brother", "cousin", "uncle", "aunt", "neighbour", "daughter", "son", "friend", "boss"]
BUILDINGS = [
    "school",
    "bridge",
    "mill",
    "bank",
    "station",
    "library",
    "museum",
    "printer",
    "bakery",
    "town hall",
]
GEAR = ["cars", "boxes", "uniforms", "vans", "bags", "doors", "trucks", "walls"]
ASIDES = [
    "It was a {long|quiet|fine|busy} {day|week|evening}.",
    "{Many people|Some of us|Not everybody} {like|liked} that.",
    "That is {not bad|good to know|how it is|a nice thing}.",
    "{More will follow|We are looking forward to it|Nobody was surprised|So it goes}.",
    "{The rest|Everything else} {stays|is} as it was.",
]


@dataclass(frozen=True)
class Known:
    """A question the text answers: `sentence` holds the answer, `other` is a wrong value."""

    fact: TopicFact
    fills: dict[str, str]
    sentence: str
    value: str
    other: str


@dataclass(frozen=True)
class Passage:
    """A text, the questions it answers and those it does not, and its gist."""

    text: str
    answers: list[Known]
    unknown: list[tuple[TopicFact, dict[str, str]]]
    gist: str
    several: bool = False


def passage(random: Random, *, most: int = 7) -> Passage:
    """A passage about one subject, about two of a kind that must not be confused, or now and then about several."""
    chance = random.random()
    if chance < 0.2:
        return _about(random, [random.choice(TOPICS)] * 2, min(most, 4))
    if chance < 0.27:
        return _about(random, random.sample(TOPICS, random.randint(3, 6)), most)
    return _one(random, random.choice(TOPICS), random.randint(1, most), alone=True)


def _about(random: Random, topics: list[Topic], most: int) -> Passage:
    """Several subjects, one paragraph each; every question names its subject."""
    parts: list[Passage] = []
    used_names: set[str] = set()
    for topic in topics:
        part = _one(random, topic, random.randint(1, most), alone=False)
        names = {part.answers[0].fills["n"], part.answers[0].fills["first"]} - {
            "The",
            "Dr",
            "parcel",
            "project",
        }
        if not names & used_names:
            parts.append(part)
            used_names |= names
    answers = _told_apart([one for part in parts for one in part.answers])
    if not answers:
        return _one(random, topics[0], most, alone=True)
    mark = random.choice(["\n", "\n\n", " "])
    unknown = [(_naming(fact), fills) for part in parts for fact, fills in part.unknown]
    return Passage(
        mark.join(part.text for part in parts),
        answers,
        [(fact, fills) for fact, fills in unknown if fact.questions],
        words.join_words([part.gist for part in parts]),
        several=True,
    )


def _told_apart(answers: list[Known]) -> list[Known]:
    """The answers with a question that can only mean one of the subjects."""
    apart = [Known(_naming(one.fact), one.fills, one.sentence, one.value, one.other) for one in answers]
    return [one for one in apart if one.fact.questions]


@cache
def _naming(fact: TopicFact) -> TopicFact:
    """The fact with only those questions that name the subject in every wording."""
    true = fact.true if _names(fact.true) else ""
    return replace(fact, questions=[ask for ask in fact.questions if _names(ask)], true=true)


def _names(pattern: str) -> bool:
    before = ""
    while before != pattern:
        before, pattern = pattern, _GROUP.sub("", pattern)
    return "$s" in pattern or "$n" in pattern


_GROUP = re.compile(r"\{[^{}\[\]]*\}|\[[^{}\[\]]*\]")


def _one(random: Random, topic: Topic, count: int, *, alone: bool) -> Passage:
    fills = _fills(random, topic, alone)
    first, *rest = topic.facts
    chosen = [first, *random.sample(rest, min(count - 1, len(rest)))]
    if random.random() < 0.7:
        chosen.sort(key=topic.facts.index)
    if chosen[0] is not first:
        chosen.remove(first)
        chosen.insert(0, first)
    answers, lines = [], []
    for fact in chosen:
        value, other = fact.value(random), fact.value(random)
        sentence = _sentence(random, fact, topic, fills, value)
        lines.append(sentence)
        answers.append(Known(fact, fills, sentence, value, other))
        if random.random() < 0.06:
            lines.append(pick(random, ASIDES))
    unknown = [(fact, fills) for fact in rest if fact not in chosen]
    return Passage(" ".join(lines), answers, unknown, fill_slots(topic.gist, dict(fills)))


def _sentence(random: Random, fact: TopicFact, topic: Topic, fills: dict[str, str], value: str) -> str:
    later = [fills["n"], fills["first"], fills["they"]] if topic.people else topic.later or [fills["n"]]
    later_name = random.choice(later)
    text = pick(random, fact.statements)
    if not text.startswith("$t"):
        later_name = (
            later_name[:1].lower() + later_name[1:]
            if later_name.startswith(("The ", "It", "She", "He"))
            else later_name
        )
    sentence = fix_articles(fill_slots(text, {**fills, "t": later_name, "v": value, "vs": value + "s"}))
    return sentence if text.startswith(("$v", "$n")) and not sentence[0].islower() else capital(sentence)


def _fills(random: Random, topic: Topic, alone: bool) -> dict[str, str]:
    name = topic.subject(random)
    first = name.partition(" ")[0]
    question_name = fill_slots(topic.question_name, {"n": name})
    nouns = [later.lower() for later in topic.later if later != "It"] if alone else []
    return {
        "n": name,
        "first": first,
        "they": _pronoun(random, first),
        "s": random.choice([question_name, question_name, *nouns])
        if not topic.people
        else random.choice([name, first]),
        "r": random.choice(RELATIONS),
        "b": random.choice(BUILDINGS),
        "w": random.choice(GEAR) if random.random() < 0.5 else payloads.plural(random.choice(words.THINGS)),
    }


_SHE, _HE, _OTHER = set(WOMEN), set(MEN), set(OTHER_SCRIPTS)


def _pronoun(random: Random, first: str) -> str:
    if first in _OTHER:
        return first
    return "She" if first in _SHE else "He" if first in _HE else random.choice(["She", "He"])


_A = re.compile(r"\b([Aa]) (?=[aeiou])(?!uni|us[eu]|one|eu)")


def fix_articles(text: str) -> str:
    """The text with "an" where "a" stands before a vowel."""
    return _A.sub(r"\1n ", text)
