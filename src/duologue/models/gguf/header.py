"""The header of a GGUF model file, read without any library and without loading the weights.

`read(path)` returns a `GgufHeader` or raises StartFailed with a sentence: which file, what is wrong, what to do. Called
before a model is loaded, listed or kept after a download. Covers versions 2 and 3, little-endian and split files, and
checks that the tensors really are inside the file. A hostile file costs bounded time and memory. Whether the installed engine can run
the architecture is left to the engine, which reports it when the model loads.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from duologue.errors import StartFailed
from duologue.models.gguf.reader import Metadata, TensorInfo, Unreadable, read_part
from duologue.models.gguf.types import FILE_TYPES, TENSOR_TYPES
from duologue.values.requests import Task

SPLIT = re.compile(r"^(?P<stem>.*)-(?P<part>\d{5})-of-(?P<count>\d{5})\.gguf$")
END_OF_TURN = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endofturn|>",
    "<|END_OF_TURN_TOKEN|>",
)
NOT_USABLE: dict[str, str] = {
    "clip": "is a projector (mmproj) for pictures or sound, not a language model. Name the model it belongs to.",
    "t5encoder": "is half of a model, an encoder without its use. Name a chat model or an embedding model.",
    "adapter": "is a LoRA adapter, not a model. Name the model it was made for.",
    "imatrix": "is an importance matrix, not a model. Name the model's own file.",
}
"""Architectures of GGUF files that are no models; the text ends a sentence that begins with the file's path."""
ENCODERS = frozenset(
    {
        *("bert", "modern-bert", "neo-bert", "eurobert", "nomic-bert", "nomic-bert-moe"),
        *("jina-bert-v2", "jina-bert-v3", "gemma-embedding", "llama-embed"),
    }
)
"""Architectures that read a text in both directions and cannot write one."""
SCORE_LAYERS = frozenset({"cls.weight", "cls.output.weight"})
Pooling = Literal["none", "mean", "cls", "last", "rank"]
"""How the vectors of a text's tokens become one: not at all, their mean, the first or the last one; or a score of the text."""
POOLING: tuple[Pooling, ...] = ("none", "mean", "cls", "last", "rank")
"""By their numbers in files."""


SPECIAL: dict[str, str] = {
    "unk_token": "tokenizer.ggml.unknown_token_id",
    "pad_token": "tokenizer.ggml.padding_token_id",
    "sep_token": "tokenizer.ggml.seperator_token_id",  # GGUF's own spelling
    "cls_token": "tokenizer.ggml.cls_token_id",
    "mask_token": "tokenizer.ggml.mask_token_id",
    "eot_token": "tokenizer.ggml.eot_token_id",
    "eom_token": "tokenizer.ggml.eom_token_id",
}
"""A special token's name in chat templates -> the entry with its id."""


class GgufHeader(Struct, frozen=True):
    """A model file by its header. Counts are tokens, sizes bytes; 0 and "" mean that the header does not say."""

    path: Path
    architecture: str
    name: str
    parameters: int
    size: int
    """Bytes of all parts."""
    quantisation: str
    tokenizer: str
    vocabulary: int
    bos: str = ""
    eos: str = ""
    eot: str = ""
    special: dict[str, str] = {}
    """The other special tokens, by the name that chat templates know them by."""
    add_bos: bool | None = None
    """None where the file leaves it to the tokenizer's kind."""
    template: str = ""
    trained_context: int = 0
    blocks: int = 0
    embedding: int = 0
    heads: int = 0
    kv_heads: int = 0
    cache_width: int = 0
    """Numbers in the key and value cache for one token, over all blocks."""
    parts: int = 1
    pooling: Pooling | None = None
    """None where the file says nothing of it, as those of chat models."""
    scores: bool = False
    """Whether it has a layer that makes scores of texts."""

    @property
    def encodes(self) -> bool:
        """Whether it cannot write: it reads a text in both directions."""
        return self.architecture in ENCODERS

    def used_pooling(self, wished: Pooling | None = None) -> Pooling:
        """How it makes vectors or scores, "none" for a model that chats; `wished` is what the settings say."""
        said = wished or self.pooling or "none"
        return "mean" if said == "none" and self.encodes else said

    def task(self, wished: Pooling | None = None) -> Task:
        """What it is for."""
        pooling = self.used_pooling(wished)
        return "chat" if pooling == "none" else "rerank" if pooling == "rank" else "embed"


