"""Tiny random weights of the video engines, in the folders of their official scripts, and pictures with a face.

Used by the tests of `musetalk` and `wan` with the real libraries; the pictures by those without, too.
"""

from __future__ import annotations

import math
from array import array
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from duologue.values.audio import SPOKEN_RATE
from duologue.values.avatars import AvatarSource, Eye, Landmarks, Point

WIDTH = 16
"""Of the tiny Whisper."""


def eye(outer: float, inner: float, y: float) -> Eye:
    middle = (outer + inner) / 2
    return Eye(Point(outer, y), Point(inner, y), Point(middle, y - 0.03), Point(middle, y + 0.03))


FACE = Landmarks(
    left_eye=eye(0.3, 0.42, 0.4),
    right_eye=eye(0.7, 0.58, 0.4),
    mouth_left=Point(0.4, 0.68),
    mouth_right=Point(0.6, 0.68),
    mouth_top=Point(0.5, 0.65),
    mouth_bottom=Point(0.5, 0.72),
    lips=Point(0.5, 0.68),
    chin=Point(0.5, 0.85),
)


def face_picture(width: int = 160, height: int = 160, format: str = "PNG") -> bytes:
    """A drawn face whose points are those of FACE."""
    picture = Image.new("RGB", (width, height), (40, 90, 140))
    pen = ImageDraw.Draw(picture)

    def oval(left: float, top: float, right: float, bottom: float, colour: tuple[int, int, int]) -> None:
        pen.ellipse((left * width, top * height, right * width, bottom * height), fill=colour)

    oval(0.22, 0.15, 0.78, 0.85, (220, 180, 150))
    for x in (0.36, 0.64):
        oval(x - 0.06, 0.37, x + 0.06, 0.43, (30, 30, 30))
    oval(0.4, 0.65, 0.6, 0.72, (150, 40, 50))
    data = BytesIO()
    picture.save(data, format)
    return data.getvalue()


def avatar(digest: str = "one", **changes: Any) -> AvatarSource:
    """An avatar that is a picture with a face."""
    fields: dict[str, Any] = {
        "id": "a",
        "kind": "picture",
        "digest": digest,
        "data": face_picture(),
        "landmarks": FACE,
    }
    return AvatarSource(**(fields | changes))


def speech(seconds: float, *, pitch: float = 120, loud: bool = True) -> bytes:
    """Sound whose pitch and loudness wander, 24 kHz."""
    values = (
        int(
            9000 * loud * math.sin(math.tau * (pitch + 40 * math.sin(at / 3000)) * at / SPOKEN_RATE)
            * (1 + math.sin(at / 2100))
        )
        for at in range(int(seconds * SPOKEN_RATE))
    )  # fmt: skip
    return array("h", values).tobytes()


