"""The settings `device`, in the one spelling that the engines get, and `copies`. Whether a card is there, the engine says."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator

MOST_COPIES = 64


def _device(value: str) -> str:
    name = value.strip().lower().replace("gpu", "cuda")
    if re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", name) is None:
        raise ValueError("must be auto, cpu, or a graphics card such as cuda:0")
    return "cuda:0" if name == "cuda" else name


def _copies(value: object) -> int | Literal["all"]:
    # Not left to the union of types, whose errors name the types.
    text = str(value).strip().lower()
    if text == "all":
        return "all"
    if not text.isdecimal() or not 1 <= int(text) <= MOST_COPIES:
        raise ValueError(f"must be a whole number from 1 to {MOST_COPIES}, or all")
    return int(text)


Copies = Annotated[Annotated[int, Field(ge=1, le=MOST_COPIES)] | Literal["all"], PlainValidator(_copies)]
Device = Annotated[str, AfterValidator(_device)]
