"""Rendering base clips with Wan 2.2, once for each picture, prompt, seed, model and set of LoRAs.

Called by the command `duologue avatar render`. This is no `VideoEngine`: nothing that waits for a reply waits for it. Owns the options, the
store of clips, and the one thread in which the model runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.devices import parse_device
from duologue.engines.footage.clip_store import BaseClip, ClipDetails, ClipStore, picture_key
from duologue.engines.footage.picture_file import read_picture
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import read_options
from duologue.engines.wan.clip_plan import ClipPlan, clip_key, frame_count
from duologue.engines.wan.wan_pipeline import (
    PRECISIONS,
    NoiseSteps,
    PipelineSettings,
    WanNetwork,
    open_wan,
)
from duologue.engines.wan.wan_weights import MODEL, LoraFile, WanFiles, find_wan
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import Emit, ThreadLane

STEPS_AHEAD = 256
"""Reports that may wait for a slow reader: more than a clip has steps."""


class WanOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`cache`: the folder for clips; `size`: pixels of the longer side; `gguf`: files in place of the transformers, that for high noise first;
    `steps`, `guidance`, `guidance_2`, `shift`: None is what the model was made for; `precision`: auto is bfloat16 on a
    card; `offload` and `tiling`: less memory on the card, and
    slower."""

    cache: str
    model: str = MODEL
    models: str = ""
    device: str = "auto"
    size: int = 832
    gguf: tuple[str, ...] = ()
    loras: tuple[LoraFile, ...] = ()
    steps: int | None = None
    guidance: float | None = None
    guidance_2: float | None = None
    precision: str = "auto"
    shift: float | None = None
    offload: bool = True
    tiling: bool = True


class RenderStep(Struct, frozen=True):
    """`done` steps of `total`. `key`: of the clip, with the last report, once the clip is stored."""

    done: int
    total: int
    key: str = ""


class WanRenderer:
    """Renders and keeps clips, one at a time."""

    def __init__(self, network: WanNetwork, files: WanFiles, options: WanOptions) -> None:
        self._network: WanNetwork | None = network
        self._files, self._options = files, options
        self.store = ClipStore(Path(options.cache).expanduser() / "clips")
        self._lane = ThreadLane(1)

    @property
    def sampling(self) -> NoiseSteps:
        """The steps and the guidance: those of the options, else those that the model was made for."""
        options, two = self._options, self._opened().facts.experts == 2
        guidance = options.guidance if options.guidance is not None else (3.5 if two else 5.0)
        return NoiseSteps(options.steps or (40 if two else 50), guidance, options.guidance_2)

    def key(self, plan: ClipPlan) -> str:
        """The key that the clip of this plan has with this model."""
        loras = self._files.lora_mark if plan.loras else []
        options = (self._options.size, self._options.shift, self._options.precision, self.sampling)
        return clip_key(plan, self._files.mark, loras, *options)

    @asynccontextmanager
    async def idle_clip(self, plan: ClipPlan) -> AsyncIterator[AsyncIterator[RenderStep]]:
        """Render the clip, and use it for every avatar with this picture. A clip that is stored is not rendered again. Leaving ends the
        work within one step, and nothing is stored. Raises BadRequest for a picture or a length that cannot be used, EngineFailed."""
        network = self._opened()
        frame_count(plan.seconds, network.facts.rate)

        def step(emit: Emit[RenderStep]) -> None:
            self._render(network, plan, emit)

        async with self._lane.stream(step, STEPS_AHEAD) as steps:
            yield steps

    async def close(self) -> None:
        """Drop the networks."""
        self._network = None

    def _render(self, network: WanNetwork, plan: ClipPlan, emit: Emit[RenderStep]) -> None:
        key, total = self.key(plan), self.sampling.steps
        if self.store.find(key) is None:
            picture = read_picture(plan.picture, self._options.size, multiple=network.facts.multiple)
            frames = network.render(plan, picture, self.sampling, lambda done: emit(RenderStep(done, total)))
            if frames is None:
                return
            details = ClipDetails(network.facts.rate, network.facts.closes)
            self.store.keep(BaseClip(key, frames, details))
        self.store.use(picture_key(plan.picture), key)
        emit(RenderStep(total, total, key))

    def _opened(self) -> WanNetwork:
        if self._network is None:
            raise EngineFailed("The renderer was closed.")
        return self._network


async def load(options: dict[str, Any]) -> WanRenderer:
    """The renderer. Options: see `WanOptions`. Raises StartFailed without the libraries or the weights, or for weights and LoRAs that cannot
    be used."""
    settings = read_options(WanOptions, options, "wan")
    check_options(settings)
    device = parse_device(settings.device)

    def start() -> WanRenderer:
        files = find_wan(settings.model, settings.models, settings.gguf, settings.loras)
        with (
            importing("wan", "video", role="renderer"),
            loading(f"The model in {files.folder} cannot be loaded by diffusers", KeyError, TypeError),
        ):
            network = open_wan(
                files,
                PipelineSettings(
                    device, settings.offload, settings.tiling, settings.precision, settings.shift
                ),
            )
        return WanRenderer(network, files, settings)

    return await load_in_thread(start)


def check_options(options: WanOptions) -> None:
    """Raises StartFailed for values that there are not."""
    if not options.cache:
        raise StartFailed("wan's option 'cache' must name the folder for the clips.", param="cache")
    if options.precision not in PRECISIONS:
        raise StartFailed(
            f"wan's option 'precision' must be one of {', '.join(PRECISIONS)}.", param="precision"
        )
    limits = (
        ("size", 16, 2048),
        ("steps", 1, 200),
        ("guidance", 0, 20),
        ("guidance_2", 0, 20),
        ("shift", 0.1, 20),
    )
    for name, low, high in limits:
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            raise StartFailed(f"wan's option {name!r} must be between {low} and {high}.", param=name)
