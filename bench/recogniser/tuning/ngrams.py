"""A word trigram model by interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998), written as ARPA text."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Gram = tuple[str, ...]
START, END = "<s>", "</s>"
RAREST = (1, 1, 2)
"""The least count of a sequence of one, two and three words that is kept."""
NEVER = -99.0


@dataclass(frozen=True)
class Ngrams:
    """`chances[n]`: probabilities of sequences of n + 1 words; `backoffs[n]`: back-off weights of their histories."""

    chances: list[dict[Gram, float]]
    backoffs: list[dict[Gram, float]]

    def lines(self) -> Iterable[str]:
        """The model as ARPA text."""
        yield "\\data\\"
        for length, chances in enumerate(self.chances, 1):
            yield f"ngram {length}={len(chances)}"
        for length, chances in enumerate(self.chances, 1):
            yield f"\n\\{length}-grams:"
            backoffs = self.backoffs[length - 1] if length <= len(self.backoffs) else {}
            for gram in sorted(chances):
                chance = math.log10(chances[gram]) if chances[gram] else NEVER
                backoff = f"\t{math.log10(backoffs[gram]):.3f}" if gram in backoffs else ""
                yield f"{chance:.3f}\t{' '.join(gram)}{backoff}"
        yield "\n\\end\\"


def estimate(lines: Iterable[str], rarest: tuple[int, ...] = RAREST) -> Ngrams:
    """The model of these lines, each of which is a sentence."""
    counts = _counts(lines, len(rarest))
    discounts = [_discounts(counts_of_order) for counts_of_order in counts]
    chances = [_unigrams(counts[0], discounts[0])]
    backoffs: list[dict[Gram, float]] = []
    for length in range(1, len(rarest)):
        longer = _interpolate(counts[length], discounts[length], chances[-1])
        frequent = {gram: chance for gram, chance in longer.items() if counts[length][gram] >= rarest[length]}
        backoffs.append(_backoffs(frequent, chances[-1]))
        chances.append(frequent)
    return Ngrams(chances, backoffs)


def _counts(lines: Iterable[str], order: int) -> list[Counter[Gram]]:
    """Counts of the longest sequences; for shorter ones the number of different words they follow (continuation counts)."""
    seen: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for line in lines:
        words = (START, *line.split(), END)
        for length in range(1, order + 1):
            for at in range(len(words) - length + 1):
                seen[length - 1][words[at : at + length]] += 1
    counts = [seen[-1]]
    for length in range(order - 1, 0, -1):
        continuations: Counter[Gram] = Counter(gram[1:] for gram in seen[length])
        for gram, count in seen[length - 1].items():
            if gram[0] == START:
                continuations[gram] = count
        counts.insert(0, continuations)
    return counts


def _discounts(counts_of_order: Mapping[Gram, int]) -> tuple[float, float, float, float]:
    """The discounts of counts of none, one, two, and three or more."""
    often = Counter(count for count in counts_of_order.values() if count <= 4)
    one, two, three, four = (max(1, often[count]) for count in (1, 2, 3, 4))
    rest = one / (one + 2 * two)
    return (
        0.0,
        max(0.05, 1 - 2 * rest * two / one),
        max(0.1, 2 - 3 * rest * three / two),
        max(0.2, 3 - 4 * rest * four / three),
    )


def _unigrams(counts_of_order: Mapping[Gram, int], discounts: tuple[float, ...]) -> dict[Gram, float]:
    words = {gram: count for gram, count in counts_of_order.items() if gram != (START,)}
    total = sum(words.values())
    spare = sum(discounts[min(count, 3)] for count in words.values()) / total / len(words)
    chances = {gram: (count - discounts[min(count, 3)]) / total + spare for gram, count in words.items()}
    return {**chances, (START,): 0.0}


def _interpolate(
    counts_of_order: Mapping[Gram, int], discounts: tuple[float, ...], shorter: Mapping[Gram, float]
) -> dict[Gram, float]:
    total: defaultdict[Gram, int] = defaultdict(int)
    spare: defaultdict[Gram, float] = defaultdict(float)
    for gram, count in counts_of_order.items():
        total[gram[:-1]] += count
        spare[gram[:-1]] += discounts[min(count, 3)]
    return {
        gram: (count - discounts[min(count, 3)] + spare[gram[:-1]] * shorter[gram[1:]]) / total[gram[:-1]]
        for gram, count in counts_of_order.items()
    }


def _backoffs(frequent: Mapping[Gram, float], shorter: Mapping[Gram, float]) -> dict[Gram, float]:
    here: defaultdict[Gram, float] = defaultdict(float)
    below: defaultdict[Gram, float] = defaultdict(float)
    for gram, chance in frequent.items():
        here[gram[:-1]] += chance
        below[gram[:-1]] += shorter[gram[1:]]
    return {start: max(1e-9, 1 - here[start]) / max(1e-9, 1 - below[start]) for start in here}
