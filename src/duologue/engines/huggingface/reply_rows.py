"""One reply, or one prompt to read ahead, as a row of the engine's batch: what is read next, what is written, and when it ends.

Made by `engine`; `run_step` runs one step of several rows in the engine's thread. A token is given out when it is chosen, and read into the
cache in the next step. Blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from duologue.engines.contracts import GenerationEnded, Piece
from duologue.engines.decoding.token_choice import ChosenToken, TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.device_failures import describe_failure
from duologue.engines.huggingface.processed_prompt import ProcessedPrompt, readable
from duologue.engines.huggingface.row_batch import RowBatch
from duologue.engines.huggingface.text_sequence import TextSequence
from duologue.errors import Problem
from duologue.values.events import Progress, TokenLogprob

Item = Piece | Progress | GenerationEnded
Outcome = list[Item] | Problem


class PromptRow:
    """Reads a prompt into a sequence, keeping what both begin with."""

    def __init__(self, sequence: TextSequence, prompt: Sequence[int], batch: int) -> None:
        self.sequence, self._batch = sequence, batch
        self.prompt = prompt if isinstance(prompt, ProcessedPrompt) else tuple(prompt)
        self.reads, self.ended = True, False
        self.cached: int | None = None

    def read(self, rows: RowBatch, share: int) -> list[Item]:
        """Read the next part of the prompt, `share` batches of it."""
        sequence, prompt = self.sequence, self.prompt
        if self.cached is None:
            # The last token is always read: only that gives the logits behind it.
            common = min(common_beginning(sequence.numbers, prompt), len(prompt) - 1)
            self.cached = readable(prompt, rows.kept(sequence, common))
            rows.crop(sequence, self.cached)
        start = len(sequence)
        end = len(prompt) if rows.whole else min(len(prompt), start + share * self._batch)
        if isinstance(prompt, ProcessedPrompt) and start == 0:
            end = len(prompt) if rows.whole else prompt.whole
            logits = rows.read_media(sequence, prompt, end)
        else:
            logits = rows.read(sequence, prompt[start:end])
        progress = Progress(end, len(prompt), self.cached)
        if end < len(prompt):
            return [progress]
        self.reads = False
        return [progress, *self.follow(logits)]

    def follow(self, logits: Any) -> list[Item]:
        """What is written behind the prompt: nothing."""
        self.ended = True
        return []


class ReplyRow(PromptRow):
    """A reply behind a prompt, of at most `limit` tokens; `ends` are the tokens that end it."""

    def __init__(
        self,
        sequence: TextSequence,
        prompt: Sequence[int],
        batch: int,
        choice: TokenChoice,
        text: TokenText,
        *,
        ends: Collection[int],
        limit: int,
    ) -> None:
        super().__init__(sequence, prompt, batch)
        self._choice, self._text, self._ends, self._limit = choice, text, ends, limit
        self._waiting: list[TokenLogprob] = []
        self._written = 0
        self.token = -1
        """The last token, which is not in the cache yet."""

    def follow(self, logits: Any) -> list[Item]:
        """Choose the next token from the logits behind the last one."""
        if self._written >= self._limit:
            return self._end("length")
        before = self.sequence.numbers
        chosen = self._choice.choose(logits, before)
        if chosen.id in self._ends:
            return self._end("stop")
        self._written += 1
        self.token = chosen.id
        items = [self._piece(chosen)]
        return items if self._written < self._limit else [*items, *self._end("length")]

    def _end(self, finish: Any) -> list[Item]:
        self.ended = True
        items: list[Item] = []
        if (left := self._text.finish()) or self._waiting:
            items.append(Piece(left, 0, tuple(self._waiting)))
        return [*items, GenerationEnded(finish, self._written, self.cached or 0)]

    def _piece(self, chosen: ChosenToken) -> Item:
        if self._choice.reports:
            self._waiting.append(self._logprob(chosen))
        text = self._text.add(chosen.id)
        if self._text.pending:
            return Piece("", 1)  # it counts although its text waits
        logprobs, self._waiting = tuple(self._waiting), []
        return Piece(text, 1, logprobs, self._text.is_control(chosen.id))

    def _logprob(self, chosen: ChosenToken) -> TokenLogprob:
        def spelt(token: int, logprob: float, top: tuple[TokenLogprob, ...] = ()) -> TokenLogprob:
            text, data = self._text.spelling(token)
            return TokenLogprob(text, logprob, data, top)

        return spelt(chosen.id, chosen.logprob, tuple(spelt(*each) for each in chosen.top))


def run_step(
    rows: RowBatch, model: str, reading: PromptRow | None, writing: Sequence[ReplyRow], share: int
) -> list[Outcome]:
    """Read a part of one row's prompt, and write a token of each of the others: the items of each, the reader's first, or why it failed.
    Rows that are written together fail together."""
    outcomes: list[Outcome] = []
    if reading is not None:
        try:
            outcomes.append(reading.read(rows, share))
        except Exception as error:  # noqa: BLE001
            rows.forget(reading.sequence)
            outcomes.append(_problem(model, error))
    if not writing:
        return outcomes
    try:
        found = rows.write([row.sequence for row in writing], [row.token for row in writing])
    except Exception as error:  # noqa: BLE001
        for row in writing:
            rows.forget(row.sequence)
        return [*outcomes, *[_problem(model, error)] * len(writing)]
    return [*outcomes, *(_followed(model, row, logits) for row, logits in zip(writing, found, strict=True))]


def _followed(model: str, row: ReplyRow, logits: Any) -> Outcome:
    try:
        return row.follow(logits)
    except Exception as error:  # noqa: BLE001
        return _problem(model, error)


def _problem(model: str, error: Exception) -> Problem:
    return error if isinstance(error, Problem) else describe_failure(model, error)


def common_beginning(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
