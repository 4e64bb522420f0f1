"""Chooses the tokens of one reply by its rules, from the model's logits.

Made by the engines for each reply. Owns the order of the steps (bias, penalties, constraint, temperature, top k, top p, min p) and the generator of chance, which no
other reply shares. Blocks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from msgspec import Struct

from duologue.engines.decoding.choice_rules import ChoiceRules

IMPOSSIBLE = -9999.0
"""The logprob of an impossible token, as other APIs write it; JSON has no infinity."""


class ChosenToken(Struct, frozen=True):
    """A token, and with its logprob the likeliest ones where these are reported."""

    id: int
    logprob: float = 0.0
    top: tuple[tuple[int, float], ...] = ()


class TokenConstraint(Protocol):
    """A grammar that a reply is held to."""

    def allow(self, logits: Any) -> None:
        """Make the logits of every token that may not follow -inf, in place."""
        ...

    def chose(self, token: int) -> None:
        """This token follows."""
        ...


class TokenChoice:
    """`suppressed` are never chosen; `ends` are the tokens that end a reply; `constraint` says what may be written."""

    def __init__(
        self,
        torch: Any,
        rules: ChoiceRules,
        suppressed: Collection[int],
        ends: Collection[int],
        constraint: TokenConstraint | None = None,
    ) -> None:
        self._torch, self._rules, self._constraint = torch, rules, constraint
        self._suppressed = sorted({*suppressed, *(ends if rules.ignore_eos else ())})
        self._generator = torch.Generator()
        if rules.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(rules.seed % 2**63)

    @property
    def reports(self) -> bool:
        """Whether logprobs are reported."""
        return self._rules.logprobs is not None

    def choose(self, logits: Any, before: Sequence[int]) -> ChosenToken:
        """The next token. `logits`: [vocabulary] float32, not changed; `before`: the tokens so far, media among them."""
        rules = self._rules
        adjusted = self._adjusted(logits.clone(), before)
        if rules.temperature == 0:
            chosen = int(adjusted.argmax())
        else:
            chosen = self._draw(adjusted / rules.temperature)
        if self._constraint is not None:
            self._constraint.chose(chosen)
        if rules.logprobs is None:
            return ChosenToken(chosen)
        logprobs = self._torch.log_softmax(logits, -1)
        values, tokens = logprobs.topk(rules.logprobs) if rules.logprobs else ([], [])
        top = tuple((int(token), _finite(float(value))) for token, value in zip(tokens, values, strict=True))
        return ChosenToken(chosen, _finite(float(logprobs[chosen])), top)

    def _adjusted(self, logits: Any, before: Sequence[int]) -> Any:
        rules = self._rules
        for token, bias in rules.bias.items():
            logits[token] += bias
        window = rules.repetition_window
        recent = before if window < 0 else before[len(before) - min(window, len(before)) :]
        counts = Counter(token for token in recent if token >= 0)
        if counts and (rules.repetition_penalty != 1 or rules.presence_penalty or rules.frequency_penalty):
            tensor = self._torch.tensor
            tokens = tensor(list(counts), device=logits.device)
            times = tensor(list(counts.values()), device=logits.device)
            found = logits[tokens]
            penalty = rules.repetition_penalty
            found = self._torch.where(found > 0, found / penalty, found * penalty)
            logits[tokens] = found - rules.presence_penalty - rules.frequency_penalty * times
        if self._suppressed:
            logits[self._suppressed] = -math.inf
        if self._constraint is not None:
            self._constraint.allow(logits)
        return logits

    def _draw(self, logits: Any) -> int:
        rules = self._rules
        count = logits.shape[0]
        # Few are ever likely: sorting the whole vocabulary on a processor takes longer than the rest.
        values, tokens = logits.topk(min(rules.top_k, count) if rules.top_k > 0 else count)
        shares = self._torch.softmax(values, -1)
        if rules.top_p < 1:
            shares[shares.cumsum(-1) - shares >= max(rules.top_p, 1e-9)] = 0.0
        if rules.min_p > 0:
            shares[shares < rules.min_p * shares[0]] = 0.0
        # On the processor, so that a seed is the same on every device.
        at = self._torch.multinomial(shares.float().cpu(), 1, generator=self._generator)
        return int(tokens[int(at)])


def _finite(logprob: float) -> float:
    return logprob if logprob > IMPOSSIBLE else IMPOSSIBLE
