"""Tiny random encoders for tests: real GGUF files of embedding models and rerankers, and what they compute, in NumPy.

A BERT of two blocks with a vocabulary of whole words, letters and pieces of words, and random weights from a fixed seed. Its vectors mean
nothing; `reference_states` computes them a second way, so that tests can compare the engine's with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

POOLING = {"none": 0, "mean": 1, "cls": 2, "last": 3, "rank": 4}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "cat", "sat", "on", "mat", "dog", "ran", "home", "a", "red", "boat", "sails", "what", "is")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!"
EPSILON = 1e-12


@dataclass(frozen=True)
class TinyEncoder:
    """Shape of a tiny encoder. `pooling`: what its header says ("" nothing); "rank" gives it the head of a reranker."""

    name: str = "Tiny encoder"
    pooling: str = "mean"
    context: int = 128
    blocks: int = 2
    embedding: int = 64
    heads: int = 4
    feed_forward: int = 96
    seed: int = 11


def token_of(word: str) -> int:
    """The id of a word, a letter or a special token."""
    return _tokens().index(word if word in SPECIAL else f"\u2581{word}")


def write_tiny_encoder(path: Path, model: TinyEncoder = TinyEncoder()) -> Path:
    """Write `model` to `path` and return it."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(model.name)
    writer.add_context_length(model.context)
    writer.add_embedding_length(model.embedding)
    writer.add_block_count(model.blocks)
    writer.add_feed_forward_length(model.feed_forward)
    writer.add_head_count(model.heads)
    writer.add_layer_norm_eps(EPSILON)
    writer.add_causal_attention(False)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    if model.pooling:
        writer.add_uint32("bert.pooling_type", POOLING[model.pooling])
    tokens = _tokens()
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL] * len(SPECIAL) + [gguf.TokenType.NORMAL] * (len(tokens) - len(SPECIAL))
    )
    writer.add_token_type_count(2)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    writer.add_eos_token_id(3)
    writer.add_mask_token_id(4)
    for name, weights in _weights(model).items():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def reference_states(model: TinyEncoder, ids: Sequence[int]) -> np.ndarray:
    """The last hidden states of these tokens, one row each."""
    weights = _weights(model)
    states = (
        weights["token_embd.weight"][list(ids)]
        + weights["position_embd.weight"][: len(ids)]
        + weights["token_types.weight"][0]
    )
    states = _norm(states, weights, "token_embd_norm")
    size = model.embedding // model.heads
    for block in range(model.blocks):

        def linear(values: np.ndarray, name: str, block: int = block) -> np.ndarray:
            where = f"blk.{block}.{name}"
            return values @ weights[f"{where}.weight"].T + weights[f"{where}.bias"]

        query, key, value = (
            linear(states, f"attn_{name}").reshape(-1, model.heads, size).transpose(1, 0, 2) for name in "qkv"
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(size)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attended = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        attended = attended.transpose(1, 0, 2).reshape(len(ids), model.embedding)
        states = _norm(states + linear(attended, "attn_output"), weights, f"blk.{block}.attn_output_norm")
        inner = linear(states, "ffn_up")
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        states = _norm(states + linear(inner, "ffn_down"), weights, f"blk.{block}.layer_output_norm")
    return states


def reference_vector(model: TinyEncoder, ids: Sequence[int]) -> np.ndarray:
    """The vector of these tokens, of length 1."""
    states = reference_states(model, ids)
    pooled = {"mean": states.mean(axis=0), "cls": states[0], "last": states[-1]}[model.pooling or "mean"]
    return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)


def reference_score(model: TinyEncoder, ids: Sequence[int]) -> float:
    """The score that a reranker gives these tokens: of a query and a document."""
    weights = _weights(model)
    first = reference_states(model, ids)[0]
    hidden = np.tanh(first @ weights["cls.weight"].T + weights["cls.bias"])
    return float((hidden @ weights["cls.output.weight"].T + weights["cls.output.bias"])[0])


def _tokens() -> list[str]:
    # GGUF writes a token that begins a word with this mark, and one that goes on without.
    begins = dict.fromkeys([*WORDS, *LETTERS])
    return [*SPECIAL, *(f"\u2581{word}" for word in begins), *LETTERS]


def _norm(values: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    centred = values - values.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def _weights(model: TinyEncoder) -> dict[str, np.ndarray]:
    width, inner = model.embedding, model.feed_forward
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(_tokens()), width),
        "position_embd.weight": (model.context, width),
        "token_types.weight": (2, width),
        "token_embd_norm.weight": (width,),
        "token_embd_norm.bias": (width,),
    }
    for block in range(model.blocks):
        at = f"blk.{block}"
        linear = {
            **{f"{at}.attn_{name}": (width, width) for name in ("q", "k", "v", "output")},
            f"{at}.ffn_up": (inner, width),
            f"{at}.ffn_down": (width, inner),
        }
        for name, shape in linear.items():
            shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
        for name in ("attn_output_norm", "layer_output_norm"):
            shapes |= {f"{at}.{name}.weight": (width,), f"{at}.{name}.bias": (width,)}
    if model.pooling == "rank":
        shapes |= {"cls.weight": (width, width), "cls.bias": (width,)}
        shapes |= {"cls.output.weight": (1, width), "cls.output.bias": (1,)}
    return {name: _drawn(name, shape, model) for name, shape in shapes.items()}


def _drawn(name: str, shape: tuple[int, ...], model: TinyEncoder) -> np.ndarray:
    if name.endswith("norm.weight"):
        return np.ones(shape, dtype=np.float32)
    random = np.random.default_rng([model.seed, *name.encode()])
    scale = 0.05 if name.endswith(".bias") else 1.5 / np.sqrt(shape[-1])
    return (random.standard_normal(shape) * scale).astype(np.float32)
