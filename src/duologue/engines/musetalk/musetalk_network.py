"""MuseTalk's networks: Whisper's encoder hears, the VAE reads and paints faces, the UNet moves the lips. The only file here that imports
PyTorch.

Used by `engine` in its thread lane: nothing here is called twice at a time. One forward pass makes a frame, without noise, steps or guidance. The latents
of a face are the mode of the VAE's distribution and not a sample of it, so that the same sound makes the same frames. Attention is
PyTorch's own (SDPA), so no other library of kernels is needed.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from duologue.engines.device_failures import device_errors
from duologue.engines.devices import Device, numbered_cards, require_card
from duologue.engines.musetalk.musetalk_weights import MuseTalkFiles
from duologue.errors import StartFailed
from duologue.values.audio import HEARD_RATE

LATENT_SIDE = 32
"""Latents of a face, to a side: 256 pixels with the VAE it was trained with."""
PRECISIONS = ("auto", "float32", "float16", "bfloat16")


class MuseTalkNetwork:
    """The loaded networks. Calls block, and raise EngineFailed, or DeviceLost where the card failed."""

    def __init__(self, torch: Any, unet: Any, vae: Any, whisper: Any, extractor: Any) -> None:
        self._torch, self._unet, self._vae, self._whisper = torch, unet, vae, whisper
        self._extractor = extractor
        self._device, self._precision = unet.device, unet.dtype
        self._scale = float(vae.config.scaling_factor)
        self._positions: Any = None

    @property
    def face_side(self) -> int:
        """Pixels of the square that a face is drawn in."""
        return LATENT_SIDE << (len(self._vae.config.block_out_channels) - 1)

    def hear(self, sound: Any, steps: int) -> Any:
        """What the encoder makes of up to half a minute of sound (floats, 16 kHz): the first `steps` of 50 a second, shape (steps, layers,
        width)."""
        torch = self._torch
        with device_errors("musetalk"), torch.inference_mode():
            heard = self._extractor(sound, sampling_rate=HEARD_RATE, return_tensors="pt").input_features
            encoded = self._whisper.encoder(
                heard.to(self._device, self._precision), output_hidden_states=True
            )
            return torch.stack(encoded.hidden_states, dim=2)[0, :steps]

    def encode(self, face: Any) -> Any:
        """The latents of a face (bytes, side x side x 3) for `draw`: its upper half, then all of it. Shape (2 x channels, 32, 32)."""
        torch = self._torch
        with device_errors("musetalk"), torch.inference_mode():
            whole = torch.tensor(face, device=self._device).permute(2, 0, 1)[None] / 255
            upper = whole.clone()
            # Before the values are centred: what is hidden is black, and not grey.
            upper[:, :, whole.shape[2] // 2 :] = 0
            pair = (torch.cat([upper, whole]) * 2 - 1).to(self._precision)
            latents = self._vae.encode(pair).latent_dist.mode() * self._scale
            return torch.cat([latents[0], latents[1]]).float().cpu().numpy()

    def draw(self, latents: Any, heard: Any, windows: list[list[int | None]]) -> Any:
        """The faces that say what each window of `heard` (of `hear`) has; a step of None is silence. `latents`: one of `encode` for each
        window. Bytes of the shape (faces, side, side, 3)."""
        torch = self._torch
        with device_errors("musetalk"), torch.inference_mode():
            seen = torch.stack([self._window(heard, window) for window in windows])
            known = torch.tensor(latents, device=self._device, dtype=self._precision)
            step = torch.zeros(1, dtype=torch.long, device=self._device)
            made = self._unet(known, step, encoder_hidden_states=seen).sample
            picture = self._vae.decode(made / self._scale).sample
            levels = ((picture.float() / 2 + 0.5).clamp(0, 1) * 255).round()
            return levels.to(torch.uint8).permute(0, 2, 3, 1).cpu().numpy()

    def _window(self, heard: Any, window: list[int | None]) -> Any:
        """The tokens of one frame: all layers of each step in turn, and where each token stands."""
        silence = self._torch.zeros_like(heard[0]) if len(heard) else self._silence()
        steps = [silence if step is None else heard[step] for step in window]
        tokens = self._torch.cat(steps)
        return tokens + self._placed(len(tokens))

    def _silence(self) -> Any:
        config = self._whisper.config
        return self._torch.zeros(
            config.encoder_layers + 1, config.d_model, device=self._device, dtype=self._precision
        )

    def _placed(self, count: int) -> Any:
        """The sinusoidal encoding of positions, shape (count, width)."""
        if self._positions is None or len(self._positions) != count:
            torch, width = self._torch, int(self._unet.config.cross_attention_dim)
            place = torch.arange(count).float()[:, None]
            turns = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
            made = torch.zeros(count, width)
            made[:, 0::2], made[:, 1::2] = torch.sin(place * turns), torch.cos(place * turns)
            self._positions = made.to(self._device, self._precision)
        return self._positions


def open_network(files: MuseTalkFiles, device: Device, precision: str) -> MuseTalkNetwork:
    """Load the networks. Raises ImportError without the libraries, StartFailed for weights that do not belong together or are damaged
    and for a card that is not there, and as the libraries do for settings they cannot read."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from safetensors import SafetensorError
    from transformers import WhisperFeatureExtractor, WhisperModel

    has_cards = torch.cuda.is_available()
    require_card(device, numbered_cards(torch.cuda.device_count() if has_cards else 0))
    on_card = device.kind == "cuda" or (device.kind == "auto" and has_cards)
    place = f"cuda:{device.index}" if on_card else "cpu"
    chosen = ("float16" if on_card else "float32") if precision == "auto" else precision
    kind = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}[chosen]
    try:
        unet = UNet2DConditionModel.from_config(json.loads(files.config.read_text(encoding="utf-8")))
        fill(unet, read_values(torch, files.unet), files.unet)
        vae = AutoencoderKL.from_pretrained(files.vae, local_files_only=True)
        whisper = WhisperModel.from_pretrained(
            files.whisper, local_files_only=True, attn_implementation="sdpa", dtype=torch.float32
        )
    except (SafetensorError, UnpicklingError, EOFError) as error:
        raise ValueError(f"a file is damaged: {error}") from error
    check_belonging(unet.config, vae.config, whisper.config)
    extractor = WhisperFeatureExtractor.from_pretrained(files.whisper, local_files_only=True)
    for part in (unet, vae, whisper):
        part.eval().requires_grad_(False).to(place, kind)
    return MuseTalkNetwork(torch, unet, vae, whisper, extractor)


