"""The tokenizer: byte-level BPE with single digits, and the special tokens of the chat format.

Also decides which tokens of a dialogue count for the loss. The split pattern is the one that llama.cpp calls `qwen2`, so
that both sides split text alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKER_TOKENS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
SPECIAL_TOKENS = CONTROL_TOKENS + MARKER_TOKENS
SPLIT_PATTERN = "|".join(
    [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
EMPTY_THOUGHT = "<think>\n\n</think>\n\n"
CUTTABLE = re.compile(r"<\|?/?[a-z_]+\|?>|([^\W\d_]{2,})")
"""A marker, which stays whole, or (group 1) a word of at least two letters."""


def train(texts: Iterable[str], vocabulary: int = 2048) -> Tokenizer:
    """Trains a tokenizer on these texts."""
    tokenizer = _around(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if tokenizer.get_vocab_size() != vocabulary:
        raise ValueError(f"only {tokenizer.get_vocab_size()} pieces could be learned; give more text")
    return tokenizer


def from_pieces(pieces: Sequence[str], merges: Sequence[str]) -> Tokenizer:
    """The tokenizer of a model file, from its pieces by id and its merges in order."""
    vocabulary = {piece: identity for identity, piece in enumerate(pieces)}
    pairs = [(first, second) for first, _, second in (merge.partition(" ") for merge in merges)]
    tokenizer = _around(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    return tokenizer


def _around(model: models.BPE) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def load(path: Path) -> Tokenizer:
    """Loads a saved tokenizer."""
    return Tokenizer.from_file(str(path))


class Encoder:
    """Turns a rendered dialogue into ids and marks those that count for the loss."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def encode(
        self, conversation: str, cut: SubwordDropout | None = None
    ) -> tuple[list[int], list[bool], list[int]]:
        """Ids, whether each counts for the loss, and the index at which each message begins.

        The loss covers every assistant message through `<|im_end|>`, except for an empty thought, which is part of the
        prompt. With a `cut`, words outside the loss are split at random.
        """
        ids: list[int] = []
        loss_mask: list[bool] = []
        starts: list[int] = []
        for message in conversation.split("<|im_start|>")[1:]:
            starts.append(len(ids))
            header, body, tail = self._parts(message)
            for text, is_learned in ((header, False), (body, True), (tail, False)):
                if not text:
                    continue
                piece = self._read(text, cut) if cut and not is_learned else self._ids(text)
                ids += piece
                loss_mask += [is_learned] * len(piece)
        return ids, loss_mask, starts

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def _read(self, text: str, cut: SubwordDropout) -> list[int]:
        return [identity for part in cut(text) for identity in self._ids(part)]

    @staticmethod
    def _parts(message: str) -> tuple[str, str, str]:
        role = "assistant\n"
        if not message.startswith(role):
            return "<|im_start|>" + message, "", ""
        header, body = "<|im_start|>" + role, message.removeprefix(role)
        if body.startswith(EMPTY_THOUGHT):
            header, body = header + EMPTY_THOUGHT, body.removeprefix(EMPTY_THOUGHT)
        body, end, tail = body.rpartition("<|im_end|>")
        return header, body + end, tail


class SubwordDropout:
    """Splits a text inside words at random; the parts are then encoded separately.

    The model then reads a word in many tokenisations but writes it in the usual one, and so learns copying as spelling
    and not as a list of token pairs. Special tokens and spaces are never split.
    """

    def __init__(self, random: Random, share: float) -> None:
        self._random = random
        self._share = share

    def __call__(self, text: str) -> list[str]:
        """The parts of `text`, in order."""
        edges = [0]
        for match in CUTTABLE.finditer(text):
            if match[1] and self._random.random() < self._share:
                edges.append(self._random.randrange(match.start() + 1, match.end()))
        edges.append(len(text))
        return [text[start:end] for start, end in pairwise(edges)]
