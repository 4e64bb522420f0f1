"""Runs the network: a prompt in parts, and one token of several sequences together.

Used by `reply_rows` in the engine's thread. Sequences that are written together share a cache in which each is a row that ends at the same
column, with nothing in front of the shorter ones, which a mask hides; positions are each sequence's own. Blocks.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from duologue.engines.huggingface.growing_cache import CacheMaker
from duologue.engines.huggingface.processed_prompt import ProcessedPrompt
from duologue.engines.huggingface.text_sequence import TextSequence
from duologue.errors import EngineFailed

PROBE = 12
"""Tokens of the trial that shows what a model can do."""


class RowBatch:
    """`model` is the library's. `whole`: a prompt is right only if it is read at once, and what follows a token at a time. `together`: several
    sequences are written in one step. `check` finds both out."""

    def __init__(self, torch: Any, model: Any, caches: CacheMaker, device: Any) -> None:
        self._torch, self._model, self.caches, self._device = torch, model, caches, device
        taken = inspect.signature(model.forward).parameters
        self._cache_name = "cache_params" if "cache_params" in taken else "past_key_values"
        self._takes_positions = "position_ids" in taken
        self._fixed: dict[str, Any] = {"use_cache": True}
        if "logits_to_keep" in taken:
            self._fixed["logits_to_keep"] = 1
        self.whole, self.together = False, caches.joinable
        self._members: list[TextSequence] = []
        self._cache: Any = None

    def sequence(self) -> TextSequence:
        """A new sequence without tokens."""
        return TextSequence(self.caches.new())

    def kept(self, sequence: TextSequence, common: int) -> int:
        """How many of the first `common` tokens of a sequence can stay in its cache."""
        return common if self.caches.croppable or common == len(sequence) else 0

    def crop(self, sequence: TextSequence, length: int) -> None:
        """Keep the first `length` tokens, a number from `kept`."""
        if length == len(sequence):
            return
        self._apart(sequence)
        if length == 0:
            sequence.cache = self.caches.new()
        else:
            self.caches.crop(sequence.cache, length)
        del sequence.numbers[length:]
        if all(number >= 0 for number in sequence.numbers):
            sequence.ahead = 0

    def read(self, sequence: TextSequence, tokens: Sequence[int]) -> Any:
        """Read tokens behind a sequence. The logits of what follows, [vocabulary] float32."""
        self._apart(sequence)
        parts = [[token] for token in tokens] if self.whole and len(sequence) else [list(tokens)]
        for part in parts:
            start = len(sequence)
            first = start + sequence.ahead
            logits = self._run([part], [list(range(first, first + len(part)))], sequence.cache, None)
            sequence.numbers += part
        return logits[0]

    def read_media(self, sequence: TextSequence, prompt: ProcessedPrompt, end: int) -> Any:
        """Read the first `end` tokens of a prompt, all its media among them, into an empty sequence; the logits of what follows. The library
        computes the positions, and where those of the next tokens are is asked of it."""
        self._apart(sequence)
        torch, count = self._torch, len(prompt.tokens)
        options = {**self._fixed, self._cache_name: sequence.cache}
        for name, value in prompt.inputs.items():
            if not isinstance(value, torch.Tensor):
                options[name] = value
                continue
            if tuple(value.shape) == (1, count):  # one for each token
                value = value[:, :end]
            options[name] = value.to(self._device, self._model.dtype if value.is_floating_point() else None)
        counters = [part for part in self._model.modules() if hasattr(part, "rope_deltas")]
        for counter in counters:
            counter.rope_deltas = None
        output = self._model(input_ids=torch.tensor([prompt.tokens[:end]], device=self._device), **options)
        counted = (counter.rope_deltas for counter in counters)
        sequence.ahead = next((int(each.flatten()[0]) for each in counted if each is not None), 0)
        for counter in counters:
            counter.rope_deltas = None
        sequence.numbers += prompt.numbers[:end]
        return output.logits[0, -1].float()

    def write(self, sequences: Sequence[TextSequence], tokens: Sequence[int]) -> list[Any]:
        """Read one token behind each of some sequences; the logits of each."""
        if any(sequence.lost for sequence in sequences):
            raise EngineFailed(
                "The engine lost what it had read of this reply when another one failed. Please try again."
            )
        if len(sequences) == 1 or not self.together:
            return [self.read(sequence, [token]) for sequence, token in zip(sequences, tokens, strict=True)]
        self._regroup(sequences)
        longest = max(map(len, sequences)) + 1
        mask = self._torch.ones((len(sequences), longest), dtype=self._torch.long)
        for at, sequence in enumerate(sequences):
            mask[at, : longest - 1 - len(sequence)] = 0
        logits = self._run(
            [[token] for token in tokens],
            [[len(sequence) + sequence.ahead] for sequence in sequences],
            self._cache,
            mask,
        )
        for sequence, token in zip(sequences, tokens, strict=True):
            sequence.numbers.append(token)
        return list(logits)

    def forget(self, sequence: TextSequence) -> None:
        """A step failed with this sequence: what its cache has is not known, nor what those have that it is written together with."""
        sequence.lost = True
        if sequence in self._members:
            for member in self._members:
                member.lost = True
            self._members, self._cache = [], None

    def check(self) -> tuple[str, ...]:
        """Find out, with a few tokens, what the model can do; warnings about what it cannot."""
        tokens = [token % self._model.config.get_text_config().vocab_size for token in range(5, 5 + PROBE)]
        at_once, cut, other = self.sequence(), self.sequence(), self.sequence()
        whole = self.read(at_once, tokens)
        self.read(cut, tokens[:7])
        self.whole = not self._alike(self.read(cut, tokens[7:]), whole)
        warnings: tuple[str, ...] = ()
        if self.whole:
            warnings = ("This model reads a prompt only as a whole, so a long one delays other replies.",)
        if self.together:
            self.read(other, tokens[:5])
            alone = [self.sequence(), self.sequence()]
            for sequence, count in zip(alone, (PROBE, 5), strict=True):
                self.read(sequence, tokens[:count])
            expected = [self.read(sequence, tokens[:1]) for sequence in alone]
            found = self.write((at_once, other), [tokens[0], tokens[0]])
            self.together = all(map(self._alike, found, expected))
            if not self.together:
                warnings += (
                    "This model writes its replies one after the other: in one step they come out differently.",
                )
        self._members, self._cache = [], None
        return warnings

    def _alike(self, one: Any, other: Any) -> bool:
        share = 1e-3 if self._model.dtype == self._torch.float32 else 0.1
        return float((one - other).abs().max()) <= share * max(1.0, float(other.abs().max()))

    def _run(self, tokens: list[list[int]], positions: list[list[int]], cache: Any, mask: Any) -> Any:
        tensor = self._torch.tensor
        options = dict(self._fixed)
        options[self._cache_name] = cache
        if self._takes_positions:
            options["position_ids"] = tensor(positions, device=self._device)
        if mask is not None and self.caches.has_keys:  # a state has no columns to hide
            options["attention_mask"] = mask.to(self._device)
        output = self._model(input_ids=tensor(tokens, device=self._device), **options)
        return output.logits[:, -1].float()

    def _apart(self, sequence: TextSequence) -> None:
        """Give a sequence of the batch its cache back."""
        if sequence in self._members:
            self._regroup([member for member in self._members if member is not sequence])

    def _regroup(self, wanted: Sequence[TextSequence]) -> None:
        """Make these the rows of the batch; the others get their layers back. A layer at a time, so that only one is there twice."""
        old = self._members
        if list(wanted) == old:
            return
        new = list(wanted) if len(wanted) > 1 else []
        leaving = [member for member in old if member not in new]
        cache = self.caches.new() if new else None
        caches = {id(member): self.caches.new() for member in leaving}
        for index in range(len((self._cache or wanted[0].cache).layers)):
            part = {
                id(member): self.caches.row_of(self._cache.layers[index], row, len(member))
                for row, member in enumerate(old)
            }
            for member in leaving:
                caches[id(member)].layers[index] = self.caches.alone(part[id(member)])
            if cache is not None:
                rows = [
                    part[id(member)]
                    if member in old
                    else self.caches.row_of(member.cache.layers[index], 0, len(member))
                    for member in new
                ]
                cache.layers[index] = self.caches.joined(rows)
            if self._cache is not None:
                self._cache.layers[index] = None
            for member in new:
                if member not in old:
                    member.cache.layers[index] = None
        for member in leaving:
            member.cache = caches[id(member)]
        for member in new:
            member.cache = None
        self._members, self._cache = new, cache
