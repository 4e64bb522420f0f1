"""Pictures and sounds of a prompt through the library's processor of a model: which of them it takes, and prompts with them.

Made once for a loaded model by `causal_model`; `engine` reads prompts with it. The session renders the template around a place for each medium; here
the text that the model's own template has in such a place is put there, which the processor makes as many tokens as the medium takes. Blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duologue.engines.decoding.request_media import heard_sound, medium_key, open_picture, samples_of
from duologue.engines.huggingface.processed_prompt import ProcessedPrompt
from duologue.errors import BadRequest
from duologue.values.audio import HEARD_RATE
from duologue.values.messages import AudioPart, ImagePart

PARTS = ("image_processor", "feature_extractor")
"""What a processor reads pictures and sounds with."""


class MediaProcessor:
    """`processor` is the library's; `places`: what stands for a medium, by kind ("image", "audio"), as text and as a token."""

    def __init__(self, processor: Any, template: str, places: dict[str, tuple[str, int]]) -> None:
        self._processor = processor
        self._tokenizer = processor.tokenizer
        self._texts = {kind: text for kind, (text, _) in places.items()}
        self._written = {
            kind: place_text(template, text, self._tokenizer.get_added_vocab())
            for kind, text in self._texts.items()
        }
        self._tokens = frozenset(token for _, token in places.values())

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the model takes besides text: "image", "audio"."""
        return tuple(self._texts)

    def prompt(
        self, pieces: Sequence[str | ImagePart | AudioPart], leading: tuple[int, ...] = ()
    ) -> ProcessedPrompt:
        """A prompt of these texts and media, in order; `leading` tokens are put before it where it does not begin with them. Raises BadRequest
        for a medium that cannot be read."""
        text, pictures, sounds = "", [], []
        media: list[ImagePart | AudioPart] = []
        for piece in pieces:
            if isinstance(piece, str):
                self._check_text(piece)
                text += piece
            elif isinstance(piece, ImagePart):
                pictures.append(open_picture(piece).convert("RGB"))
                text += self._written["image"]
                media.append(piece)
            else:
                sounds.append(samples_of(heard_sound(piece)))
                text += self._written["audio"]
                media.append(piece)
        before = self._tokenizer.encode(text, add_special_tokens=False)[: len(leading)]
        if tuple(before) != leading:
            text = "".join(self._tokenizer.convert_ids_to_tokens(list(leading))) + text
        arguments: dict[str, Any] = {"text": [text], "return_tensors": "pt", "add_special_tokens": False}
        if pictures:
            arguments["images"] = pictures
        if sounds:
            arguments |= {"audio": sounds, "sampling_rate": HEARD_RATE}
        try:
            made = dict(self._processor(**arguments))
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            raise BadRequest(
                f"The model's processor cannot read a picture or sound of these messages: {error}",
                code="sound_unreadable" if sounds and not pictures else "image_unreadable",
                param="messages",
            ) from None
        tokens = made.pop("input_ids")[0].tolist()
        made.pop("attention_mask", None)
        return ProcessedPrompt(tokens, self._tokens, medium_key(*media), made)

    def _check_text(self, text: str) -> None:
        for place in self._texts.values():
            if place in text:
                raise BadRequest(
                    f"A message contains the text {place}, which stands for a picture or sound in this model. Leave it out.",
                    param="messages",
                )


def open_processor(
    transformers: Any, folder: Path, config: Any, template: str
) -> tuple[MediaProcessor | None, tuple[str, ...]]:
    """The processor of a model, None where it takes text alone or its folder has none; and a warning where one cannot be used."""
    if getattr(config, "vision_config", None) is None and getattr(config, "audio_config", None) is None:
        return None, ()
    try:
        processor = transformers.AutoProcessor.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, ImportError, TypeError, AttributeError, KeyError) as error:
        reason = next(iter(str(error).strip().splitlines()), "")
        needs = " pip install torchvision, then start again." if "torchvision" in str(error).lower() else ""
        return None, (
            f"Pictures and sound are refused: {folder} has no processor for them ({reason}).{needs}",
        )
    places = places_of(processor, config)
    return (MediaProcessor(processor, template, places) if places else None), ()


def places_of(processor: Any, config: Any) -> dict[str, tuple[str, int]]:
    """For each kind of media that the processor reads, the text that stands for one in a prompt, and the token of the model that stands for
    a part of one."""
    found: dict[str, tuple[str, int]] = {}
    for kind, part in zip(("image", "audio"), PARTS, strict=True):
        text = getattr(processor, f"{kind}_token", None)
        numbers = (getattr(config, f"{kind}_token_{name}", None) for name in ("id", "index"))
        number = next((each for each in numbers if isinstance(each, int)), None)
        reader = getattr(processor, part, None)
        if reader is None or number is None or not isinstance(text, str):
            continue
        if kind == "audio" and getattr(reader, "sampling_rate", HEARD_RATE) != HEARD_RATE:
            continue
        found[kind] = (text, number)
    return found


def place_text(template: str, token: str, added: dict[str, int]) -> str:
    """What a template writes for a medium: its token with the control tokens next to it (`<|vision_start|><|image_pad|><|vision_end|>`).
    Found in the source of the template, which is not run here; the token alone where it does not name it."""
    beside = r"(?:<[^<>\s'\"{}]+>|\[[A-Z_]+\])*"
    found = re.search(rf"({beside}){re.escape(token)}({beside})", template)
    if found is None:
        return token
    known = [re.findall(r"<[^<>]+>|\[[A-Z_]+\]", side) for side in found.groups()]
    if any(each not in added for side in known for each in side):
        return token
    return "".join((*known[0], token, *known[1]))
