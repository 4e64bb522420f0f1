"""The settings of video: which engine draws avatars that speak, and how large.

Pure data: engines are named here, never imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from duologue.config.device import Device
from duologue.config.section import Section

VideoEngineName = Literal["portrait", "musetalk", "scripted"]
WEIGHTED = ("musetalk",)
"""Engines with weights of their own. They receive the folder of the weights, the folder for what they compute once, the device and the LoRAs
as options."""


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("must be an even number")
    return value


class LoRASpec(Section):
    path: str = Field(description="The LoRA's safetensors file: a path, or a name in the folder of models.")
    weight: Annotated[float, Field(ge=-4, le=4)] = Field(
        default=1.0, description="How strongly it changes the model; 1: as it was trained."
    )
    name: str = Field(default="", description="Its name in messages; empty: that of the file.")
    second: str = Field(
        default="",
        description="The file for the second expert of a model with two; empty: `path` serves both.",
    )


class VideoConfig(Section):
    enabled: bool | None = Field(
        default=None,
        description="Where speaking avatars are drawn as video; empty: in clips that are asked for; true: in calls of clients that show `speaking_clip` too; false: nowhere.",
    )
    engine: VideoEngineName = Field(
        default="portrait",
        description="The video engine: `portrait` draws faces and moves pictures without a graphics card, `musetalk` needs one.",
    )
    avatar: str = Field(
        default="", description="The avatar of calls that name none; empty: the first drawn face."
    )
    size: Annotated[int, Field(ge=64, le=1024), AfterValidator(_even)] = Field(
        default=512, description="Width and height of the video, in pixels."
    )
    rate: Annotated[int, Field(ge=5, le=60)] = Field(default=25, description="Frames a second.")
    model: str = Field(default="", description="The model: a name or a folder; empty: the engine's default.")
    device: Device = Field(
        default="auto", description="The device the engine runs on: `auto`, `cpu`, `cuda:0` ..."
    )
    loras: tuple[LoRASpec, ...] = Field(
        default=(),
        description="LoRAs for the model that renders base clips, each with `path`, `weight`, `name` and `second`.",
    )
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )

    @property
    def uses_device(self) -> bool:
        """Whether its engine runs on `device`."""
        return self.enabled is not False and self.engine in WEIGHTED

    def engine_options(self, models: Path | None = None, cache: Path | None = None) -> dict[str, object]:
        """The options passed to a voice worker, as plain values; none where video is off. `models` is the folder in which weights are
        looked up by name, `cache` the one for what is computed once."""
        if self.enabled is False:
            return {}
        options: dict[str, object] = {"engine": self.engine, "size": self.size, "rate": self.rate}
        if self.engine in WEIGHTED:
            weights = {
                "model": self.model,
                "models": str(models) if models else "",
                "cache": str(cache) if cache else "",
                "device": self.device.replace("auto", ""),
                "loras": [lora.model_dump() for lora in self.loras],
            }
            options |= {name: value for name, value in weights.items() if value}
        return options | self.options
