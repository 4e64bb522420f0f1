"""Where MuseTalk's weights are: the folder of the official scripts, with the UNet, the VAE and Whisper. Nothing is loaded here.

Called by `engine`. Owns the names of the files, and the sentences with the commands that fetch them.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from duologue.engines.weights import check_files, find_folder, hub_command, missing_weights, target_folder
from duologue.errors import StartFailed

MODEL = "musetalk"
UNETS = (
    ("musetalkV15", "musetalk.json", ("unet.safetensors", "unet.pth")),
    ("musetalk", "musetalk.json", ("pytorch_model.safetensors", "pytorch_model.bin")),
)
"""Version 1.5, then 1.0: the folder, the settings, and the weights under one of these names."""
VAES = ("sd-vae", "sd-vae-ft-mse")
VAE_WEIGHTS = ("diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin")
WHISPERS = ("whisper", "whisper-tiny")
WHISPER_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class MuseTalkFiles(Struct, frozen=True):
    """`config` and `unet`: files; `vae` and `whisper`: folders."""

    config: Path
    unet: Path
    vae: Path
    whisper: Path

    @property
    def mark(self) -> tuple[str, int, int]:
        """Identifies the VAE: what it encoded is cached under this."""
        weights = next(self.vae / name for name in VAE_WEIGHTS if (self.vae / name).is_file())
        state = weights.stat()
        return (str(weights), state.st_size, state.st_mtime_ns)


def find_files(model: str, models: str) -> MuseTalkFiles:
    """The files of the weights. Raises StartFailed with the commands that fetch them, or naming the one that is missing."""
    folder = find_folder(model, models)
    if folder is None:
        target = target_folder(model, models)
        raise missing_weights("musetalk", model, fetch_commands(target), target)
    unet = next(
        ((folder / name, config, names) for name, config, names in UNETS if (folder / name).is_dir()), None
    )
    if unet is None:
        raise _lacks(folder, f"the folder {UNETS[0][0]}")
    place, config, names = unet
    check_files("musetalk", place, (config,))
    vae, whisper = _below(folder, VAES), _below(folder, WHISPERS)
    check_files("musetalk", vae, ("config.json",))
    check_files("musetalk", whisper, ("config.json", "preprocessor_config.json"))
    _one_of(vae, VAE_WEIGHTS)
    _one_of(whisper, WHISPER_WEIGHTS)
    return MuseTalkFiles(place / config, _one_of(place, names), vae, whisper)


def fetch_commands(target: Path) -> list[str]:
    """What fetches the official folder; the detectors that lie beside it are not needed."""
    return [
        hub_command("TMElyralab/MuseTalk", target, "musetalkV15/musetalk.json", "musetalkV15/unet.pth"),
        hub_command(
            "stabilityai/sd-vae-ft-mse",
            target / VAES[0],
            "config.json",
            "diffusion_pytorch_model.safetensors",
        ),
        hub_command(
            "openai/whisper-tiny",
            target / WHISPERS[0],
            "config.json",
            "model.safetensors",
            "preprocessor_config.json",
        ),
    ]


def _below(folder: Path, names: tuple[str, ...]) -> Path:
    place = next((folder / name for name in names if (folder / name).is_dir()), None)
    if place is None:
        raise _lacks(folder, f"the folder {names[0]}")
    return place


def _one_of(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file() and (folder / name).stat().st_size:
            return folder / name
    raise _lacks(folder, " or ".join(names))


def _lacks(folder: Path, what: str) -> StartFailed:
    return StartFailed(
        f"The folder {folder} is not a complete musetalk model: {what} is missing or empty. Fetch it again.",
        code="weights_missing",
        param="model",
    )