def read(path: Path) -> GgufHeader:
    """The header of the model at `path`; of all its parts when it is split and `path` names the first.

    Raises StartFailed: missing, a folder, not GGUF, an unknown version, truncated, a part missing, or no model.
    """
    paths = _parts(path)
    infos: list[TensorInfo] = []
    metadata: Metadata | None = None
    size = 0
    for part in paths:
        read_metadata, tensors, bytes_ = read_checked(part)
        metadata = metadata or read_metadata
        infos += tensors
        size += bytes_
    assert metadata is not None
    _check_split(path, metadata, len(paths))
    header = _header(path, metadata, infos, size)
    _check_model(header)
    return structs.replace(header, parts=len(paths))


def model_tensors(path: Path) -> list[TensorInfo]:
    """The tensors of the model at `path`, of all its parts. Raises StartFailed as `read`."""
    return [tensor for part in _parts(path) for tensor in read_checked(part)[1]]


def _parts(path: Path) -> list[Path]:
    """The files that make up the model: `path` itself, or all parts of a split one."""
    if path.is_dir():
        raise StartFailed(_folder_sentence(path))
    if not path.exists():
        raise StartFailed(
            f"There is no model file at {path}. Check the path, or name another model with --model."
        )
    if not path.is_file():
        # Reading a pipe or a device might never end.
        raise StartFailed(f"{path} is not a regular file. Name a GGUF model file.")
    match = SPLIT.match(path.name)
    if match is None:
        return [path]
    count, stem = int(match["count"]), match["stem"]
    parts = [path.with_name(f"{stem}-{number:05d}-of-{count:05d}.gguf") for number in range(1, count + 1)]
    if path != parts[0]:
        raise StartFailed(
            f"{path} is part {int(match['part'])} of {count} of a model. Name its first part, {parts[0]}."
        )
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise StartFailed(
            f"{path} is a model in {count} parts, and {len(missing)} of them are missing from {path.parent}: "
            f"{', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}. Download all parts into that folder."
        )
    return parts


def _folder_sentence(path: Path) -> str:
    files = sorted(entry.name for entry in path.iterdir() if entry.suffix == ".gguf")
    if files:
        return f"{path} is a folder. Name one of the model files in it, for example {path / files[0]}."
    return f"{path} is a folder without any .gguf file. Name a GGUF model file."


