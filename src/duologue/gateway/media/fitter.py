"""Fits the media of a request to a model: pictures are checked and scaled down, sound that it cannot hear is written down, a video that
it cannot take becomes frames, and sound for a model that hears.

Owns the order of the parts that take a part's place, and what is told about it. What becomes of what is `values.fitting`'s decision;
decoder processes read the files, the voice worker writes sound down. Called by `fitted_generate` for every caller.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from duologue.decoder.service import decode, decode_stream
from duologue.errors import Problem, TooLarge, Unsupported
from duologue.gateway.media.media_cache import MediaCache
from duologue.gateway.speech.service import SpeechService
from duologue.media import images
from duologue.media.videos import (
    MeasuredVideo,
    Moment,
    VideoReading,
    check_measured,
    measure_video,
    read_moments,
)
from duologue.media.wav import RATE, at_rate, to_16_bit
from duologue.request_parsing import parsing
from duologue.values import fitting
from duologue.values.events import Fitted, FittingNote
from duologue.values.fitting import HeardSound, MediaBudget
from duologue.values.messages import MODALITY, AudioPart, ImagePart, Message, Part, TextPart, VideoPart
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import TranscribedPart, Transcript

UNHEARD = "(a recording, too long ago to be heard again)"
NOT_UNDERSTOOD = "(a voice message that could not be understood)"
TRANSIENT = 429
"""Problems of this status and above pass: they are no fault of a file."""


class FittedRequest(Struct, frozen=True):
    """A request that its model takes, and what was changed."""

    request: ChatRequest
    fitted: Fitted


class MediaFitter:
    """`speech`: its recogniser writes sound down."""

    def __init__(
        self, speech: SpeechService, budget: MediaBudget | None = None, cache: MediaCache | None = None
    ) -> None:
        self._speech = speech
        self._budget = budget or MediaBudget()
        self._cache = cache or MediaCache()

    async def fit(
        self, card: ModelCard, request: ChatRequest, request_id: str = "", *, user: str = ""
    ) -> FittedRequest:
        """The request as the model takes it. Raises Problem with the part's path: `modality_unsupported` for what nothing can be made of,
        `sound_too_long` for more than the prompt has room for, else what reading the file or writing it down raises. A file of an earlier turn that cannot be read becomes a note: it must not
        end a conversation."""
        work = _Fitting(self, card, request, request_id, user)
        await work.share_sound()
        fitted = [await work.message(number) for number in range(len(request.messages))]
        # A system message that was nothing but a sample of a voice.
        messages = tuple(
            new for new, old in zip(fitted, request.messages, strict=True) if new.parts or new == old
        )
        media = request.media
        if work.interleaved:
            media = msgspec.structs.replace(media, interleave=False)
        changed = msgspec.structs.replace(request, messages=messages, media=media)
        return FittedRequest(changed, Fitted(tuple(work.transcripts), tuple(work.notes)))

    @property
    def hears(self) -> bool:
        return self._speech.hears

    @property
    def budget(self) -> MediaBudget:
        return self._budget

    async def picture(self, data: bytes, megapixels: float, user: str) -> tuple[images.Picture, bool]:
        """A picture upright, without transparency, PNG or JPEG of at most so many megapixels, and whether that is smaller than it was. Without
        data: the file as it is."""
        key = await _digest(b"picture %.3f" % megapixels, data, user)
        known = self._cache.get(key, tuple)
        if known is None:
            known = await decode(images.sized_for_model, data, megapixels, user=user)
            self._cache.put(key, known, len(known[0].data) + 256)
        return known

    async def transcript(self, part: AudioPart, request_id: str, user: str) -> Transcript:
        """What is said. Raises Problem."""
        key = await _digest(b"words %d" % part.rate, part.data, user)
        known = self._cache.get(key, Transcript)
        if known is None:
            pcm = await decode(to_16_bit, part.data, part.rate, user=user)
            known = await self._speech.transcribe(pcm, request_id, user=user)
            self._cache.put(key, known, len(known.text) + 256)
        return known

    async def measured(self, data: bytes, user: str) -> MeasuredVideo:
        """How long and how large a video is. Raises BadRequest, TooLarge, Unsupported."""
        key = await _digest(b"measured", data, user)
        known = self._cache.get(key, MeasuredVideo)
        if known is None:
            known = await decode(measure_video, data, user=user)
            self._cache.put(key, known, 256)
        check_measured(known, self._budget.video_minutes)
        return known

    async def moments(self, data: bytes, reading: VideoReading, user: str) -> tuple[Moment, ...]:
        """The moments of a video. Raises as `measured`, and for sound that cannot be read."""
        key = await _digest(msgspec.msgpack.encode(reading), data, user)
        known = self._cache.get(key, tuple)
        if known is None:
            async with decode_stream(read_moments, data, reading, user=user) as items:
                known = tuple([item async for item in items])
            self._cache.put(key, known, sum(map(_size, known)))
        return known


class _Fitting:
    """The fitting of one request."""

    def __init__(
        self, fitter: MediaFitter, card: ModelCard, request: ChatRequest, request_id: str, user: str
    ) -> None:
        self._fitter, self._card, self._request = fitter, card, request
        self._request_id, self._user = request_id, user
        self._hears = fitter.hears
        self._pictures = fitting.count_pictures(request)
        self._videos = sum(isinstance(part, VideoPart) for each in request.messages for part in each.parts)
        self._new = 1 + max(
            (number for number, each in enumerate(request.messages) if each.role == "assistant"), default=-1
        )
        """The first message that was not answered yet."""
        self._unheard: frozenset[tuple[int, int]] = frozenset()
        self.transcripts: list[TranscribedPart] = []
        self.notes: list[FittingNote] = []
        self.interleaved = False

    async def share_sound(self) -> None:
        """Decide which sounds the model hears; before any message is fitted. Raises TooLarge."""
        sounds = [sound async for sound in self._sounds()]
        budget = self._fitter.budget
        if (unfit := fitting.too_long(sounds, self._card, budget)) is not None:
            raise TooLarge(unfit.message, code=unfit.code, param=unfit.param)
        self._unheard = fitting.unheard(sounds, fitting.sound_budget(self._card.context, budget))

    async def _sounds(self) -> AsyncIterator[HeardSound]:
        """The sounds of the request that the model takes."""
        for number, message in enumerate(self._request.messages):
            for index, part in enumerate(message.parts):
                treatment = fitting.treatment_of(message, part, self._card, hears=self._hears)
                place, at_hand = (number, index), number >= self._new
                if isinstance(part, AudioPart) and treatment == "keep":
                    yield HeardSound(place, _seconds(part), at_hand)
                elif isinstance(part, VideoPart) and treatment == "frames_and_sound":
                    # One that cannot be read is told of where it is made into frames.
                    with suppress(Problem):
                        measured = await self._fitter.measured(part.data, self._user)
                        if measured.has_sound:
                            yield HeardSound(place, measured.seconds, at_hand, of_video=True)

    async def message(self, number: int) -> Message:
        """The message with what takes the place of each part."""
        message = self._request.messages[number]
        if all(isinstance(part, TextPart) for part in message.parts):
            return message
        parts: list[Part] = []
        was_replaced = False
        for index, part in enumerate(message.parts):
            where = f"messages[{number}].content[{index}]"
            made = await self._parts(message, part, number, index, where)
            is_replaced = not isinstance(part, TextPart)
            for new in made:
                apart = is_replaced or was_replaced
                parts.append(_apart(parts[-1] if parts else None, new) if apart else new)
                was_replaced = False
            was_replaced = is_replaced
        return msgspec.structs.replace(message, parts=tuple(parts))

    async def _parts(
        self, message: Message, part: Part, number: int, index: int, where: str
    ) -> Sequence[Part]:
        if isinstance(part, TextPart):
            return [part]
        try:
            return await self._made(message, part, number, index, where)
        except Problem as problem:
            if number >= self._new or problem.status >= TRANSIENT:
                raise type(problem)(
                    problem.message if problem.param == where else f"{where}: {problem.message}",
                    code=problem.code,
                    status=problem.status,
                    param=where,
                    retry_after=problem.retry_after,
                ) from None
            kind = MODALITY[type(part)]
            self._note(where, part, "left_out")
            return [TextPart(f"[{kind}: it cannot be read]")]

    async def _made(
        self, message: Message, part: Part, number: int, index: int, where: str
    ) -> Sequence[Part]:
        treatment = fitting.treatment_of(message, part, self._card, hears=self._hears)
        match treatment, part:
            case "leave_out", _:
                self._note(where, part, "left_out")
                return []
            case "keep", ImagePart():
                return [await self._picture(part, where)]
            case "keep", AudioPart() if (number, index) in self._unheard:
                if self._hears:
                    return [await self._words(part, number, index, where)]
                self._note(where, part, "left_out", seconds=_seconds(part))
                return [TextPart(UNHEARD)]
            case "keep", AudioPart() if part.rate != RATE:
                return [AudioPart(await decode(at_rate, part.data, part.rate, user=self._user), RATE)]
            case "keep", _:
                return [part]
            case "transcribe", AudioPart():
                return [await self._words(part, number, index, where)]
            case (("frames" | "frames_and_sound"), VideoPart()):
                sound = treatment == "frames_and_sound" and (number, index) not in self._unheard
                return await self._frames(part, where, sound=sound)
        kind, takes = MODALITY[type(part)], ", ".join(self._card.modalities)
        sentence = f"{where} is {kind}; the model {self._card.name} takes {takes}."
        raise Unsupported(sentence, code=fitting.UNFIT, param=where)

    async def _picture(self, part: ImagePart, where: str) -> ImagePart:
        megapixels = fitting.picture_megapixels(self._pictures, self._fitter.budget, part.detail)
        picture, is_smaller = await self._fitter.picture(part.data, megapixels, self._user)
        if is_smaller:
            self._note(where, part, "resized", 1)
        return ImagePart(picture.data or part.data, picture.mime, part.detail)

    async def _words(self, part: AudioPart, number: int, index: int, where: str) -> TextPart:
        transcript = await self._fitter.transcript(part, self._request_id, self._user)
        understood = transcript.understood and bool(transcript.text)
        self.transcripts.append(TranscribedPart(number, index, transcript.text, understood))
        self._note(where, part, "text", seconds=_seconds(part))
        return TextPart(transcript.text or NOT_UNDERSTOOD)

    async def _frames(self, part: VideoPart, where: str, *, sound: bool) -> Sequence[Part]:
        budget, rate = self._fitter.budget, part.frame_rate or 1.0
        measured = await self._fitter.measured(part.data, self._user)
        frames = fitting.frame_budget(
            self._card.context,
            self._videos * max(1, min(2, part.stack_frames)),
            measured.seconds,
            rate,
            budget,
        )
        sound = sound and measured.has_sound
        reading = VideoReading(
            frames.frames, frames.megapixels, budget.video_minutes, rate, part.stack_frames, sound
        )
        moments = await self._fitter.moments(part.data, reading, self._user)
        count = sum(1 + bool(moment.stacked) for moment in moments)
        self._note(where, part, "frames_and_sound" if sound else "frames", count, measured.seconds)
        interleave = sound and self._request.media.interleave
        self.interleaved = self.interleaved or interleave
        unheard = measured.has_sound and not sound
        return _in_order(moments, interleave=interleave, seconds=measured.seconds, unheard=unheard)

    def _note(self, where: str, part: Part, became: str, count: int = 0, seconds: float = 0.0) -> None:
        note = {
            "where": where,
            "kind": MODALITY[type(part)],
            "became": became,
            "count": count,
            "seconds": round(seconds, 2),
        }
        self.notes.append(msgspec.convert(note, FittingNote))


def _in_order(moments: Sequence[Moment], *, interleave: bool, seconds: float, unheard: bool) -> list[Part]:
    """Frame, sound, collage, moment by moment; or a line that says what follows, all pictures, and the whole sound. `unheard`: there is
    sound, which the model does not get."""
    parts: list[Part] = []
    for moment in moments:
        parts.append(ImagePart(moment.picture))
        if interleave and moment.samples:
            parts.append(AudioPart(moment.samples, RATE))
        if moment.stacked:
            parts.append(ImagePart(moment.stacked))
    if interleave:
        return parts
    sound = b"".join(moment.samples for moment in moments)
    without = ", without its sound" if unheard else ""
    about = TextPart(f"[A video of {seconds:.0f} s, as {len(moments)} pictures in order{without}]")
    return [about, *parts, *([AudioPart(sound, RATE)] if sound else [])]


def _apart(before: Part | None, part: Part) -> Part:
    """Text that took the place of a part, or follows such text: engines join texts without a separator, so it gets a line of its own."""
    if not (isinstance(part, TextPart) and isinstance(before, TextPart) and before.text and part.text):
        return part
    return part if before.text[-1].isspace() else TextPart(f"\n{part.text}")


def _seconds(part: AudioPart) -> float:
    return len(part.data) / 4 / part.rate


def _size(moment: Moment) -> int:
    return len(moment.picture) + len(moment.stacked) + len(moment.samples) + 128


async def _digest(purpose: bytes, data: bytes, user: str) -> bytes:
    """The key of what is made of `data` for a purpose."""
    return purpose + await parsing(len(data), _sha256, data, user=user)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