def read_values(torch: Any, path: Path) -> dict[str, Any]:
    """The values in a file of weights. What could run code when it is read is refused. Raises StartFailed, and as the libraries do."""
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return dict(load_file(path))
    try:
        values = torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise StartFailed(
            f"{path} is damaged, or contains more than weights, which is not run. Fetch the official file again.",
            param="model",
        ) from None
    if not isinstance(values, dict) or not all(isinstance(value, torch.Tensor) for value in values.values()):
        raise StartFailed(
            f"{path} contains no weights. Fetch the official file again.",
            code="weights_missing",
            param="model",
        )
    return values


def fill(network: Any, values: dict[str, Any], path: Path) -> None:
    """Put the values into the network, all of them. Raises StartFailed for those of another model."""
    own = network.state_dict()
    strange = len(values.keys() - own.keys())
    missing = len(own.keys() - values.keys())
    shaped = sum(value.shape != own[name].shape for name, value in values.items() if name in own)
    if strange or missing or shaped:
        raise StartFailed(
            f"{path} holds another model than its settings describe: {missing} values are missing, {strange} are unknown and {shaped} "
            "have another shape. Fetch both files of one version of MuseTalk.",
            param="model",
        )
    network.load_state_dict(values)


def check_belonging(unet: Any, vae: Any, whisper: Any) -> None:
    """Raises StartFailed unless these networks can work together."""
    if unet.cross_attention_dim != whisper.d_model:
        raise StartFailed(
            f"MuseTalk's UNet was trained with sound of width {unet.cross_attention_dim}, and the Whisper model beside it has "
            f"{whisper.d_model}. Put whisper-tiny into the folder whisper.",
            param="model",
        )
    if unet.in_channels != 2 * vae.latent_channels or unet.out_channels != vae.latent_channels:
        raise StartFailed(
            f"MuseTalk's UNet takes {unet.in_channels} channels and the VAE beside it makes {vae.latent_channels}. Put sd-vae-ft-mse into the "
            "folder sd-vae.",
            param="model",
        )
