"""Tiny Qwen omni models of both families, with random weights: folders as the hub has them, which transformers loads.

For tests of the engine `qwen_omni` and of what runs on it. Needs torch and transformers; import it inside a test that has them. The
tokenizer has a token for each byte, and the control tokens of the real ones. What such a model writes and says is noise.
"""

import json
from pathlib import Path
from typing import Any, Literal

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2_5OmniConfig,
    Qwen2_5OmniForConditionalGeneration,
    Qwen3OmniMoeConfig,
    Qwen3OmniMoeForConditionalGeneration,
)

Family = Literal["qwen2_5", "qwen3"]
FAMILIES: tuple[Family, ...] = ("qwen2_5", "qwen3")

WIDTH = 64
CODES = 512
"""Codes of the talker: so many that one which draws them nearly evenly seldom draws the end."""
CHATML = """\
{%- for message in messages -%}
{%- if loop.first and message.role != 'system' -%}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{%- endif -%}
{{ '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string -%}{{ message.content }}
{%- else -%}{%- for part in message.content -%}{{ part.text }}{%- endfor -%}{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""
"""A template as those of these models."""

MEDIA: dict[Family, dict[str, str]] = {
    "qwen2_5": {
        "image_token": "<|IMAGE|>",
        "audio_token": "<|AUDIO|>",
        "video_token": "<|VIDEO|>",
        "vision_bos_token": "<|vision_bos|>",
        "vision_eos_token": "<|vision_eos|>",
        "audio_bos_token": "<|audio_bos|>",
        "audio_eos_token": "<|audio_eos|>",
    },
    "qwen3": {
        "image_token": "<|image_pad|>",
        "audio_token": "<|audio_pad|>",
        "video_token": "<|video_pad|>",
        "vision_bos_token": "<|vision_start|>",
        "vision_eos_token": "<|vision_end|>",
        "audio_bos_token": "<|audio_start|>",
        "audio_eos_token": "<|audio_end|>",
    },
}
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
SPEECH = ("<tts_pad>", "<tts_text_bos>", "<tts_text_eod>")
VOICES: dict[Family, tuple[str, ...]] = {"qwen2_5": ("Chelsie", "Ethan"), "qwen3": ("ethan", "chelsie")}


def make_omni(folder: Path, family: Family = "qwen2_5", *, seed: int = 0, talker: bool = True) -> Path:
    """Write a model of this family into the folder; the same `seed` is the same model."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(family)
    torch.manual_seed(seed)
    if family == "qwen2_5":
        model = Qwen2_5OmniForConditionalGeneration(qwen2_5_config(tokenizer, talker=talker))
    else:
        model = Qwen3OmniMoeForConditionalGeneration(qwen3_config(tokenizer, talker=talker))
    enliven(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": CHATML}))
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor(family)))
    (folder / "generation_config.json").write_text(
        json.dumps({"eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"), "do_sample": True})
    )
    if family == "qwen2_5":
        torch.save(speakers(tokenizer), folder / "spk_dict.pt")
    return folder


def enliven(model: Any) -> None:
    """Larger weights for what a tiny model says to depend on what it reads: freshly made ones hardly change what they read, and
    their sound is silence."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "experts." in name and parameter.dim() == 3:
                parameter.normal_(0.0, 0.02)  # the library leaves those of the talker as the memory was
        for part in (model.thinker, *([model.talker] if model.has_talker else [])):
            for name, parameter in part.named_parameters():
                if parameter.dim() > 1:
                    parameter.mul_(9.0 if "proj2" in name else 4.0 if _is_at_an_end(name) else 3.0)
        if model.has_talker:
            enliven_vocoder(model.token2wav if hasattr(model, "token2wav") else model.code2wav)


def _is_at_an_end(name: str) -> bool:
    return "head" in name or "embed_tokens" in name


def enliven_vocoder(vocoder: Any) -> None:
    """Every layer passes on as much as it gets, the last one what is heard well without being clipped."""
    for name, parameter in vocoder.named_parameters():
        if "embed" in name.split(".")[-2]:
            parameter.normal_(0.0, 1.0)
        elif parameter.dim() > 1:
            last = name.endswith(("conv_post.weight", "decoder.6.conv.weight"))
            parameter.normal_(0.0, (0.015 if last else 1.0) * parameter[0].numel() ** -0.5)
        elif name.endswith(("scale", "gamma")):
            parameter.fill_(0.5)


def make_tokenizer(family: Family) -> PreTrainedTokenizerFast:
    """A token for each byte, then the control tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    media = MEDIA[family]
    tokenizer.add_special_tokens([*CONTROL, *media.values(), *SPEECH])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=media,
    )


