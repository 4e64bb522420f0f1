"""A folder with a language model, its options, and loading it with transformers: which class, precision and device, and whether it fits.

Called by `engine`. Owns the search for the folder, the sentences for what is wrong with it, and everything of the library that is needed
once. Nothing is fetched here, and no code of a model's folder is run. Blocks.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from duologue.engines import load_progress
from duologue.engines.decoding.model_folder import (
    free_bytes,
    place_of,
    read_json,
    read_template,
    stored_bytes,
)
from duologue.engines.decoding.slot_plan import ModelSize, SlotPlan, plan_memory, thread_count
from duologue.engines.devices import parse_device
from duologue.engines.hardware import machine_limits
from duologue.engines.huggingface.growing_cache import CacheMaker
from duologue.engines.huggingface.media_processor import MediaProcessor, open_processor
from duologue.engines.huggingface.row_batch import RowBatch
from duologue.engines.optional_library import importing, loading
from duologue.engines.weights import check_files, find_folder, hub_command, missing_weights, target_folder
from duologue.errors import StartFailed

DTYPES = ("auto", "float32", "bfloat16", "float16")
PACKERS = {
    "aqlm": "aqlm",
    "auto-round": "auto_round",
    "awq": "gptqmodel",
    "bitsandbytes": "bitsandbytes",
    "compressed-tensors": "compressed_tensors",
    "eetq": "eetq",
    "gptq": "gptqmodel",
    "hqq": "hqq",
    "torchao": "torchao",
    "vptq": "vptq",
}
"""The package that reads weights which were stored in fewer bits, by the name that their folder has for the way."""
SPEAKING = ("qwen2_5_omni", "qwen3_omni_moe")
"""Models of the engine qwen_omni: a model that writes is only a part of them."""
UNLIMITED = 32_768
"""The context of a model whose configuration has no limit: one with a state instead of keys."""


class HuggingfaceOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: a folder, or its name below `models`; `quantisation`: "int8" or "4bit" by bitsandbytes, on a card; `dtype`: "auto" is as the
    weights are stored; `attention`: how the library computes it, "auto" is its own choice."""

    model: str = ""
    models: str = ""
    name: str = ""
    device: str = "auto"
    slots: int | None = None
    context: int | None = None
    batch: int | None = None
    threads: int | None = None
    dtype: str = "auto"
    quantisation: Literal["", "int8", "4bit"] = ""
    attention: Literal["auto", "sdpa", "eager", "flash_attention_2", "flash_attention_3"] = "auto"


class CausalModel(Struct, frozen=True):
    """A loaded model and what belongs to it: the library itself, `rows` to run it with, `media` where it takes pictures or sound, the template's text ("" without one), what
    `generation_config.json` says, and the plan."""

    torch: Any
    rows: RowBatch
    tokenizer: Any
    media: MediaProcessor | None
    template: str
    generation: dict[str, Any]
    plan: SlotPlan
    folder: Path
    device: str
    size: int
    parameters: int
    vocabulary: int
    trained: int
    kind: str
    warnings: tuple[str, ...]


