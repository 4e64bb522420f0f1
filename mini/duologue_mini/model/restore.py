"""Reads a GGUF written by `export.py`: shape, weights and tokenizer.

Training can then continue from the committed model file, with fresh optimisers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy
import torch
from tokenizers import Tokenizer

from duologue_mini.model import tokenizer
from duologue_mini.model.export import tensor_name
from duologue_mini.model.network import Model, NetworkShape


@dataclass(frozen=True)
class ModelFile:
    """The contents of a model file."""

    shape: NetworkShape
    weights: dict[str, torch.Tensor]
    tokenizer: Tokenizer


def read(path: Path) -> ModelFile:
    """Reads a file written by `export.py`. Raises ValueError for other files, naming what they lack."""
    reader = gguf.GGUFReader(path)

    def value(key: str) -> Any:
        field = reader.get_field(key)
        if field is None:
            raise ValueError(f"{path} has no {key}")
        return field.contents()

    if value("general.architecture") != "llama":
        raise ValueError(f"{path} does not hold a Llama-shaped model")
    pieces, merges = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.merges")
    shape = NetworkShape(
        vocabulary=len(pieces),
        layers=int(value("llama.block_count")),
        width=int(value("llama.embedding_length")),
        heads=int(value("llama.attention.head_count")),
        key_value_heads=int(value("llama.attention.head_count_kv")),
        feed_forward=int(value("llama.feed_forward_length")),
        context=int(value("llama.context_length")),
        rope_theta=round(float(value("llama.rope.freq_base")), 3),
        norm_epsilon=round(float(value("llama.attention.layer_norm_rms_epsilon")), 9),
    )
    return ModelFile(shape, _weights(reader, shape), tokenizer.from_pieces(pieces, merges))


def _weights(reader: gguf.GGUFReader, shape: NetworkShape) -> dict[str, torch.Tensor]:
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    with torch.device("meta"):
        templates = Model(shape).state_dict()
    weights = {}
    for name, like in templates.items():
        tensor = tensors[tensor_name(name)]
        array = gguf.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        weights[name] = torch.from_numpy(array).reshape(like.shape)
    return weights
