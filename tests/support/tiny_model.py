"""Tiny random models for tests: real GGUF files of a few hundred kilobytes, written in a moment.

A llama with a byte-level vocabulary (every byte is a token, one merge), the ChatML markers as control tokens, and
random weights from a fixed seed. What it says is noise; how it says it is the engine's real behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)

BYTES = 256
MERGED = "he"
CONTROL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
)


@dataclass(frozen=True)
class TinyModel:
    """Shape and oddities of a tiny model. `scale` is how sharp its guesses are, `advice` what the file recommends:
    numbers by the names of its `general.sampling`."""

    name: str = "Tiny"
    context: int = 512
    blocks: int = 2
    embedding: int = 64
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 96
    scale: float = 6.0
    seed: int = 7
    add_bos: bool = False
    template: str | None = TEMPLATE
    architecture: str = "llama"
    advice: tuple[tuple[str, float | int], ...] = ()
    more_control: tuple[str, ...] = ()
    """Control tokens behind those of every tiny model."""
    pooling: int | None = None
    """The number of the pooling that its header names, as of an embedding model."""


def token_id(text: str) -> int:
    """The id of a one-byte text or of a marker in every tiny model."""
    if text in CONTROL:
        return BYTES + 1 + CONTROL.index(text)
    (byte,) = text.encode()
    return byte


def write_tiny_model(path: Path, model: TinyModel = TinyModel()) -> Path:
    """Write `model` to `path` and return it."""
    writer = gguf.GGUFWriter(path, model.architecture)
    writer.add_name(model.name)
    writer.add_context_length(model.context)
    writer.add_embedding_length(model.embedding)
    writer.add_block_count(model.blocks)
    writer.add_feed_forward_length(model.feed_forward)
    writer.add_head_count(model.heads)
    writer.add_head_count_kv(model.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(model.embedding // model.heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    if model.pooling is not None:
        writer.add_uint32(f"{model.architecture}.pooling_type", model.pooling)
    for name, value in model.advice:
        if isinstance(value, int):
            writer.add_int32(f"general.sampling.{name}", value)
        else:
            writer.add_float32(f"general.sampling.{name}", value)
    _add_vocabulary(writer, model)
    for name, shape in _shapes(model).items():
        writer.add_tensor(name, _weights(name, shape, model))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: gguf.GGUFWriter, model: TinyModel) -> None:
    control = (*CONTROL, *model.more_control)
    tokens = [*_byte_characters(), MERGED, *control]
    types = [gguf.TokenType.NORMAL] * (BYTES + 1) + [gguf.TokenType.CONTROL] * len(control)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(token_id("<|endoftext|>"))
    writer.add_eos_token_id(token_id("<|im_end|>"))
    writer.add_add_bos_token(model.add_bos)
    if model.template is not None:
        writer.add_chat_template(model.template)


def _byte_characters() -> list[str]:
    """The printable character that stands for each byte in byte-level vocabularies, by byte."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte) if byte in plain else chr(next(spare)) for byte in range(BYTES)]


def _shapes(model: TinyModel) -> dict[str, tuple[int, ...]]:
    vocabulary = BYTES + 1 + len(CONTROL) + len(model.more_control)
    narrow = model.embedding // model.heads * model.kv_heads
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, model.embedding),
        "output_norm.weight": (model.embedding,),
        "output.weight": (vocabulary, model.embedding),
    }
    for block in range(model.blocks):
        shapes |= {
            f"blk.{block}.attn_norm.weight": (model.embedding,),
            f"blk.{block}.attn_q.weight": (model.embedding, model.embedding),
            f"blk.{block}.attn_k.weight": (narrow, model.embedding),
            f"blk.{block}.attn_v.weight": (narrow, model.embedding),
            f"blk.{block}.attn_output.weight": (model.embedding, model.embedding),
            f"blk.{block}.ffn_norm.weight": (model.embedding,),
            f"blk.{block}.ffn_gate.weight": (model.feed_forward, model.embedding),
            f"blk.{block}.ffn_up.weight": (model.feed_forward, model.embedding),
            f"blk.{block}.ffn_down.weight": (model.embedding, model.feed_forward),
        }
    return shapes


def _weights(name: str, shape: tuple[int, ...], model: TinyModel) -> np.ndarray:
    if len(shape) == 1:
        return np.ones(shape, dtype=np.float32)
    # Each tensor draws from its own stream, so that a wider model does not change the narrower one's other tensors.
    random = np.random.default_rng([model.seed, *name.encode()])
    scale = model.scale if name == "output.weight" else 1.0
    return (random.standard_normal(shape) * scale / np.sqrt(shape[-1])).astype(np.float32)


def write_tiny_adapter(
    path: Path, model: TinyModel = TinyModel(), *, seed: int = 1, architecture: str = "llama", rank: int = 4
) -> Path:
    """Write a LoRA adapter with random weights for `model` to `path` and return it."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0 * rank)
    random = np.random.default_rng(seed)
    for block in range(model.blocks):
        name = f"blk.{block}.attn_q.weight"
        writer.add_tensor(
            f"{name}.lora_a", random.standard_normal((rank, model.embedding)).astype(np.float32)
        )
        writer.add_tensor(
            f"{name}.lora_b", random.standard_normal((model.embedding, rank)).astype(np.float32)
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
