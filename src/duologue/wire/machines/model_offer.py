"""A model that a gateway offers to workers on other machines: what it is, its files by their hashes, and how to load it.

`GET /join/models/{name}` answers with a `ModelOffer`, and `GET /join/files/{sha256}` with the bytes of a file (and ranges of them), both for
keys of the role `worker`. A worker that was told to `--serve` a model downloads what it lacks, and makes its load spec of the rest.
Used by `worker.joined` and `gateway.machines`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from duologue.values.requests import ModelPreset, Task

MODEL_PATH = "/join/models/"
FILE_PATH = "/join/files/"

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, Meta(pattern=r"^[^/\\\x00-\x1f.][^/\\\x00-\x1f]*$", max_length=200)]
"""A name without a folder, and not a hidden one."""


class OfferedFile(Struct, frozen=True):
    """A file of the model. The files of one `option` are kept in one folder: a model may be split into several."""

    option: str
    """The option of the engine that gets its path, such as `model` or `mmproj`; that of the first one of several."""
    name: FileName
    size: Annotated[int, Meta(ge=0)]
    sha256: Sha256


class OfferedAdapter(Struct, frozen=True):
    """A LoRA adapter that the model was loaded with. The first one has the id 0, and so on. `file.option` is `loras`."""

    file: OfferedFile
    scale: float = 1.0


class ModelOffer(Struct, frozen=True):
    """A model, and how another machine loads it."""

    name: str
    """In requests."""
    engine: str
    task: Task = "chat"
    files: tuple[OfferedFile, ...] = ()
    options: dict[str, object] = {}
    """Of the engine, as in a `LoadSpec`, without paths and without what depends on the machine, such as its device and threads."""
    preset: ModelPreset = ModelPreset()
    template: str = ""
    """The text of the chat template that an admin chose; empty: the model's own."""
    adapters: tuple[OfferedAdapter, ...] = ()


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[ModelOffer] = msgspec.json.Decoder(ModelOffer)


def encode_offer(offer: ModelOffer) -> bytes:
    """The JSON of an offer."""
    return _encoder.encode(offer)


def decode_offer(body: bytes) -> ModelOffer:
    """An offer. Raises msgspec.ValidationError on anything else."""
    return _decoder.decode(body)