def preprocessor(family: Family) -> dict[str, object]:
    """What `preprocessor_config.json` says in the repositories of these models."""
    return {
        "image_processor_type": "Qwen2VLImageProcessor",
        "feature_extractor_type": "WhisperFeatureExtractor",
        "patch_size": 14 if family == "qwen2_5" else 16,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "min_pixels": 3136,
        "max_pixels": 12845056,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "feature_size": 128,
        "hop_length": 160,
        "n_fft": 400,
        "chunk_length": 300,
        "n_samples": 4800000,
        "nb_max_frames": 30000,
        "sampling_rate": 16000,
        "return_attention_mask": True,
    }


def qwen2_5_config(tokenizer: PreTrainedTokenizerFast, *, talker: bool = True) -> Qwen2_5OmniConfig:
    """A Qwen2.5-Omni of two layers."""
    number = tokenizer.convert_tokens_to_ids
    media = MEDIA["qwen2_5"]
    ids = {
        "audio_token_index": number(media["audio_token"]),
        "image_token_index": number(media["image_token"]),
        "video_token_index": number(media["video_token"]),
        "audio_start_token_id": number(media["audio_bos_token"]),
        "audio_end_token_id": number(media["audio_eos_token"]),
        "vision_start_token_id": number(media["vision_bos_token"]),
        "vision_end_token_id": number(media["vision_eos_token"]),
    }
    text = {
        "hidden_size": WIDTH,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        "tie_word_embeddings": False,
    }
    return Qwen2_5OmniConfig(
        thinker_config={
            "text_config": {"vocab_size": len(tokenizer), **text},
            "audio_config": {
                "d_model": WIDTH,
                "encoder_layers": 2,
                "encoder_attention_heads": 4,
                "encoder_ffn_dim": 128,
                "output_dim": WIDTH,
            },
            "vision_config": {
                "depth": 2,
                "hidden_size": WIDTH,
                "intermediate_size": 128,
                "num_heads": 4,
                "out_hidden_size": WIDTH,
                "fullatt_block_indexes": [1],
            },
            "user_token_id": number("u"),
            **ids,
        },
        talker_config={
            **text,
            **ids,
            "vocab_size": CODES + 8,
            "embedding_size": WIDTH,
            "head_dim": 16,
            "tts_codec_pad_token_id": CODES,
            "tts_codec_start_token_id": CODES + 1,
            "tts_codec_end_token_id": CODES + 2,
            "tts_codec_mask_token_id": CODES + 3,
            "tts_text_pad_token_id": number("<tts_pad>"),
            "tts_text_start_token_id": number("<tts_text_bos>"),
            "tts_text_end_token_id": number("<tts_text_eod>"),
        },
        token2wav_config={
            "dit_config": {
                "hidden_size": WIDTH,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "head_dim": 16,
                "emb_dim": 32,
                "num_embeds": CODES + 8,
                "enc_emb_dim": 24,
                "enc_dim": 16,
                "enc_channels": [16, 16, 16, 16, 48],
                "enc_attention_channels": 8,
                "enc_se_channels": 8,
                "look_ahead_layers": [1],
                "look_backward_layers": [0],
            },
            "bigvgan_config": {"upsample_initial_channel": 64},
        },
        enable_audio_output=talker,
    )


