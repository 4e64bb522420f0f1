"""Pocket TTS by transformers: the networks, and the loop that makes a sentence frame by frame.

Used by `pocket`. The library's own `generate` returns a whole sentence, seconds after its beginning could have been heard, so the
loop is here: the voice is read once into a cache, each sentence continues a copy of that cache, and its latents become sound
while later ones are made. Calls block. The library would ask the hub for missing files; it is given local paths only.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import to_floats, to_pcm
from duologue.engines.devices import Device, numbered_cards, require_card
from duologue.engines.tts.pocket_frames import (
    EndRule,
    SentenceEnd,
    batch_size,
    context_frames,
    most_frames,
)
from duologue.errors import StartFailed
from duologue.values.audio import SPOKEN_RATE

FADE = SPOKEN_RATE // 200
"""Samples over which a sentence fades in: a fresh decoder begins with a click."""


class FlowSampling(Struct, frozen=True):
    """`steps` of the flow that makes a latent, from noise of variance `temperature`."""

    steps: int = 1
    temperature: float = 0.0


class PocketNetwork:
    """The two networks. A voice is the cache of the positions before a text; it is never changed."""

    def __init__(self, torch: Any, model: Any, codec: Any, tokenizer: Any, extractor: Any) -> None:
        self._torch, self._model, self._codec = torch, model, codec
        self._tokenizer, self._extractor = tokenizer, extractor
        settings = model.generation_config
        self.sampling = FlowSampling(
            getattr(settings, "num_flow_steps", None) or 1,
            (settings.temperature or 1.0) if settings.do_sample else 0.0,
        )
        """As the weights ask for it; may be replaced."""
        self._end = EndRule(
            _or(getattr(settings, "eos_threshold", None), EndRule().threshold),
            _or(getattr(settings, "min_frames_before_eos", None), EndRule().earliest),
        )
        self._frame = int(codec.config.frame_size)
        self._context = context_frames(codec.config.sliding_window, codec.config.latent_stride)

    @property
    def clones(self) -> bool:
        """Whether the codec has the half that reads a recording; it is distributed separately."""
        return self._codec.encoder is not None

    @property
    def width(self) -> int:
        """The numbers of a latent."""
        return int(self._model.config.latent_dim)

    def read_recording(self, pcm: bytes) -> Any:
        """The voice of a recording (16-bit PCM, 24 kHz)."""
        with self._torch.inference_mode():
            sound = self._extractor(to_floats(pcm), sampling_rate=SPOKEN_RATE)
            made = self._codec.encode(
                sound["input_values"].to(self._model.device), sound["padding_mask"].to(self._model.device)
            )
            return self.read_latents(made.latents[0][made.latents_mask[0].bool()])

    def read_latents(self, latents: Any) -> Any:
        """The voice of a recording that the codec has read: latents, shape (frames, width)."""
        config = self._model.config
        ids = [config.audio_prompt_bos_token_id, *[config.audio_prompt_token_id] * len(latents)]
        with self._torch.inference_mode():
            read = self._model(
                input_ids=self._torch.tensor([ids], device=self._model.device),
                audio_prompt_latents=latents[None].to(self._model.device),
                use_cache=True,
            )
        return read.past_key_values

    def say(self, text: str, voice: Any) -> Iterator[bytes]:
        """The sound of one sentence, 16-bit PCM at 24 kHz, a few frames at a time."""
        latents: list[Any] = []
        sounded = number = 0
        for latent in self._latents(text, voice):
            latents.append(latent)
            if len(latents) - sounded >= batch_size(number):
                yield self._sound(latents, sounded)
                sounded, number = len(latents), number + 1
        if sounded < len(latents):
            yield self._sound(latents, sounded)

    def _latents(self, text: str, voice: Any) -> Iterator[Any]:
        """The latents of a sentence, each of shape (width), in the codec's scale."""
        config = self._model.config
        prompt = self._prompt(text)
        tokens = self._tokenizer.encode(prompt, add_special_tokens=False)
        end = SentenceEnd(
            self._end,
            words=len(prompt.split()),
            most=most_frames(len(tokens), config.frame_rate),
        )
        # A copy, because a step writes into the cache: other calls may speak with the same voice now.
        cache = copy.deepcopy(voice)
        ids, latent, ended = [*tokens, config.audio_bos_token_id], None, False
        while not ended:
            latent, sign = self._step(ids, latent, cache)
            ended = end.take(sign)
            ids = [config.audio_latent_token_id]
            with self._torch.inference_mode():
                yield self._model.denormalize_latents(latent)[0]

    def _step(self, ids: list[int], latent: Any, cache: Any) -> tuple[Any, float]:
        """The next latent, shape (1, width), and the sign of the end."""
        with self._torch.inference_mode():
            read = self._model(
                input_ids=self._torch.tensor([ids], device=self._model.device),
                audio_latents=None if latent is None else latent[:, None],
                past_key_values=cache,
                use_cache=True,
            )
            state = read.last_hidden_state[:, -1]
            noise = self._torch.randn(1, self.width, device=state.device, dtype=state.dtype) * math.sqrt(
                self.sampling.temperature
            )
            return self._model.sample_latent(state, noise, self.sampling.steps), float(read.logits[0, -1, 0])

    def _sound(self, latents: list[Any], first: int) -> bytes:
        """The sound of the latents from `first` on."""
        begin = max(0, first - self._context)
        with self._torch.inference_mode():
            window = self._torch.stack(latents[begin:])[None]
            sound = self._codec.decode(window).audio_values[0, 0]
            sound = sound[(first - begin) * self._frame : len(latents[begin:]) * self._frame].float()
            if not first:
                sound[:FADE] *= self._torch.linspace(0, 1, FADE, device=sound.device)[: len(sound)]
            return to_pcm(sound.cpu().numpy())

    def _prompt(self, text: str) -> str:
        """The text as the network was trained to read it."""
        text = " ".join(text.split())
        if not self._tokenizer.chat_template:
            text = text[:1].upper() + text[1:]
            return text if text[-1:] in ".!?" else f"{text}."
        turn = {"role": "user", "content": [{"type": "text", "text": text}]}
        prompt = str(self._tokenizer.apply_chat_template([turn], tokenize=False))
        # The places of the voice and of the sound are put in by number.
        for name in ("audio_prompt_bos_token", "audio_prompt_token", "audio_bos_token", "audio_latent_token"):
            if place := getattr(self._tokenizer, name, None):
                prompt = prompt.replace(str(place), "")
        return prompt


