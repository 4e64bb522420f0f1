"""Wan's pipeline of diffusers: loading it whole or from GGUF files, its LoRAs, and one clip. The only file here that imports PyTorch.

Used by `renderer` in its thread lane. Only safetensors and GGUF are read, never pickles. The VAE computes in float32, which it needs; attention
is PyTorch's own (SDPA), so flash-attn is not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.device_failures import device_errors
from duologue.engines.devices import Device, numbered_cards, require_card
from duologue.engines.wan.clip_plan import ClipPlan, WanFacts, frame_count
from duologue.engines.wan.wan_weights import SMALL_LATENTS, LoraFile, WanFiles
from duologue.errors import StartFailed

PROMPT_TOKENS = 512
PRECISIONS = ("auto", "float32", "float16", "bfloat16")


class PipelineSettings(Struct, frozen=True):
    """How the pipeline runs. `offload`: parts wait in main memory until they compute; `tiling`: the VAE works on a picture in tiles;
    `precision`: auto is bfloat16 on a card; `shift`: of the noise schedule, None is the model's own (3 suits 480p, 5 suits 720p)."""

    device: Device
    offload: bool = True
    tiling: bool = True
    precision: str = "auto"
    shift: float | None = None


class NoiseSteps(Struct, frozen=True):
    """`steps` of the noise schedule; `guidance` of the first expert and `second` of the other; 1 leaves out the negative prompt."""

    steps: int
    guidance: float
    second: float | None


class _Stopped(Exception):
    """Raised out of the pipeline by its callback: the clip was cancelled."""


class WanNetwork:
    """A loaded pipeline. Calls block, and raise EngineFailed, or DeviceLost where the card failed."""

    def __init__(self, torch: Any, pipeline: Any, facts: WanFacts, loras: tuple[LoraFile, ...]) -> None:
        self._torch, self._pipeline = torch, pipeline
        self.facts, self._loras = facts, loras

    def render(
        self, plan: ClipPlan, picture: Any, sampling: NoiseSteps, watch: Callable[[int], bool]
    ) -> Any | None:
        """The clip, bytes of the shape (frames, height, width, 3), from a picture in the clip's size. `watch` is called with the number of steps
        done; if it returns False, the work ends and no clip is made."""
        from PIL import Image

        pipeline = self._pipeline
        image = Image.fromarray(picture)

        def stepped(_: Any, step: int, __: Any, tensors: dict[str, Any]) -> dict[str, Any]:
            # Raised and not `_interrupt`, with which the clip would still be decoded.
            if not watch(step + 1):
                raise _Stopped
            return tensors

        with device_errors("wan"):
            if self._loras:
                (pipeline.enable_lora if plan.loras else pipeline.disable_lora)()
            try:
                made = pipeline(
                    image=image,
                    last_image=image if self.facts.closes else None,
                    prompt=plan.prompt,
                    negative_prompt=plan.negative,
                    height=picture.shape[0],
                    width=picture.shape[1],
                    num_frames=frame_count(plan.seconds, self.facts.rate),
                    num_inference_steps=sampling.steps,
                    guidance_scale=sampling.guidance,
                    guidance_scale_2=sampling.second if self.facts.experts == 2 else None,
                    # On the processor, so that every device begins with the same noise.
                    generator=self._torch.Generator("cpu").manual_seed(plan.seed),
                    callback_on_step_end=stepped,
                    max_sequence_length=PROMPT_TOKENS,
                    output_type="np",
                )
            except _Stopped:
                return None
            return (made.frames[0] * 255).round().clip(0, 255).astype("uint8")


