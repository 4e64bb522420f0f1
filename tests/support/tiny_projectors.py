"""Tiny random projectors (mmproj) for tests: what a tiny model sees and hears through, written in a moment.

Real GGUF files that llama.cpp loads. They see and hear, and understand nothing: another picture gives other numbers.
"""

from __future__ import annotations

import io
import math
from array import array
from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
from PIL import Image

from duologue.values.audio import HEARD_RATE
from duologue.values.messages import AudioPart, ImagePart

IMAGE_SIZE = 64
PATCH = 8
MERGED = 4
"""Patches in each direction that become one token: a picture has four."""
WIDTH = 32
FEED_FORWARD = 48
MELS = 128


def write_projector(
    path: Path,
    *,
    sees: bool = True,
    hears: bool = False,
    embedding: int = 64,
    seed: int = 7,
    scale: float = 4.0,
) -> Path:
    """Write a projector for a tiny model of this width: eyes of Gemma 3's kind, ears of Qwen3-ASR's kind. `scale` is how much
    of what it sees and hears reaches the model."""
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_bool("clip.has_vision_encoder", sees)
    writer.add_bool("clip.has_audio_encoder", hears)
    writer.add_bool("clip.use_gelu", True)
    if sees != hears:
        writer.add_string("clip.projector_type", "gemma3" if sees else "qwen3a")
    shapes: dict[str, tuple[int, ...]] = {}
    # Read from here whatever the projector is for.
    writer.add_uint32("clip.vision.projection_dim", embedding)
    if sees:
        shapes |= _add_vision(writer, embedding)
    if hears:
        shapes |= _add_sound(writer, embedding)
    for name, shape in shapes.items():
        writer.add_tensor(name, _weights(name, shape, seed, scale))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vision(writer: gguf.GGUFWriter, embedding: int) -> dict[str, tuple[int, ...]]:
    writer.add_string("clip.vision.projector_type", "gemma3")
    _add_numbers(
        writer,
        "vision",
        {
            "image_size": IMAGE_SIZE,
            "patch_size": PATCH,
            "embedding_length": WIDTH,
            "feed_forward_length": FEED_FORWARD,
            "block_count": 1,
            "attention.head_count": 2,
            "projector.scale_factor": MERGED,
        },
    )
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    return {
        "v.patch_embd.weight": (WIDTH, 3, PATCH, PATCH),
        "v.patch_embd.bias": (WIDTH,),
        "v.position_embd.weight": ((IMAGE_SIZE // PATCH) ** 2, WIDTH),
        "v.post_ln.weight": (WIDTH,),
        "v.post_ln.bias": (WIDTH,),
        "mm.input_projection.weight": (WIDTH, embedding),
        "mm.soft_emb_norm.weight": (WIDTH,),
        **_block("v"),
    }


def _add_sound(writer: gguf.GGUFWriter, embedding: int) -> dict[str, tuple[int, ...]]:
    channels = 8
    writer.add_string("clip.audio.projector_type", "qwen3a")
    _add_numbers(
        writer,
        "audio",
        {
            "num_mel_bins": MELS,
            "embedding_length": WIDTH,
            "feed_forward_length": FEED_FORWARD,
            "block_count": 1,
            "attention.head_count": 2,
            "projection_dim": embedding,
            "n_window": 50,
        },
    )
    writer.add_float32("clip.audio.attention.layer_norm_epsilon", 1e-5)
    return {
        "a.conv2d.1.weight": (channels, 1, 3, 3),
        "a.conv2d.2.weight": (channels, channels, 3, 3),
        "a.conv2d.3.weight": (channels, channels, 3, 3),
        **{f"a.conv2d.{number}.bias": (channels, 1, 1) for number in (1, 2, 3)},
        "a.conv_out.weight": (WIDTH, channels * MELS // 8),
        "a.position_embd.weight": (1500, WIDTH),
        "a.post_ln.weight": (WIDTH,),
        "a.post_ln.bias": (WIDTH,),
        "mm.a.mlp.1.weight": (WIDTH, WIDTH),
        "mm.a.mlp.1.bias": (WIDTH,),
        "mm.a.mlp.2.weight": (embedding, WIDTH),
        "mm.a.mlp.2.bias": (embedding,),
        **_block("a"),
    }


def _block(tower: str) -> dict[str, tuple[int, ...]]:
    block = f"{tower}.blk.0"
    shapes: dict[str, tuple[int, ...]] = {
        f"{block}.ffn_up.weight": (FEED_FORWARD, WIDTH),
        f"{block}.ffn_up.bias": (FEED_FORWARD,),
        f"{block}.ffn_down.weight": (WIDTH, FEED_FORWARD),
        f"{block}.ffn_down.bias": (WIDTH,),
    }
    for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
        shapes |= {f"{block}.{part}.weight": (WIDTH, WIDTH), f"{block}.{part}.bias": (WIDTH,)}
    for part in ("ln1", "ln2"):
        shapes |= {f"{block}.{part}.weight": (WIDTH,), f"{block}.{part}.bias": (WIDTH,)}
    return shapes


def _add_numbers(writer: gguf.GGUFWriter, tower: str, numbers: Mapping[str, int]) -> None:
    for key, number in numbers.items():
        writer.add_uint32(f"clip.{tower}.{key}", number)


def _weights(name: str, shape: tuple[int, ...], seed: int, scale: float) -> np.ndarray:
    random = np.random.default_rng([seed, *name.encode()])
    values = random.standard_normal(shape) / np.sqrt(shape[-1])
    if name in ("mm.input_projection.weight", "mm.a.mlp.2.weight"):
        values = values * scale
    return values.astype(np.float16 if len(shape) == 4 else np.float32)


def picture(seed: int = 1, size: int = IMAGE_SIZE) -> ImagePart:
    """A PNG of random blocks of colour; another seed is another picture."""
    blocks = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(blocks).resize((size, size), Image.Resampling.NEAREST).save(buffer, "PNG")
    return ImagePart(buffer.getvalue(), "image/png")


def sound(seconds: float = 1.0, pitch: float = 7.0) -> AudioPart:
    """A tone; another pitch is another sound."""
    values = (0.3 * math.sin(at / pitch) for at in range(int(seconds * HEARD_RATE)))
    return AudioPart(array("f", values).tobytes(), HEARD_RATE)