def speakers(tokenizer: PreTrainedTokenizerFast) -> dict[str, dict[str, object]]:
    """What `spk_dict.pt` has: voices of a Qwen2.5-Omni."""
    return {
        voice: {
            "bos_token": tokenizer.convert_tokens_to_ids("<tts_text_bos>"),
            "cond": torch.randn(1, 24),
            "ref_mel": torch.randn(1, 20, 80),
        }
        for voice in VOICES["qwen2_5"]
    }


def qwen3_config(tokenizer: PreTrainedTokenizerFast, *, talker: bool = True) -> Qwen3OmniMoeConfig:
    """A Qwen3-Omni of three layers and four experts."""
    number = tokenizer.convert_tokens_to_ids
    media = MEDIA["qwen3"]
    ids = {
        "audio_token_id": number(media["audio_token"]),
        "image_token_id": number(media["image_token"]),
        "video_token_id": number(media["video_token"]),
        "audio_start_token_id": number(media["audio_bos_token"]),
        "vision_start_token_id": number(media["vision_bos_token"]),
    }
    rope = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": [4, 2, 2],
        "mrope_interleaved": True,
    }
    layers = {
        "hidden_size": WIDTH,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 4096,
    }
    experts = {"moe_intermediate_size": 32, "num_experts": 4, "num_experts_per_tok": 2}
    return Qwen3OmniMoeConfig(
        thinker_config={
            "text_config": {
                "vocab_size": len(tokenizer),
                "num_hidden_layers": 3,
                "rope_parameters": rope,
                **layers,
                **experts,
            },
            "audio_config": {
                "d_model": WIDTH,
                "encoder_layers": 2,
                "encoder_attention_heads": 4,
                "encoder_ffn_dim": 128,
                "output_dim": WIDTH,
                "downsample_hidden_size": 16,
            },
            "vision_config": {
                "depth": 3,
                "hidden_size": WIDTH,
                "intermediate_size": 128,
                "num_heads": 4,
                "out_hidden_size": WIDTH,
                "deepstack_visual_indexes": [0, 1],
                "num_position_embeddings": 64,
            },
            "vision_end_token_id": number(media["vision_eos_token"]),
            "audio_end_token_id": number(media["audio_eos_token"]),
            "user_token_id": number("u"),
            **ids,
        },
        talker_config={
            "text_config": {
                "vocab_size": 1024 + CODES,
                "num_hidden_layers": 2,
                "rope_parameters": rope,
                **layers,
                **experts,
                "shared_expert_intermediate_size": 32,
            },
            "code_predictor_config": {
                "vocab_size": CODES,
                "num_hidden_layers": 2,
                "num_code_groups": 4,
                **layers,
            },
            "num_code_groups": 4,
            "thinker_hidden_size": WIDTH,
            "accept_hidden_layer": 2,
            "codec_eos_token_id": CODES + 0,
            "codec_nothink_id": CODES + 1,
            "codec_think_bos_id": CODES + 2,
            "codec_think_eos_id": CODES + 3,
            "codec_pad_id": CODES + 4,
            "codec_bos_id": CODES + 5,
            "spatial_merge_size": 2,
            "speaker_id": {voice: CODES + 8 + at for at, voice in enumerate(VOICES["qwen3"])},
            **ids,
        },
        code2wav_config={
            "codebook_size": CODES,
            "hidden_size": WIDTH,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_quantizers": 4,
            "decoder_dim": 64,
        },
        im_start_token_id=number("<|im_start|>"),
        im_end_token_id=number("<|im_end|>"),
        tts_pad_token_id=number("<tts_pad>"),
        tts_bos_token_id=number("<tts_text_bos>"),
        tts_eos_token_id=number("<tts_text_eod>"),
        system_token_id=number("s"),
        user_token_id=number("u"),
        assistant_token_id=number("a"),
        enable_audio_output=talker,
    )
