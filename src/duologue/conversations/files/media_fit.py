"""What a model will get of an attached file, told before it is sent: for the page, through `api/files.py`.

Owns the figures. The rule is `values.fitting`'s, which admission and the fitting itself follow too.
"""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from duologue.config.settings import LimitSettings
from duologue.conversations.files.attachments import MEGABYTE
from duologue.conversations.files.blobs import Blobs
from duologue.decoder.service import decode
from duologue.errors import BadRequest, TooLarge
from duologue.media import documents, images, recordings, sniff, videos
from duologue.media.frames import fitted_size
from duologue.values import fitting
from duologue.values.conversations import Blob
from duologue.values.requests import ModelCard

BYTES_A_TOKEN = 3.6
"""Of text, roughly."""
WORDS_A_SECOND = 4
"""Tokens of a transcript for a second of speech."""


class MediaFit(Struct, frozen=True):
    """`kind`: image, audio, video, document or other. `became`: what the model gets. `seconds`, `width` and `height` are the file's own;
    `frames` pictures of `pixels` pixels each reach the model, for about `tokens` tokens. `code` and `message`: why it is refused.
    `most_seconds`: of sound that the model hears, what all sounds of one message may have together."""

    kind: str
    became: Literal["kept", "resized", "text", "frames", "frames_and_sound", "refused"] = "kept"
    seconds: float = 0.0
    width: int = 0
    height: int = 0
    frames: int = 0
    pixels: int = 0
    tokens: int = 0
    code: str = ""
    message: str = ""
    most_seconds: float = 0.0


async def media_fit(
    blobs: Blobs, limits: LimitSettings, user: str, hash: str, card: ModelCard, *, hears: bool
) -> MediaFit:
    """What the model of `card` gets of this file. Raises NotFound, and Busy when too many files are being read."""
    blob = await blobs.get(user, hash)
    family = sniff.family(blob.mime)
    kind = {"pdf": "document", "text": "document"}.get(family, family)
    try:
        if kind == "document" or family == "other":
            return await _document_fit(blobs, limits, user, blob, kind)
        source, measured = await blobs.source(hash), None
        if kind == "video":
            measured = await decode(videos.measure_video, source, user=user)
            # Browsers record sound alone in the same kinds of files.
            kind = "video" if measured.width or not measured.has_sound else "audio"
        treatment = fitting.treatment(kind, card.accepted, hears=hears)
        if treatment == "refuse":
            return _unfit(kind, card)
        if measured is not None and kind == "video":
            return _video_fit(measured, limits, card, treatment)
        if kind == "image":
            picture = await decode(images.for_model, source, limits.image_megapixels, user=user)
            width, height = blob.width or picture.width, blob.height or picture.height
            pixels = picture.width * picture.height
            became: Literal["kept", "resized"] = "resized" if pixels < width * height else "kept"
            tokens = fitting.picture_tokens(pixels)
            return MediaFit(kind, became, 0.0, width, height, 1, pixels, tokens)
        seconds = await decode(recordings.measure_sound, source, user=user) / 1000
        if treatment == "transcribe":
            return MediaFit(kind, "text", seconds, tokens=math.ceil(seconds * WORDS_A_SECOND))
        budget = limits.media_budget()
        most = fitting.sound_budget(card.context, budget).most
        if seconds > most:
            sentence = fitting.too_long_sentence(seconds, card, budget)
            return MediaFit(kind, "refused", seconds, code=fitting.TOO_LONG, message=sentence)
        return MediaFit(kind, "kept", seconds, tokens=fitting.sound_tokens(seconds), most_seconds=most)
    except (BadRequest, TooLarge) as problem:
        return MediaFit(kind, "refused", code=problem.code, message=problem.message)


def _unfit(kind: str, card: ModelCard) -> MediaFit:
    takes = " and ".join(card.modalities)
    sentence = f"The model {card.name} takes {takes}; choose another model or leave the file out."
    return MediaFit(kind, "refused", code=fitting.UNFIT, message=sentence)


def _video_fit(
    measured: videos.MeasuredVideo, limits: LimitSettings, card: ModelCard, treatment: fitting.Treatment
) -> MediaFit:
    videos.check_measured(measured, limits.video_minutes)
    media = limits.media_budget()
    budget = fitting.frame_budget(card.context, 1, measured.seconds, 1.0, media)
    width, height = fitted_size(measured.width, measured.height, budget.megapixels)
    sound = measured.has_sound and treatment != "frames"
    if treatment == "frames_and_sound":
        sound = sound and measured.seconds <= fitting.sound_budget(card.context, media).share
    tokens = budget.frames * fitting.picture_tokens(width * height)
    tokens += fitting.sound_tokens(measured.seconds) if sound else 0
    became: Literal["kept", "frames", "frames_and_sound"] = "kept"
    if treatment != "keep":
        became = "frames_and_sound" if sound else "frames"
    return MediaFit(
        "video",
        became,
        round(measured.seconds, 2),
        measured.width,
        measured.height,
        budget.frames,
        width * height,
        tokens,
    )


async def _document_fit(blobs: Blobs, limits: LimitSettings, user: str, blob: Blob, kind: str) -> MediaFit:
    """A document as text; one without text would be given as pictures of its pages."""
    if sniff.family(blob.mime) == "pdf":
        source = await blobs.source(blob.hash)
        text = await decode(documents.text, source, limits.text_mb * MEGABYTE, user=user)
        if not text:
            return MediaFit(kind, "frames", frames=await decode(documents.page_count, source, user=user))
        return MediaFit(kind, "text", tokens=math.ceil(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN))
    if kind == "document":
        return MediaFit(kind, "text", tokens=math.ceil(blob.size / BYTES_A_TOKEN))
    return MediaFit(
        kind, "refused", code="file_unsupported", message="A file of this kind cannot be given to a model."
    )
