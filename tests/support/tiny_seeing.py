"""Tiny models with random weights that see or hear, as folders with a processor: Llava, Gemma 3 and Qwen2-VL see, Qwen2-Audio hears.

For tests of the engine `transformers`. Needs torch, transformers and Pillow; the processor of Qwen2-VL needs torchvision too.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import torch
import transformers
from tests.support.tiny_causal import make_tokenizer

Family = Literal["llava", "gemma3", "qwen2_audio", "qwen2_vl"]
FAMILIES: tuple[Family, ...] = tuple(
    family for family in get_args(Family) if family != "qwen2_vl" or find_spec("torchvision") is not None
)
PLACES: dict[Family, str] = {
    "llava": "<image>",
    "gemma3": "<start_of_image>",
    "qwen2_vl": "<|vision_start|><|image_pad|><|vision_end|>",
    "qwen2_audio": "<|audio_bos|><|AUDIO|><|audio_eos|>",
}
"""What the template of each writes for a medium."""
CONTROL: dict[Family, tuple[str, ...]] = {
    "llava": ("<image>",),
    "gemma3": ("<start_of_image>", "<end_of_image>", "<image_soft_token>"),
    "qwen2_vl": ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),
    "qwen2_audio": ("<|AUDIO|>", "<|audio_bos|>", "<|audio_eos|>"),
}
TEMPLATE = """\
{%- for message in messages -%}{{ '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string -%}{{ message.content }}
{%- else -%}{%- for part in message.content -%}{%- if part.type == 'text' -%}{{ part.text }}{%- else -%}{{ 'PLACE' }}{%- endif -%}{%- endfor -%}{%- endif -%}
{{ '<|im_end|>\\n' }}{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""
SIDE, PATCH = 16, 8
"""Pixels of a picture's side and of a patch's."""
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": PATCH,
}


def make_seeing(folder: Path, family: Family) -> Path:
    """Write a model of this family, its processor and its template into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": [*CONTROL[family]]})
    torch.manual_seed(0)
    model, processor = _made(family, tokenizer)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "mm_input_projection" in name:
                parameter.normal_(0.0, 1.0)  # the library begins with zeros
            elif parameter.dim() > 1:
                parameter.mul_(4.0)
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"), pad_token_id=0
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace("PLACE", PLACES[family]))
    return folder


def _made(family: Family, tokenizer: Any) -> tuple[Any, Any]:
    number = tokenizer.convert_tokens_to_ids
    text: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "pad_token_id": 256,
        "bos_token_id": 259,
        "eos_token_id": 258,
    }
    size = {"height": SIDE, "width": SIDE}
    if family == "llava":
        config: Any = transformers.LlavaConfig(
            vision_config=transformers.CLIPVisionConfig(**VISION),
            text_config=transformers.LlamaConfig(**text),
            image_token_index=number("<image>"),
            vision_feature_layer=-1,
        )
        pictures = transformers.CLIPImageProcessor(size=size, crop_size=size)
        return transformers.LlavaForConditionalGeneration(config), transformers.LlavaProcessor(
            pictures,
            tokenizer,
            patch_size=PATCH,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
        )
    if family == "gemma3":
        kinds = ["sliding_attention", "full_attention", "sliding_attention"]
        config = transformers.Gemma3Config(
            text_config=transformers.Gemma3TextConfig(
                **text, head_dim=16, sliding_window=16, layer_types=kinds
            ),
            vision_config=transformers.SiglipVisionConfig(**VISION, vision_use_head=False),
            mm_tokens_per_image=4,
            image_token_index=number("<image_soft_token>"),
            boi_token_index=number("<start_of_image>"),
            eoi_token_index=number("<end_of_image>"),
        )
        for name, token in (
            ("image", "<image_soft_token>"),
            ("boi", "<start_of_image>"),
            ("eoi", "<end_of_image>"),
        ):
            tokenizer._set_model_specific_special_tokens({f"{name}_token": token})
        pictures = transformers.Gemma3ImageProcessor(size=size)
        return transformers.Gemma3ForConditionalGeneration(config), transformers.Gemma3Processor(
            pictures, tokenizer, image_seq_length=4
        )
    if family == "qwen2_vl":
        return _qwen2_vl(text, tokenizer)
    config = transformers.Qwen2AudioConfig(
        audio_config={
            "num_mel_bins": 32,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 48,
            "d_model": 32,
            "max_source_positions": 150,
        },
        text_config=transformers.Qwen2Config(**text).to_dict(),
        audio_token_index=number("<|AUDIO|>"),
    )
    sounds = transformers.WhisperFeatureExtractor(feature_size=32, chunk_length=3)
    return transformers.Qwen2AudioForConditionalGeneration(config), transformers.Qwen2AudioProcessor(
        sounds, tokenizer
    )


def _qwen2_vl(text: dict[str, Any], tokenizer: Any) -> tuple[Any, Any]:
    """A model that gives a picture fewer positions than tokens."""
    number = tokenizer.convert_tokens_to_ids
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 3, 3]}
    config = transformers.Qwen2VLConfig(
        text_config={**text, "rope_parameters": rope},
        vision_config={
            "depth": 2,
            "embed_dim": 32,
            "hidden_size": 64,
            "num_heads": 2,
            "patch_size": PATCH,
            "mlp_ratio": 2,
        },
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    size = {"shortest_edge": 256, "longest_edge": 4096}
    pictures = transformers.Qwen2VLImageProcessor(size=size, patch_size=PATCH)
    videos = transformers.Qwen2VLVideoProcessor(size=size, patch_size=PATCH)
    return transformers.Qwen2VLForConditionalGeneration(config), transformers.Qwen2VLProcessor(
        pictures, tokenizer, videos
    )
