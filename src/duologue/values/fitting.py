"""What becomes of the pictures, sounds and videos of a request for a model that may not take them as they are.

Owns the rule that admission, the page's preview and the fitting itself (`gateway/media`) share, and the budget of frames, pixels and
tokens. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct

from duologue.values.messages import MODALITY, Detail, ImagePart, Message, Part, TextPart
from duologue.values.requests import ChatRequest, ModelCard, Unmet

Treatment = Literal["keep", "transcribe", "frames", "frames_and_sound", "leave_out", "refuse"]
"""`transcribe`: sound becomes text. `frames`: a video becomes pictures, with `frames_and_sound` its sound too. `leave_out`: a sample of a
voice is no part of the prompt."""

UNFIT = "modality_unsupported"
"""The code of what cannot be fitted, everywhere."""
MEDIA_SHARE = 0.5
"""Of the context, at most, for the frames of videos."""
FRAME_MEGAPIXELS = (0.1, 0.6)
"""The least and the most of a frame: below that little can be told, and above it costs more than it shows."""
PIXELS_A_TOKEN = 784
"""Pixels that the finest of the common projectors make a token of: 28 by 28."""
PICTURE_TOKENS = 256
"""The least that a picture is taken for: many projectors give every picture the same number."""
LOW_DETAIL_MEGAPIXELS = 512 * 512 / 1_000_000
"""Of a picture with `detail: low`: what one look of OpenAI's models sees of it."""
SOUND_TOKENS, LEAST_SOUND_TOKENS = 25, 6
"""Of a second of sound, with the finest and the coarsest of the common projectors."""
SOUND_SHARE = 0.4
"""Of the context, at most, for sounds that can give way: beside the frames of videos there is room for words."""
TOO_LONG = "sound_too_long"
"""The code of sound that no prompt of the model has room for."""


class MediaBudget(Struct, frozen=True):
    """What the pictures, sounds and videos of one request may cost: megapixels of a picture and of all, frames of all videos, minutes of
    a video, and of all sound that the model hears."""

    image_megapixels: float = 4.0
    request_megapixels: float = 64.0
    video_frames: int = 64
    video_minutes: float = 30.0
    sound_minutes: float = 30.0


class HeardSound(Struct, frozen=True):
    """Sound that the model hears. `place`: its message and part. `at_hand`: it was not answered yet. `of_video`: without it, the video is
    still pictures."""

    place: tuple[int, int]
    seconds: float
    at_hand: bool
    of_video: bool = False


class SoundBudget(Struct, frozen=True):
    """Seconds of sound in one prompt: `share` while other sounds can give way, and `most`, beyond which it surely does not fit."""

    share: float
    most: float


class FrameBudget(Struct, frozen=True):
    """What one video may become."""

    frames: int
    megapixels: float


def treatment(kind: str, takes: Collection[str], *, hears: bool, is_sample: bool = False) -> Treatment:
    """What becomes of a part of this kind for a model that takes these modalities. `hears`: there is a recogniser. `is_sample`: it is in
    a system message."""
    if kind == "audio" and is_sample:
        return "leave_out"
    if kind in takes:
        return "keep"
    if kind == "audio" and hears:
        return "transcribe"
    if kind == "video" and "image" in takes:
        return "frames_and_sound" if "audio" in takes else "frames"
    return "refuse"


def treatment_of(message: Message, part: Part, card: ModelCard, *, hears: bool) -> Treatment:
    """What becomes of a part of this message."""
    return treatment(MODALITY[type(part)], card.accepted, hears=hears, is_sample=message.role == "system")


def has_media(request: ChatRequest) -> bool:
    return any(not isinstance(part, TextPart) for message in request.messages for part in message.parts)


def refused(card: ModelCard, request: ChatRequest, *, hears: bool) -> Unmet | None:
    """The first part that the model cannot take in any form, or None."""
    for number, message in enumerate(request.messages):
        for index, part in enumerate(message.parts):
            if treatment_of(message, part, card, hears=hears) == "refuse":
                where, kind = f"messages[{number}].content[{index}]", MODALITY[type(part)]
                takes = ", ".join(card.modalities)
                return Unmet(where, f"{where} is {kind}; the model {card.name} takes {takes}.", UNFIT)
    return None


