"""The training sentences of the recogniser's language model, and its vocabulary.

Draws what users say in dialogues of duologue-mini, and from `spoken_phrases.py`. Leaves out what cannot be spoken, invented
words, and every sentence of the recogniser's benchmark.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from duologue_mini import skills
from recogniser.tuning.dictionary import spellings
from recogniser.tuning.spoken_form import spoken_form
from recogniser.tuning.spoken_phrases import draw_phrase

SCENES = 150_000
TALK = 60_000
RARE = {"unseen_tools": 0.15, "reading": 0.15}
"""Weights of the skills whose users mostly paste text that nobody would speak."""
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
"""The most sentences taken from skills that would otherwise dominate."""
LONGEST = 20
"""The most words in a sentence."""
OFTEN = 12
"""The number of different sentences a word must occur in; rarer ones are mostly invented by the generators."""
TYPOS = set("doin howto im km lm lol pls plz r rn teh thnaks thx u ur waht whats wht whta".split())
"""Spellings that are only ever typed."""
_WITHIN = re.compile(r"(?<=[a-z] )[A-Za-z]+(?:'[a-z]+)?")
TESTS = ("in_domain.txt", "out_of_domain.txt", "development.txt")
BENCH = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Corpus:
    """Sentences, and their words as they are spelled."""

    lines: list[str]
    words: list[str]


def read_sentences(file: Path) -> list[str]:
    """The sentences of a benchmark file; lines that begin with # are comments."""
    return [line for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


def benchmark_sentences() -> set[str]:
    """The benchmark sentences, which must not be learned, in lower case."""
    return {(spoken_form(line) or "").lower() for name in TESTS for line in read_sentences(BENCH / name)}


def draw_corpus(
    dictionary: Mapping[str, object], seed: int = 1, *, scenes: int = SCENES, talk: int = TALK
) -> tuple[Corpus, int]:
    """A corpus of words in `known` (lower case), and the number of draws that were benchmark sentences."""
    random, forbidden, excluded = Random(seed), benchmark_sentences(), 0
    by_skill: dict[str, list[str]] = defaultdict(list)
    texts = list(_draw_texts(random, scenes, talk))
    for skill, text in texts:
        words = (spoken_form(text) or "").split()
        if not 1 <= len(words) <= LONGEST:
            continue
        if " ".join(words).lower() in forbidden:
            excluded += 1
            continue
        by_skill[skill].append(" ".join(words))
    word_counts = Counter(
        word for lines in by_skill.values() for line in set(lines) for word in set(line.lower().split())
    )
    # Words of spoken_phrases.py are meant even if they occur in one sentence only: they were written by hand.
    phrase_words = {word for line in by_skill["talk"] for word in line.lower().split()}
    vocabulary = {
        word
        for word, count in word_counts.items()
        if (count >= OFTEN or word in phrase_words) and word in dictionary and word not in TYPOS
    }
    case = _case(text for _, text in texts)
    chosen: list[str] = []
    for skill in sorted(by_skill):
        lines = [line for line in by_skill[skill] if vocabulary.issuperset(line.lower().split())]
        random.shuffle(lines)
        chosen += [
            " ".join(case.get(word, word) for word in line.lower().split())
            for line in lines[: MOST.get(skill, len(lines))]
        ]
    return Corpus(chosen, sorted({word for line in chosen for word in line.split()})), excluded


def _draw_texts(random: Random, scenes: int, talk: int) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for _ in range(scenes):
        scene = skills.draw(random, RARE)
        for turn in scene.turns:
            if turn.user not in seen:
                seen.add(turn.user)
                yield scene.skill, turn.user
    for _ in range(talk):
        yield "talk", draw_phrase(random)


def _case(texts: Iterable[str]) -> dict[str, str]:
    """The spelling of words with capitals: the most common one after a lower-case word, where a capital does not mark the start
    of a sentence."""
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
        **spellings(),
    }