def open_network(folder: Path, codec: Path, device: Device) -> PocketNetwork:
    """Load the networks. Raises ImportError without the library, StartFailed for a codec of another rate or a card that is not there, and as the library
    does for files it cannot read."""
    import torch
    from safetensors import SafetensorError
    from transformers import (
        AutoTokenizer,
        PocketTTSAudioTokenizerModel,
        PocketTTSFeatureExtractor,
        PocketTTSForConditionalGeneration,
    )

    has_cards = torch.cuda.is_available()
    require_card(device, numbered_cards(torch.cuda.device_count() if has_cards else 0))
    on_card = device.kind == "cuda" or (device.kind == "auto" and has_cards)
    place = f"cuda:{device.index}" if on_card else "cpu"
    try:
        model = PocketTTSForConditionalGeneration.from_pretrained(folder, local_files_only=True).eval()
        sound = PocketTTSAudioTokenizerModel.from_pretrained(codec, local_files_only=True).eval()
    except SafetensorError as error:
        raise ValueError(f"a file is damaged: {error}") from error
    if sound.config.sampling_rate != SPOKEN_RATE:
        raise StartFailed(
            f"The codec in {codec} makes sound of {sound.config.sampling_rate} Hz; only {SPOKEN_RATE} Hz is known.",
            param="codec",
        )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    frame = sound.config.frame_size
    extractor = PocketTTSFeatureExtractor(frame_size=frame, pad_to_multiple_of=frame)
    return PocketNetwork(torch, model.to(place), sound.to(place), tokenizer, extractor)


def read_stored_latents(path: Path, width: int) -> Any:
    """The latents of a voice stored as one tensor, shape (frames, width); None where the file has something else."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = list(load_file(path).values())
    except SafetensorError:
        return None
    if len(tensors) != 1 or not tensors[0].numel() or tensors[0].shape[-1] != width:
        return None
    return tensors[0].reshape(-1, width)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