def read_checked(path: Path) -> tuple[Metadata, list[TensorInfo], int]:
    """Metadata, tensors and size of one file, after a check that its tensors are inside it. Raises StartFailed."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            metadata, tensors, data = read_part(file, size)
    except OSError as error:
        raise StartFailed(
            f"{path} cannot be read: {error.strerror}. Check its permissions and its disk."
        ) from error
    except Unreadable as error:
        raise StartFailed(_unreadable_sentence(path, error)) from error
    needed = max((data + tensor.offset + (tensor.size or 0) for tensor in tensors), default=0)
    if needed > size:
        raise StartFailed(
            f"{path} is truncated: by its header it should have {needed:,} bytes, and it has {size:,}. "
            "The download or copy was cut off; fetch the file again."
        )
    return metadata, tensors, size


def _unreadable_sentence(path: Path, error: Unreadable) -> str:
    if error.truncated:
        return f"{path} is truncated: it ends inside its header. The download or copy was cut off; fetch the file again."
    return f"{path} {error}"


def _check_split(path: Path, metadata: Metadata, parts: int) -> None:
    count = metadata.integer("split.count")
    if count > 1 and parts == 1:
        raise StartFailed(
            f"{path} says it is one part of {count}, but its name does not end in -00001-of-{count:05d}.gguf. "
            "Give the parts their original names, all in one folder, and name the first."
        )


def _check_model(header: GgufHeader) -> None:
    reason = NOT_USABLE.get(header.architecture)
    if reason is not None:
        raise StartFailed(f"{header.path} {reason}")


def _header(path: Path, metadata: Metadata, tensors: list[TensorInfo], size: int) -> GgufHeader:
    architecture = metadata.text("general.architecture")
    if not architecture:
        raise StartFailed(f"{path} does not name its architecture; it is not a usable model file.")
    if not any(tensor.elements for tensor in tensors):
        raise StartFailed(
            f"{path} has no weights (only a vocabulary or a template). Name the model's own file."
        )
    blocks = metadata.integer(f"{architecture}.block_count")
    heads = metadata.per_block(f"{architecture}.attention.head_count", blocks)
    kv_heads = metadata.per_block(f"{architecture}.attention.head_count_kv", blocks) or heads
    embedding = metadata.integer(f"{architecture}.embedding_length")
    head_size = embedding // max(heads, default=1) if max(heads, default=0) else 0
    key = metadata.integer(f"{architecture}.attention.key_length") or head_size
    value = metadata.integer(f"{architecture}.attention.value_length") or head_size
    return GgufHeader(
        path=path,
        architecture=architecture,
        name=metadata.text("general.name"),
        parameters=sum(tensor.elements for tensor in tensors),
        size=size,
        quantisation=_quantisation(metadata, tensors),
        tokenizer=metadata.text("tokenizer.ggml.model"),
        vocabulary=metadata.count("tokenizer.ggml.tokens"),
        bos=metadata.token("tokenizer.ggml.bos_token_id"),
        eos=metadata.token("tokenizer.ggml.eos_token_id"),
        eot=_end_of_turn(metadata),
        special={name: text for name, key in SPECIAL.items() if (text := metadata.token(key))},
        add_bos=metadata.boolean("tokenizer.ggml.add_bos_token"),
        template=metadata.text("tokenizer.chat_template"),
        trained_context=metadata.integer(f"{architecture}.context_length"),
        blocks=blocks,
        embedding=embedding,
        heads=max(heads, default=0),
        kv_heads=max(kv_heads, default=0),
        # An encoder reads a text at once, and keeps nothing of it.
        cache_width=0 if architecture in ENCODERS else sum(kv_heads) * (key + value),
        pooling=_pooling(metadata.integer(f"{architecture}.pooling_type", -1)),
        scores=any(tensor.name in SCORE_LAYERS for tensor in tensors),
    )


def _pooling(number: int) -> Pooling | None:
    return POOLING[number] if 0 <= number < len(POOLING) else None


def _end_of_turn(metadata: Metadata) -> str:
    """The token that ends a turn: the file's own, else a well-known one in its template, else EOS."""
    end_of_turn = metadata.token("tokenizer.ggml.eot_token_id")
    if end_of_turn:
        return end_of_turn
    template = metadata.text("tokenizer.chat_template")
    return next(
        (token for token in END_OF_TURN if token in template), metadata.token("tokenizer.ggml.eos_token_id")
    )


def _quantisation(metadata: Metadata, tensors: list[TensorInfo]) -> str:
    """The name people know ("Q4_K_M"), else the type most of the weights have."""
    named = FILE_TYPES.get(metadata.integer("general.file_type", -1))
    if named is not None:
        return named
    weights: Counter[int] = Counter()
    for tensor in tensors:
        weights[tensor.type] += tensor.elements
    (commonest, _), *_ = weights.most_common(1)
    known = TENSOR_TYPES.get(commonest)
    return known.name if known is not None else "unknown"