def check_options(options: HuggingfaceOptions) -> None:
    """Raises StartFailed for values that there are not."""
    for name in ("slots", "context", "batch", "threads"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise StartFailed(f"transformers' option {name!r} must be at least 1, not {value}.", param=name)
    if options.dtype not in DTYPES:
        raise StartFailed(
            f"transformers' option 'dtype' is one of {', '.join(DTYPES)}, not {options.dtype!r}.",
            param="dtype",
        )


def find_weights(options: HuggingfaceOptions) -> Path:
    """The folder of the model. Raises StartFailed with the command that fetches it, or with what is wrong with it."""
    name = options.model
    if not name:
        raise StartFailed(
            "The engine transformers needs a model: the folder of one as the hub has it, with --model FOLDER.",
            param="model",
        )
    folder = find_folder(name, options.models, (name.rpartition("/")[2],))
    if folder is None:
        if name.lower().endswith(".gguf"):
            raise StartFailed(
                f"{name} is a GGUF file, which the engine llama runs. Leave the engine out, or name a folder with safetensors.",
                param="model",
            )
        target = target_folder(name, options.models)
        is_repository = name.count("/") == 1 and not name.startswith((".", "/", "~"))
        raise missing_weights(
            "transformers", name, [hub_command(name, target)] if is_repository else [], target
        )
    check_files("transformers", folder, ("config.json",))
    config = read_json(folder / "config.json")
    if "model_type" not in config:
        raise StartFailed(f"{folder / 'config.json'} does not say what kind of model this is.", param="model")
    if not any(folder.glob("*.safetensors")):
        raise StartFailed(
            f"The folder {folder} has no weights as safetensors; other files may run code when they are read, so they are not loaded. "
            "Fetch a version with safetensors.",
            code="weights_missing",
            param="model",
        )
    if "auto_map" in config and not _is_known(config):
        raise StartFailed(
            f"The model in {folder} brings code of its own, which this engine does not run. Serve it with its makers' server, and "
            "connect that with --upstream URL.",
            param="model",
        )
    return folder


def check_stored_bits(folder: Path, known: Collection[str]) -> None:
    """Raises StartFailed for weights in fewer bits that are stored in a way which the library does not know (`known`), or whose package is
    missing."""
    stored = read_json(folder / "config.json").get("quantization_config")
    if not stored:
        return
    way = str(stored.get("quant_method") or "") if isinstance(stored, dict) else ""
    if not way or not any(name == way or name.startswith(f"{way}_") for name in known):
        raise StartFailed(
            f"The weights in {folder} are stored in fewer bits in a way that transformers does not know ({way or 'without a name'}). Fetch "
            "the model as it was made, or a GGUF file of it for the engine llama.",
            param="model",
        )
    package = PACKERS.get(way)
    if package is not None and find_spec(package) is None:
        raise StartFailed(
            f"The weights in {folder} are stored in fewer bits ({way}), which needs one more package: "
            f"pip install {package.replace('_', '-')}.",
            code="engine_missing",
            param="model",
        )


def open_model(options: HuggingfaceOptions) -> CausalModel:
    """Load the model. Raises StartFailed."""
    device = parse_device(options.device)
    check_options(options)
    folder = find_weights(options)
    load_progress.report(0.0)
    with importing("transformers", "transformers", role="engine"):
        import torch
        import transformers
        from safetensors import SafetensorError
    with loading(
        f"The model in {folder} cannot be loaded by transformers",
        SafetensorError,
        KeyError,
        TypeError,
        AttributeError,
        ImportError,
    ):
        check_stored_bits(folder, transformers.quantizers.auto.AUTO_QUANTIZER_MAPPING)
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        loader = _loader(transformers, config, folder)
        tokenizer = _tokenizer(transformers, folder)  # before the weights, which take minutes
        template = read_template(folder, tokenizer)
        media, unread = open_processor(transformers, folder, config, template)
        place = place_of(torch, device)
        stored = stored_bytes(folder)
        size = _size(torch, config, options, stored)
        plan = plan_memory(
            options.name or folder.name,
            size,
            free_bytes(torch, place),
            slots=options.slots,
            context=options.context,
            place=place,
        )
        if place == "cpu":
            torch.set_num_threads(thread_count(size.weights, machine_limits().cores, options.threads))
        load_progress.report(0.1)
        model = _load(torch, transformers, loader, folder, options, place)
        load_progress.report(0.9)
        input_device = model.get_input_embeddings().weight.device
        rows = RowBatch(torch, model, CacheMaker(transformers, torch, model.config), input_device)
        with torch.inference_mode():
            warnings = rows.check()
    return CausalModel(
        torch=torch,
        rows=rows,
        tokenizer=tokenizer,
        media=media,
        template=template,
        generation=read_json(folder / "generation_config.json"),
        plan=plan,
        folder=folder,
        device=place,
        size=stored,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        vocabulary=config.get_text_config().vocab_size,
        trained=size.trained,
        kind=str(config.model_type),
        warnings=(*plan.warnings, *unread, *warnings),
    )


def _is_known(config: dict[str, Any]) -> bool:
    """Whether the library has this kind of model itself."""
    if find_spec("transformers") is None:
        return True  # the missing library is reported instead
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return config.get("model_type") in CONFIG_MAPPING_NAMES


def _loader(transformers: Any, config: Any, folder: Path) -> Any:
    """The class that loads it. Raises StartFailed for what is no causal language model."""
    for name, mapping in (
        ("AutoModelForCausalLM", "MODEL_FOR_CAUSAL_LM_MAPPING"),
        ("AutoModelForImageTextToText", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING"),
        ("AutoModelForMultimodalLM", "MODEL_FOR_MULTIMODAL_LM_MAPPING"),
    ):
        if config.model_type in SPEAKING:
            break
        if type(config) in getattr(transformers, mapping) and not config.is_encoder_decoder:
            return getattr(transformers, name)
    raise StartFailed(
        f"The model in {folder} is a {config.model_type}, which is not a causal language model: it does not write text token by token.",
        param="model",
    )


def _tokenizer(transformers: Any, folder: Path) -> Any:
    """The tokenizer of the folder. Raises StartFailed without one, and for one that knows no letters."""
    missing = StartFailed(
        f"The folder {folder} has no tokenizer that can be read. Fetch the whole model, with its tokenizer's files.",
        code="weights_missing",
        param="model",
    )
    kinds = ("tokenizer.*", "vocab.*", "*.model", "*.tiktoken", "tekken.json", "tokenizer_config.json")
    if not any(path for kind in kinds for path in folder.glob(kind)):
        raise missing
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if not tokenizer.encode("A a", add_special_tokens=False):
        raise missing
    return tokenizer


def _size(torch: Any, config: Any, options: HuggingfaceOptions, stored: int) -> ModelSize:
    """The sizes by the configuration; the weights as the options will have them in memory."""
    text = config.get_text_config()
    stored_type = getattr(config, "dtype", None) or getattr(text, "dtype", None) or torch.float32
    if isinstance(stored_type, str):
        stored_type = getattr(torch, stored_type)
    kind = stored_type if options.dtype == "auto" else getattr(torch, options.dtype)
    weights = stored * kind.itemsize // stored_type.itemsize
    if options.quantisation:
        # The embeddings stay as they are: about a tenth.
        weights = weights // 10 + weights * 9 // 10 // (2 if options.quantisation == "int8" else 4)
    heads = getattr(text, "num_attention_heads", None) or 1
    head = getattr(text, "head_dim", None) or text.hidden_size // heads
    keys = 2 * text.num_hidden_layers * (getattr(text, "num_key_value_heads", None) or heads) * head
    limits = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len")
    trained = next(
        (value for name in limits if isinstance(value := getattr(text, name, None), int)), UNLIMITED
    )
    return ModelSize(weights, keys * kind.itemsize, trained)


def _load(
    torch: Any, transformers: Any, loader: Any, folder: Path, options: HuggingfaceOptions, place: str
) -> Any:
    arguments: dict[str, Any] = {
        "local_files_only": True,
        "use_safetensors": True,
        "dtype": "auto" if options.dtype == "auto" else getattr(torch, options.dtype),
    }
    if options.attention != "auto":
        arguments["attn_implementation"] = options.attention
    if options.quantisation:
        arguments["quantization_config"] = _quantisation(transformers, options.quantisation, place)
    if place != "cpu":
        arguments["device_map"] = {"": place}  # straight to the card, without a copy in the memory
    return loader.from_pretrained(folder, **arguments).eval()


def _quantisation(transformers: Any, kind: str, place: str) -> Any:
    if place == "cpu":
        raise StartFailed(
            "transformers' option 'quantisation' needs a graphics card: on a processor the weights would be unpacked for every token. "
            "Leave it out, set device, or use a GGUF file of the model with the engine llama.",
            param="quantisation",
        )
    if find_spec("bitsandbytes") is None:
        raise StartFailed(
            "transformers' option 'quantisation' needs one more package: pip install bitsandbytes.",
            code="engine_missing",
            param="quantisation",
        )
    if kind == "int8":
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
