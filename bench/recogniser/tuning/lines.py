"""The sentences the recogniser's language model is made of, and its words, as they are written.

Draws what users say in the dialogues of duologue-mini, and `talk.py` beside it. Leaves out what cannot be said, what is
invented, and every sentence of the recogniser's tests. Knows neither counts nor pronunciation.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from duologue_mini import skills
from recogniser.tuning.dictionary import written
from recogniser.tuning.talk import said
from recogniser.tuning.wording import spoken

SCENES = 150_000
TALK = 60_000
RARE = {"unseen_tools": 0.15, "reading": 0.15}
"""Skills whose users mostly paste what nobody says."""
MOST: dict[str, int] = {
    "arithmetic": 8_000,
    "guide": 20_000,
    "instructed": 4_000,
    "reading": 500,
    "recall": 8_000,
    "rewriting": 4_000,
    "scope": 16_000,
    "spoken": 5_000,
    "unseen_tools": 2_000,
}
"""Sentences taken of skills that have more than their share."""
LONGEST = 20
"""Words."""
OFTEN = 12
"""In how many different sentences a drawn word has to be, so that it is no invented one."""
TYPED = set("doin howto im km lm lol pls plz r rn teh thnaks thx u ur waht whats wht whta".split())
"""What is only ever typed."""
_WITHIN = re.compile(r"(?<=[a-z] )[A-Za-z]+(?:'[a-z]+)?")
TESTS = ("in_domain.txt", "out_of_domain.txt", "development.txt")
BENCH = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Lines:
    """Sentences of words as they are written, and those words."""

    lines: list[str]
    words: list[str]


def listed(file: Path) -> list[str]:
    """The sentences of a file of the bench; lines that begin with # are none."""
    return [line for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


def tested() -> set[str]:
    """The sentences that may not be learned, in lower case."""
    return {(spoken(line) or "").lower() for name in TESTS for line in listed(BENCH / name)}


def drawn(
    known: Mapping[str, object], seed: int = 1, *, scenes: int = SCENES, talk: int = TALK
) -> tuple[Lines, int]:
    """What to learn, of words that are `known` (lower case), and how many draws were sentences of the tests."""
    random, forbidden, dropped = Random(seed), tested(), 0
    by_skill: dict[str, list[str]] = defaultdict(list)
    texts = list(_drawn(random, scenes, talk))
    for skill, text in texts:
        words = (spoken(text) or "").split()
        if not 1 <= len(words) <= LONGEST:
            continue
        if " ".join(words).lower() in forbidden:
            dropped += 1
            continue
        by_skill[skill].append(" ".join(words))
    used = Counter(
        word for lines in by_skill.values() for line in set(lines) for word in set(line.lower().split())
    )
    # What `talk.py` says was written by hand, a word that it says in one way only too.
    meant = {word for line in by_skill["talk"] for word in line.lower().split()}
    vocabulary = {
        word
        for word, count in used.items()
        if (count >= OFTEN or word in meant) and word in known and word not in TYPED
    }
    case = _case(text for _, text in texts)
    kept: list[str] = []
    for skill in sorted(by_skill):
        lines = [line for line in by_skill[skill] if vocabulary.issuperset(line.lower().split())]
        random.shuffle(lines)
        kept += [
            " ".join(case.get(word, word) for word in line.lower().split())
            for line in lines[: MOST.get(skill, len(lines))]
        ]
    return Lines(kept, sorted({word for line in kept for word in line.split()})), dropped


def _drawn(random: Random, scenes: int, talk: int) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for _ in range(scenes):
        scene = skills.draw(random, RARE)
        for turn in scene.turns:
            if turn.user not in seen:
                seen.add(turn.user)
                yield scene.skill, turn.user
    for _ in range(talk):
        yield "talk", said(random)


def _case(texts: Iterable[str]) -> dict[str, str]:
    """How words that are not written small are written: as they mostly are behind a word that is."""
    small: Counter[str] = Counter()
    large: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for word in _WITHIN.findall(text):
            if word.islower():
                small[word] += 1
            else:
                large[word.lower()][word] += 1
    case = {
        word: forms.most_common(1)[0][0]
        for word, forms in large.items()
        if sum(forms.values()) > small[word] or len(word) == 1
    }
    return {
        **case,
        "a": "a",
        "i": "I",
        "i'm": "I'm",
        "i'd": "I'd",
        "i've": "I've",
        "i'll": "I'll",
        **written(),
    }
