"""Writes a checkpoint as one GGUF file: weights, tokenizer, chat template and metadata.

Run `python -m duologue_mini.model.export --help`.
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy
import torch

from duologue_mini.model import checkpoint, tokenizer
from duologue_mini.model.chat_template import template_text
from duologue_mini.model.network import NetworkShape

NAME = "duologue-mini"
TEMPERATURE = 0.3
"""The default temperature in the file: at llama.cpp's usual 0.8 a model this small gets its sums wrong."""
TENSOR_NAMES = {
    "attention_norm": "attn_norm",
    "attention.query": "attn_q",
    "attention.key": "attn_k",
    "attention.value": "attn_v",
    "attention.output": "attn_output",
    "feed_forward_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
TYPES = {"f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}
FILE_TYPES = {"f16": gguf.LlamaFileType.MOSTLY_F16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}


def tensor_name(name: str) -> str:
    """The name of a weight in llama.cpp."""
    if name == "embedding.weight":
        return "token_embd.weight"
    if name == "norm.weight":
        return "output_norm.weight"
    _, layer, rest = name.split(".", 2)
    return f"blk.{layer}.{TENSOR_NAMES[rest.removesuffix('.weight')]}.weight"


def add_description(writer: gguf.GGUFWriter, shape: NetworkShape, kind: str, version: str) -> None:
    """Writes the model's metadata and its sizes."""
    writer.add_name(NAME)
    writer.add_basename(NAME)
    writer.add_version(version)
    writer.add_author("The Duologue project")
    writer.add_license("apache-2.0")
    writer.add_description(
        "Duologue's bundled model: small talk, help about Duologue, small sums, reading, rewriting, tool calls."
    )
    writer.add_languages(["en"])
    writer.add_sampling_temp(TEMPERATURE)
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_value_heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_vocab_size(shape.vocabulary)


def add_tokenizer(writer: gguf.GGUFWriter, path: Path) -> None:
    """Writes pieces, merges, special tokens and the chat template."""
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    kinds = []
    for piece in pieces:
        if piece in tokenizer.CONTROL_TOKENS:
            kinds.append(gguf.TokenType.CONTROL)
        elif piece in tokenizer.MARKER_TOKENS:
            kinds.append(gguf.TokenType.USER_DEFINED)
        else:
            kinds.append(gguf.TokenType.NORMAL)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    end_of_turn = model["vocab"]["<|im_end|>"]
    end_of_text = model["vocab"]["<|endoftext|>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(end_of_turn)
    writer.add_eot_token_id(end_of_turn)
    writer.add_pad_token_id(end_of_text)
    writer.add_bos_token_id(end_of_text)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(template_text())


def add_weights(writer: gguf.GGUFWriter, weights: dict[str, torch.Tensor], kind: str) -> None:
    """Writes matrices in the chosen type and norms in full precision; the output matrix is the embedding."""
    for name, weight in weights.items():
        array = weight.float().cpu().numpy()
        if array.ndim == 1:
            writer.add_tensor(tensor_name(name), array.astype(numpy.float32))
        elif kind == "f16":
            writer.add_tensor(tensor_name(name), array.astype(numpy.float16))
        else:
            writer.add_tensor(tensor_name(name), gguf.quantize(array, TYPES[kind]), raw_dtype=TYPES[kind])


def write(data: Path, target: Path, kind: str, version: str) -> None:
    """Writes the model file and renames it into place."""
    state = checkpoint.load(data)
    partial = target.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial, "llama")
    add_description(writer, NetworkShape(**state["shape"]), kind, version)
    add_tokenizer(writer, data / "tokenizer.json")
    add_weights(writer, state["model"], kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, trained on {state['progress']}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a checkpoint as a GGUF file.")
    parser.add_argument(
        "--data", type=Path, default=Path("build/mini"), help="folder with tokenizer.json and checkpoint"
    )
    parser.add_argument("--out", type=Path, default=Path("build/mini/duologue-mini.gguf"))
    parser.add_argument("--type", choices=sorted(TYPES), default="f16", dest="kind")
    parser.add_argument("--version", default="v1", help="the version in the file")
    arguments = parser.parse_args()
    write(arguments.data, arguments.out, arguments.kind, arguments.version)


if __name__ == "__main__":
    main()