def make_musetalk(folder: Path, *, width: int = WIDTH, channels: int = 4, seed: int = 3) -> Path:
    """MuseTalk's folder with tiny networks. Faces are 64 pixels wide: the VAE halves a picture once."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperModel

    torch.manual_seed(seed)
    unet = UNet2DConditionModel(
        sample_size=32,
        in_channels=8,
        out_channels=4,
        block_out_channels=(8, 16),
        layers_per_block=1,
        cross_attention_dim=WIDTH,
        attention_head_dim=4,
        norm_num_groups=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    place = folder / "musetalkV15"
    place.mkdir(parents=True)
    unet.save_config(place)
    (place / "config.json").rename(place / "musetalk.json")
    torch.save(loud(torch, unet).state_dict(), place / "unet.pth")
    vae = AutoencoderKL(
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=channels,
        norm_num_groups=4,
        layers_per_block=1,
    )
    vae.save_pretrained(folder / "sd-vae", safe_serialization=True)
    whisper = WhisperModel(
        WhisperConfig(
            vocab_size=64,
            d_model=width,
            encoder_layers=2,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            num_mel_bins=80,
            max_source_positions=1500,
            max_target_positions=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    )
    loud(torch, whisper).save_pretrained(folder / "whisper")
    WhisperFeatureExtractor(feature_size=80).save_pretrained(folder / "whisper")
    return folder


def loud(torch: Any, network: Any) -> Any:
    """The network with larger values: much of a fresh one is nearly zero, and would make the same of everything."""
    for name, values in network.named_parameters():
        if values.ndim > 1 and "norm" not in name:
            torch.nn.init.normal_(values, std=0.25)
    return network


def make_wan(folder: Path, *, experts: int = 2, seed: int = 7, text_alone: bool = False) -> Path:
    """A folder of diffusers with a tiny Wan: A14B's two experts, or the 5B model with its larger latents and no second expert."""
    import torch
    from diffusers import (
        AutoencoderKLWan,
        UniPCMultistepScheduler,
        WanImageToVideoPipeline,
        WanPipeline,
        WanTransformer3DModel,
    )
    from transformers import UMT5Config, UMT5EncoderModel

    torch.manual_seed(seed)
    small = experts == 1 and not text_alone
    latents = 48 if small else 16
    shape: dict[str, Any] = {"base_dim": 3, "z_dim": latents, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1}
    if small:
        shape |= {"in_channels": 12, "out_channels": 12, "is_residual": True, "patch_size": 2}
        shape |= {"latents_mean": [0.0] * 48, "latents_std": [1.0] * 48, "scale_factor_spatial": 16}
    vae = AutoencoderKLWan(**shape, temperal_downsample=[False, True, True])
    taken = latents if small or text_alone else 36

    def transformer() -> Any:
        return loud(
            torch,
            WanTransformer3DModel(
                patch_size=(1, 2, 2),
                num_attention_heads=2,
                attention_head_dim=16,
                in_channels=taken,
                out_channels=latents,
                text_dim=32,
                freq_dim=256,
                ffn_dim=32,
                num_layers=2,
                cross_attn_norm=True,
                qk_norm="rms_norm_across_heads",
                rope_max_seq_len=32,
            ),
        )

    text = UMT5EncoderModel(
        UMT5Config(
            vocab_size=64,
            d_model=32,
            d_kv=8,
            d_ff=32,
            num_layers=1,
            num_heads=2,
            feed_forward_proj="gated-gelu",
        )
    )
    pipeline = (WanPipeline if experts == 1 else WanImageToVideoPipeline)(
        tokenizer=word_tokenizer(),
        text_encoder=loud(torch, text),
        vae=vae,
        scheduler=UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, num_train_timesteps=1000, flow_shift=3.0
        ),
        transformer=transformer(),
        transformer_2=transformer() if experts == 2 else None,
        boundary_ratio=0.9 if experts == 2 else None,
        expand_timesteps=small,
    )
    pipeline.save_pretrained(folder, safe_serialization=True)
    return folder


def word_tokenizer() -> Any:
    """A tokenizer that knows a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "</s>", "<unk>", "a", "person", "looks", "into", "the", "camera", "smiles", "talking"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=512,
    )


WAN_NAMES = {
    "condition_embedder.time_embedder.linear_1": "time_embedding.0",
    "condition_embedder.time_embedder.linear_2": "time_embedding.2",
    "condition_embedder.text_embedder.linear_1": "text_embedding.0",
    "condition_embedder.text_embedder.linear_2": "text_embedding.2",
    "condition_embedder.time_proj": "time_projection.1",
    "attn2": "cross_attn",
    "attn1": "self_attn",
    ".to_out.0.": ".o.",
    ".to_q.": ".q.",
    ".to_k.": ".k.",
    ".to_v.": ".v.",
    "proj_out": "head.head",
    "ffn.net.0.proj": "ffn.0",
    "ffn.net.2": "ffn.2",
    "norm2": "norm3",
}
"""What diffusers calls the parts of Wan, and what Wan's own files call them."""


def write_wan_gguf(file: Path, folder: Path) -> Path:
    """The transformer in a folder of diffusers as a GGUF file with Wan's own names, its matrices quantised to 8 bits."""
    import gguf
    from safetensors.torch import load_file

    values = load_file(folder / "diffusion_pytorch_model.safetensors")
    writer = gguf.GGUFWriter(str(file), "wan")
    for name, value in values.items():
        if name == "scale_shift_table":
            name = "head.modulation"
        name = name.replace("scale_shift_table", "modulation")
        for ours, theirs in WAN_NAMES.items():
            name = name.replace(ours, theirs)
        array = value.float().numpy()
        if array.ndim == 2 and array.shape[1] % 32 == 0 and name.startswith("blocks."):
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def write_wan_lora(
    file: Path, *, width: int = 32, prefix: str = "diffusion_model.blocks", seed: int = 1
) -> Path:
    """A LoRA of the attention of the tiny Wan's first block, by Wan's own names."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    values = {}
    for part in ("q", "k", "v", "o"):
        for attention in ("self_attn", "cross_attn"):
            name = f"{prefix}.0.{attention}.{part}"
            values[f"{name}.lora_A.weight"] = torch.randn(2, width)
            values[f"{name}.lora_B.weight"] = torch.randn(width, 2)
    save_file(values, file)
    return file
