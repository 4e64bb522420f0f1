"""What a worker answers to the questions of `worker_questions.py`."""

from __future__ import annotations

from msgspec import Struct


class Counted(Struct, frozen=True, tag="counted"):
    """The prompt's `tokens`, and the `context` of a chat (0: unknown). `estimated`: the engine cannot count all of it."""

    tokens: int = 0
    context: int = 0
    estimated: bool = False


class Rendered(Struct, frozen=True, tag="rendered"):
    """A prompt, and its tokens where they were asked for."""

    text: str
    tokens: tuple[int, ...] = ()


class Tokenized(Struct, frozen=True, tag="tokenized"):
    """The tokens of a text; `pieces`, where they were asked for, are the bytes of each."""

    tokens: tuple[int, ...]
    pieces: tuple[bytes, ...] = ()


class Detokenized(Struct, frozen=True, tag="detokenized"):
    """The text of tokens; a part of a character that is left alone is a replacement character."""

    text: str


class Described(Struct, frozen=True, tag="described"):
    """The source of the model's chat template, and the texts of its first and last token; "" where the engine knows none."""

    template: str = ""
    bos: str = ""
    eos: str = ""


class TemplateUsed(Struct, frozen=True, tag="template_used"):
    """The template is in use."""


class ReplicaDrained(Struct, frozen=True, tag="replica_drained"):
    """The server gets no new requests, or gets some again."""


Answer = Counted | Rendered | Tokenized | Detokenized | Described | TemplateUsed | ReplicaDrained
