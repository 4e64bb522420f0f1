"""An omni model's folder, its options, and loading it: which class, which precision, which device, and whether it fits.

Called by `engine`. Owns the search for the folder, the sentence that names the command to fetch it, and everything of the library that is
needed once. Nothing is fetched here, and no code of a model's folder is run.
"""

from __future__ import annotations

import json
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
from duologue.engines.optional_library import importing, loading
from duologue.engines.qwen_omni.prompt.media_reader import MediaReader
from duologue.engines.qwen_omni.prompt.media_sizes import SoundSize, qwen2_5_tokens, qwen3_tokens
from duologue.engines.weights import check_files, find_folder, hub_command, missing_weights, target_folder
from duologue.errors import StartFailed

REPOSITORY = "Qwen/Qwen2.5-Omni-3B"
"""The one that is named where nothing is there yet: the smallest."""
FILES = ("config.json", "preprocessor_config.json", "tokenizer_config.json")
PIXELS = 1280 * 28 * 28
"""The most pixels of one picture: about 1,300 tokens."""
Quantisation = Literal["", "int8", "4bit"]
DTYPES = ("auto", "float32", "bfloat16", "float16")


class OmniOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: a folder, or its name below `models`; `quantisation`: "int8" or "4bit" by bitsandbytes, on a card; `dtype`: "auto" is as the
    weights are stored; `speech` False leaves the talker out, which takes memory; `pixels`: the most of a picture."""

    model: str = ""
    models: str = ""
    name: str = ""
    device: str = "auto"
    slots: int | None = None
    context: int | None = None
    batch: int | None = None
    threads: int | None = None
    dtype: str = "auto"
    quantisation: Quantisation = ""
    speech: bool = True
    pixels: int = PIXELS


class OmniFamily(Struct, frozen=True):
    """What differs between the families: the library's class, its configuration's name, the tokens of a sound, and whether nearly all of
    its weights are in layers that bitsandbytes quantises. Experts, of which Qwen3-Omni mostly consists, it leaves as they are."""

    class_name: str
    sound_size: SoundSize
    voices: str = ""
    """The file of the voices, where they are one."""
    quantisable: bool = True


FAMILIES = {
    "qwen2_5_omni": OmniFamily("Qwen2_5OmniForConditionalGeneration", qwen2_5_tokens, "spk_dict.pt"),
    "qwen3_omni_moe": OmniFamily("Qwen3OmniMoeForConditionalGeneration", qwen3_tokens, quantisable=False),
}


class OpenedModel(Struct, frozen=True):
    """A loaded model and what belongs to it: the library itself, `tokenizer` and `media` to read with, the template's text ("" without
    one), what `generation_config.json` says, and the plan."""

    torch: Any
    model: Any
    tokenizer: Any
    media: MediaReader
    new_cache: Any
    template: str
    generation: dict[str, Any]
    plan: SlotPlan
    folder: Path
    device: str
    size: int
    trained: int


def check_options(options: OmniOptions) -> None:
    """Raises StartFailed for values that there are not."""
    for name in ("slots", "context", "batch", "threads"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise StartFailed(f"qwen_omni's option {name!r} must be at least 1, not {value}.", param=name)
    if options.dtype not in DTYPES:
        raise StartFailed(
            f"qwen_omni's option 'dtype' is one of {', '.join(DTYPES)}, not {options.dtype!r}.", param="dtype"
        )
    if options.pixels < 3136:
        raise StartFailed("qwen_omni's option 'pixels' must be at least 3136.", param="pixels")


def find_weights(options: OmniOptions) -> tuple[Path, OmniFamily]:
    """The folder of the model and its family. Raises StartFailed with the command that fetches one."""
    name = options.model or REPOSITORY
    folder = find_folder(name, options.models, (name.rpartition("/")[2],))
    if folder is None:
        repository = name if name.startswith("Qwen/") else REPOSITORY
        target = target_folder(name, options.models)
        raise missing_weights("qwen_omni", name, [hub_command(repository, target)], target)
    check_files("qwen_omni", folder, FILES)
    try:
        kind = json.loads((folder / "config.json").read_bytes()).get("model_type")
    except (ValueError, AttributeError):
        kind = None
    if (family := FAMILIES.get(str(kind))) is None:
        raise StartFailed(
            f"The model in {folder} is a {kind}; the engine qwen_omni runs {' and '.join(FAMILIES)}.",
            param="model",
        )
    if family.voices and options.speech:
        check_files("qwen_omni", folder, (family.voices,))
    return folder, family


def open_model(options: OmniOptions) -> OpenedModel:
    """Load the model. Blocks. Raises StartFailed."""
    device = parse_device(options.device)
    check_options(options)
    folder, family = find_weights(options)
    load_progress.report(0.0)
    with importing("qwen_omni", "omni", role="engine"):
        import torch
        import transformers
        from safetensors import SafetensorError
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
            Qwen2VLImageProcessorPil,
            smart_resize,
        )
    with loading(
        f"The model in {folder} cannot be loaded by transformers",
        SafetensorError,
        KeyError,
        TypeError,
        AttributeError,
    ):
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        place = place_of(torch, device)
        stored = stored_bytes(folder)
        size = _size(torch, config, options, stored, place)
        name = options.name or folder.name
        plan = plan_memory(
            name,
            size,
            free_bytes(torch, place),
            slots=options.slots,
            context=options.context,
            place=place,
            others=1,
        )
        if place == "cpu":
            torch.set_num_threads(thread_count(size.weights, machine_limits().cores, options.threads))
        load_progress.report(0.1)
        model = _load(torch, transformers, family, folder, options, place)
        load_progress.report(0.9)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        pictures = Qwen2VLImageProcessorPil.from_pretrained(folder, local_files_only=True)
        sounds = transformers.WhisperFeatureExtractor.from_pretrained(folder, local_files_only=True)
    media = MediaReader(pictures, sounds, smart_resize, family.sound_size, options.pixels)
    return OpenedModel(
        torch=torch,
        model=model,
        tokenizer=tokenizer,
        media=media,
        new_cache=transformers.DynamicCache,
        template=read_template(folder, tokenizer),
        generation=read_json(folder / "generation_config.json"),
        plan=plan,
        folder=folder,
        device=place,
        size=stored,
        trained=size.trained,
    )


def _size(torch: Any, config: Any, options: OmniOptions, stored: int, place: str) -> ModelSize:
    """The sizes by the configuration; the weights as the options will have them in memory."""
    text = config.thinker_config.text_config
    stored_type = getattr(config, "dtype", None) or torch.float32
    if isinstance(stored_type, str):
        stored_type = getattr(torch, stored_type)
    kind = stored_type if options.dtype == "auto" else getattr(torch, options.dtype)
    weights = stored * kind.itemsize // stored_type.itemsize
    if options.quantisation:
        # The embeddings and what speaks stay as they are: about a quarter.
        weights = weights // 4 + weights * 3 // 4 // (2 if options.quantisation == "int8" else 4)
    head = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    keys = 2 * text.num_hidden_layers * text.num_key_value_heads * head
    trace = 2 * text.hidden_size if options.speech else 0
    return ModelSize(weights, (keys + trace) * kind.itemsize, text.max_position_embeddings)


def _load(
    torch: Any, transformers: Any, family: OmniFamily, folder: Path, options: OmniOptions, place: str
) -> Any:
    loader = getattr(transformers, family.class_name)
    dtype = "auto" if options.dtype == "auto" else getattr(torch, options.dtype)
    arguments: dict[str, Any] = {"local_files_only": True, "dtype": dtype}
    if not options.speech:
        arguments["enable_audio_output"] = False
    if options.quantisation:
        arguments["quantization_config"] = _quantisation(transformers, family, options.quantisation, place)
        arguments["device_map"] = {"": place}
        return loader.from_pretrained(folder, **arguments).eval()
    if not options.speech and family.voices:
        # Its `from_pretrained` insists on the file of the voices.
        loader = super(loader, loader)
    return loader.from_pretrained(folder, **arguments).eval().to(place)


def _quantisation(transformers: Any, family: OmniFamily, kind: Quantisation, place: str) -> Any:
    if place == "cpu":
        raise StartFailed(
            "qwen_omni's option 'quantisation' needs a graphics card: on a processor the weights would be unpacked for every token, which takes "
            "more than ten times as long. Leave it out, or set device.",
            param="quantisation",
        )
    if not family.quantisable:
        raise StartFailed(
            "qwen_omni's option 'quantisation' does not work for Qwen3-Omni: bitsandbytes leaves its experts, nearly all of the model, as they "
            "are. Leave it out, or use Qwen2.5-Omni.",
            param="quantisation",
        )
    if find_spec("bitsandbytes") is None:
        raise StartFailed(
            "qwen_omni's option 'quantisation' needs one more package: pip install bitsandbytes.",
            code="engine_missing",
            param="quantisation",
        )
    # What speaks is small and loses most by it.
    kept = ["lm_head", "talker", "token2wav", "code2wav"]
    if kind == "int8":
        return transformers.BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=kept)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", llm_int8_skip_modules=kept
    )
