"""Tiny causal language models of several families, with random weights: folders as the hub has them, which transformers loads.

For tests of the engine `transformers`. Needs torch and transformers; import it inside a test that has them. The tokenizer has a token for each
byte, and a few control tokens. What such a model writes is noise; that it depends on what it reads is what tests look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

Family = Literal["llama", "qwen3", "mistral", "phi", "gemma3", "gpt_neox", "mamba", "lfm2"]
FAMILIES: tuple[Family, ...] = get_args(Family)
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>")
MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>")
CHATML = """\
{%- if tools %}{{ '<|im_start|>system\\nTools, called in <tool_call>{"name": <function-name>, "arguments": <args-json-object>}</tool_call>: ' }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}\
{{ '<|im_end|>\\n' }}{% endif -%}
{%- for message in messages -%}
{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""
WINDOW = 16
"""Tokens of the window of those layers of Gemma and Mistral that have one."""


def make_causal(
    folder: Path,
    family: Family = "llama",
    *,
    seed: int = 0,
    bos: bool = False,
    more_control: tuple[str, ...] = (),
    sizes: Mapping[str, Any] | None = None,
    dtype: torch.dtype = torch.float32,
) -> Path:
    """Write a model of this family into the folder; the same `seed` is the same model. `bos`: its tokenizer begins every text. `sizes`:
    fields of the family's configuration in place of the tiny ones."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(bos=bos, more_control=more_control)
    torch.manual_seed(seed)
    config = _config(family, tokenizer)
    config.update(dict(sizes or {}))
    model = transformers.AutoModelForCausalLM.from_config(config).to(dtype)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "conv" not in name:
                parameter.mul_(4.0)
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"), pad_token_id=0
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHATML)
    return folder


def make_tokenizer(*, bos: bool = False, more_control: tuple[str, ...] = ()) -> PreTrainedTokenizerFast:
    """A token for each byte, then the control tokens, then markers that are text."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([*CONTROL])
    tokenizer.add_tokens([*MARKERS])
    tokenizer.add_special_tokens([*more_control])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )


def _config(family: Family, tokenizer: PreTrainedTokenizerFast) -> Any:
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "max_position_embeddings": 4096,
        "pad_token_id": 256,
        "bos_token_id": 259,
        "eos_token_id": 258,
    }
    grouped = {**sizes, "num_key_value_heads": 2, "head_dim": 16}
    match family:
        case "llama":
            return transformers.LlamaConfig(**grouped)
        case "qwen3":
            return transformers.Qwen3Config(**grouped)
        case "mistral":
            return transformers.MistralConfig(**grouped, sliding_window=WINDOW)
        case "phi":
            return transformers.PhiConfig(**sizes)
        case "gemma3":
            kinds = ["sliding_attention", "full_attention"] * 2
            return transformers.Gemma3TextConfig(**grouped, sliding_window=WINDOW, layer_types=kinds)
        case "gpt_neox":
            return transformers.GPTNeoXConfig(**sizes)
        case "mamba":
            plain = {name: sizes[name] for name in ("vocab_size", "hidden_size", "num_hidden_layers")}
            return transformers.MambaConfig(**plain, state_size=8)
        case "lfm2":
            kinds = ["conv", "full_attention"] * 2
            return transformers.Lfm2Config(**grouped, layer_types=kinds, conv_L_cache=3)