def frame_budget(context: int, videos: int, seconds: float, rate: float, budget: MediaBudget) -> FrameBudget:
    """What one of `videos` videos, so many seconds long, may become at `rate` frames a second. `context`: tokens of one chat, 0 where
    that is unknown. Fewer frames only where smaller ones are not enough."""
    least, most = FRAME_MEGAPIXELS
    most = min(most, budget.image_megapixels)
    frames = max(1, min(budget.video_frames // max(1, videos), math.ceil(seconds * rate)))
    megapixels = min(most, max(least, budget.request_megapixels / max(1, videos) / frames))
    if context:
        tokens = context * MEDIA_SHARE / max(1, videos)
        frames = max(1, min(frames, int(tokens / PICTURE_TOKENS)))
        megapixels = min(megapixels, max(least, tokens / frames * PIXELS_A_TOKEN / 1_000_000))
    return FrameBudget(frames, round(megapixels, 3))


def sound_budget(context: int, budget: MediaBudget) -> SoundBudget:
    """What may be heard in one prompt. `context`: tokens of one chat, 0 where that is unknown. The share is estimated on the high side and
    the most on the low side: what might fit is left to the engine, which counts."""
    most = budget.sound_minutes * 60
    if not context:
        return SoundBudget(most, most)
    return SoundBudget(
        min(most, context * SOUND_SHARE / SOUND_TOKENS), min(most, context / LEAST_SOUND_TOKENS)
    )


def unheard(sounds: Sequence[HeardSound], budget: SoundBudget) -> frozenset[tuple[int, int]]:
    """The places of the sounds, in the order of the request, that give way: what is at hand is heard, then the newest as long as there is
    room. The newest recording of all is heard even where it takes more than the share, as on the turn that brought it."""
    used = sum(sound.seconds for sound in sounds if sound.at_hand and not sound.of_video)
    gone: set[tuple[int, int]] = set()
    for sound in reversed(sounds):
        if sound.at_hand and not sound.of_video:
            continue
        is_newest = not used and not sound.of_video and sound.seconds <= budget.most
        if is_newest or used + sound.seconds <= budget.share:
            used += sound.seconds
        else:
            gone.add(sound.place)
    return frozenset(gone)


def too_long(sounds: Sequence[HeardSound], card: ModelCard, budget: MediaBudget) -> Unmet | None:
    """The first sound at hand that the prompt surely has no room for, after those before it; None where all of them may fit."""
    most, seconds = sound_budget(card.context, budget).most, 0.0
    for sound in sounds:
        if sound.at_hand and not sound.of_video:
            seconds += sound.seconds
            if seconds > most:
                where = f"messages[{sound.place[0]}].content[{sound.place[1]}]"
                return Unmet(where, f"{where}: {too_long_sentence(seconds, card, budget)}", TOO_LONG)
    return None


def too_long_sentence(seconds: float, card: ModelCard, budget: MediaBudget) -> str:
    """What to do about so many seconds of sound."""
    if seconds > budget.sound_minutes * 60:
        most = f"{budget.sound_minutes:g} minutes of sound in one request (setting limits.sound_minutes)"
        return f"A model hears at most {most}, and this makes {seconds / 60:.1f}; send a shorter recording."
    most = f"{sound_budget(card.context, budget).most:.0f} s of sound"
    return (
        f"The model {card.name} has a context of {card.context:,} tokens, too few for more than {most}, and this makes {seconds:.0f} s; "
        "send a shorter recording, or choose a model with a larger context."
    )


def picture_megapixels(pictures: int, budget: MediaBudget, detail: Detail = "") -> float:
    """The largest size of each of so many pictures of a request."""
    most = min(budget.image_megapixels, budget.request_megapixels / max(1, pictures))
    return min(most, LOW_DETAIL_MEGAPIXELS) if detail == "low" else most


def picture_tokens(pixels: float) -> int:
    """An estimate of the tokens of a picture, on the high side."""
    return max(PICTURE_TOKENS, math.ceil(pixels / PIXELS_A_TOKEN))


def sound_tokens(seconds: float) -> int:
    """An estimate of the tokens of sound that a model hears, on the high side."""
    return math.ceil(seconds * SOUND_TOKENS)


def count_pictures(request: ChatRequest) -> int:
    return sum(isinstance(part, ImagePart) for message in request.messages for part in message.parts)