def open_wan(files: WanFiles, settings: PipelineSettings) -> WanNetwork:
    """Load the pipeline. Raises ImportError without the libraries, StartFailed for weights that cannot be used and for a card that is not
    there, and as the libraries do for files they cannot read."""
    import torch
    from diffusers import AutoencoderKLWan, UniPCMultistepScheduler, WanImageToVideoPipeline
    from safetensors import SafetensorError

    has_cards = torch.cuda.is_available()
    device = settings.device
    require_card(device, numbered_cards(torch.cuda.device_count() if has_cards else 0))
    on_card = device.kind == "cuda" or (device.kind == "auto" and has_cards)
    chosen = ("bfloat16" if on_card else "float32") if settings.precision == "auto" else settings.precision
    kind = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}[chosen]
    try:
        parts: dict[str, Any] = {
            "vae": AutoencoderKLWan.from_pretrained(
                files.folder,
                subfolder="vae",
                torch_dtype=torch.float32,
                local_files_only=True,
                use_safetensors=True,
            )
        } | open_gguf(files, kind)
        pipeline = WanImageToVideoPipeline.from_pretrained(
            files.folder, torch_dtype=kind, local_files_only=True, use_safetensors=True, **parts
        )
        facts = describe(files.name, pipeline)
        if settings.shift is not None:
            pipeline.scheduler = UniPCMultistepScheduler.from_config(
                pipeline.scheduler.config, flow_shift=settings.shift
            )
        if settings.tiling:
            pipeline.vae.enable_tiling()
        add_loras(pipeline, files.loras, facts)
    except SafetensorError as error:
        raise ValueError(f"a file is damaged: {error}") from error
    pipeline.set_progress_bar_config(disable=True)
    if on_card and settings.offload:
        pipeline.enable_model_cpu_offload(gpu_id=device.index)
    else:
        pipeline.to(f"cuda:{device.index}" if on_card else "cpu")
    return WanNetwork(torch, pipeline, facts, files.loras)


def open_gguf(files: WanFiles, kind: Any) -> dict[str, Any]:
    """The transformers that are read from GGUF files. Raises StartFailed for files of another model."""
    from diffusers import GGUFQuantizationConfig, WanTransformer3DModel

    parts = {}
    for name, path in zip(("transformer", "transformer_2"), files.gguf, strict=False):
        try:
            parts[name] = WanTransformer3DModel.from_single_file(
                str(path),
                quantization_config=GGUFQuantizationConfig(compute_dtype=kind),
                # Without it, diffusers takes a file of the 5B model for one of 14B.
                config=str(files.folder),
                subfolder=name,
                torch_dtype=kind,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, KeyError, AttributeError, OSError) as error:
            raise StartFailed(
                f"{path} cannot be used as the {name} of the model in {files.folder}. It must be a GGUF file of the same model, that for high noise "
                f"first ({' '.join(str(error).split())[:200]}).",
                param="gguf",
            ) from None
    return parts


def describe(name: str, pipeline: Any) -> WanFacts:
    """What is known of the model. Raises StartFailed for one that makes videos from text alone, or cannot be used here."""
    channels = int(pipeline.vae.config.z_dim)
    taken = int(pipeline.transformer.config.in_channels)
    expands = bool(pipeline.config.expand_timesteps)
    if not expands and taken == channels:
        raise StartFailed(
            f"{name} makes videos from text alone. Base clips of a picture need Wan2.2-TI2V-5B or Wan2.2-I2V-A14B.",
            param="model",
        )
    patch = int(pipeline.transformer.config.patch_size[1])
    return WanFacts(
        name,
        24 if channels == SMALL_LATENTS else 16,
        not expands,
        int(pipeline.vae_scale_factor_spatial) * patch,
        1 if getattr(pipeline, "transformer_2", None) is None else 2,
    )


def add_loras(pipeline: Any, loras: tuple[LoraFile, ...], facts: WanFacts) -> None:
    """Load the LoRAs into each expert. Raises StartFailed for one of another model."""
    from safetensors.torch import load_file

    names = []
    for number, lora in enumerate(loras):
        names.append(f"lora{number}")
        for second in range(facts.experts):
            path = Path(lora.second or lora.path) if second else Path(lora.path)
            network = pipeline.transformer_2 if second else pipeline.transformer
            try:
                pipeline.load_lora_weights(
                    load_file(path), adapter_name=names[-1], load_into_transformer_2=bool(second)
                )
            except (RuntimeError, ValueError, KeyError, IndexError, AttributeError) as error:
                raise _strange_lora(lora, facts, error) from None
            # Where no name fits, the library only warns.
            if names[-1] not in getattr(network, "peft_config", {}):
                raise _strange_lora(lora, facts, None)
    if names:
        pipeline.set_adapters(names, [lora.weight for lora in loras])


def _strange_lora(lora: LoraFile, facts: WanFacts, error: Exception | None) -> StartFailed:
    reason = f" ({' '.join(str(error).split())[:200]})" if error else ""
    return StartFailed(
        f"The LoRA {lora.title} was not made for {facts.name}: its names or sizes are those of another model{reason}. Remove it from the setting "
        "video.loras, or use one for this model.",
        param="loras",
    )
