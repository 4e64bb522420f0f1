"""The video engine `musetalk`: the lips in a picture, or in a base clip that `wan` rendered, say what a reply says.

Loaded by `registry`. Owns the prepared avatars and the thread in which everything of the model runs, one batch at a time, so that
several calls take turns and one that ends stops within a batch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.audio.pcm import to_floats
from duologue.engines.devices import parse_device
from duologue.engines.footage.clip_store import ClipStore, picture_key
from duologue.engines.musetalk import prepared_avatar
from duologue.engines.musetalk.audio_windows import (
    SoundBlock,
    batches,
    frame_at,
    frames_of,
    sound_blocks,
    steps_of,
    window,
)
from duologue.engines.musetalk.face_picture import blended
from duologue.engines.musetalk.musetalk_network import PRECISIONS, MuseTalkNetwork, open_network
from duologue.engines.musetalk.musetalk_weights import MODEL, find_files
from duologue.engines.musetalk.prepared_avatar import PreparedAvatar, stored_key
from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.engines.options import read_options
from duologue.engines.video_contracts import Figure, Stretch
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.resampler import resampled
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.avatars import AvatarKind, AvatarSource

KEPT = 4
"""Prepared avatars in memory: a clip of five seconds takes 100 MB."""
BATCH = 4
AHEAD = 8
"""Steps that preparing an avatar may be ahead of the event loop, before it waits to hear whether to go on."""


class MuseTalkOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`size`: pixels of the longer side of the video of a picture; `rate`: frames a second; `batch`: frames computed at a time;
    `cache`: the folder for what is prepared and for base clips, "" keeps nothing; `precision`: auto is float16 on a card. `loras` are those of
    the settings, which change base clips and not this model."""

    model: str = MODEL
    models: str = ""
    device: str = "auto"
    size: int = 512
    rate: int = 25
    batch: int = BATCH
    cache: str = ""
    precision: str = "auto"
    loras: tuple[dict[str, Any], ...] = ()


class MuseTalkFigure:
    """Implements `video_contracts.Figure`."""

    def __init__(self, engine: MuseTalkEngine, prepared: PreparedAvatar, rate: int) -> None:
        self._engine, self._prepared, self._rate = engine, prepared, rate
        self._masks = prepared.masks()

    @property
    def width(self) -> int:
        return int(self._prepared.frames.shape[2])

    @property
    def height(self) -> int:
        return int(self._prepared.frames.shape[1])

    @property
    def rate(self) -> int:
        return self._rate

    @property
    def idle_frames(self) -> int:
        return len(self._prepared.order)

    @asynccontextmanager
    async def frames(self, stretch: Stretch) -> AsyncIterator[AsyncIterator[bytes]]:
        """The frames of the stretch. Those after the end of its sound, and those without a face, are as they are in the clip."""
        async with aclosing(self._frames(stretch)) as made:
            yield made

    async def _frames(self, stretch: Stretch) -> AsyncGenerator[bytes, None]:
        first = frame_at(stretch.at, self._rate)
        spoken = max(0, min(stretch.count, frames_of(samples(stretch.pcm), self._rate) - first))
        for block in sound_blocks(first, spoken, self._rate):
            heard = None
            for batch in batches(block.first, block.count, self._engine.batch):
                if heard is None:
                    heard = await self._engine.run(self._hear, block, stretch.pcm)
                shown = [self._base(stretch.first + number - first) for number in batch]
                for picture in await self._engine.run(self._draw, block, batch, shown, heard):
                    yield picture
        for number in range(spoken, stretch.count):
            yield self._prepared.frames[self._base(stretch.first + number)].tobytes()

    def _base(self, number: int) -> int:
        """The frame of the clip that is shown as this one of the avatar's clock."""
        return self._prepared.order[number % len(self._prepared.order)]

    def _hear(self, network: MuseTalkNetwork, block: SoundBlock, pcm: bytes) -> Any:
        sound = pcm[block.begin * SAMPLE_BYTES : block.end * SAMPLE_BYTES]
        heard = to_floats(resampled(sound, SPOKEN_RATE, HEARD_RATE))
        return network.hear(heard, steps_of(samples(sound)))

    def _draw(
        self, network: MuseTalkNetwork, block: SoundBlock, batch: range, shown: list[int], heard: Any
    ) -> list[bytes]:
        """The frames `batch` of the reply over the frames `shown` of the clip."""
        prepared = self._prepared
        faces = network.draw(
            prepared.latents[shown],
            heard,
            [window(number, self._rate, block.step, len(heard)) for number in batch],
        )
        made = []
        for number, face in zip(shown, faces, strict=True):
            frame, box = prepared.frames[number], prepared.boxes[number]
            if box is not None:
                frame = blended(frame, box, self._masks[box], face)
            made.append(frame.tobytes())
        return made


class MuseTalkEngine:
    """Implements `video_contracts.VideoEngine`. `mark` tells the weights from others; `cache`: None keeps nothing on the disk."""

    def __init__(
        self, network: MuseTalkNetwork, mark: object, options: MuseTalkOptions, cache: Path | None
    ) -> None:
        self._network: MuseTalkNetwork | None = network
        self._mark, self._options = mark, options
        self._prepared_folder = cache / "musetalk" if cache else None
        self._clips = ClipStore(cache / "clips") if cache else None
        # One thread, and so one user of the model at a time.
        self._lane = ThreadLane(1)
        self._figures: OrderedDict[str, MuseTalkFigure] = OrderedDict()

    @property
    def name(self) -> str:
        return "musetalk"

    @property
    def kinds(self) -> tuple[AvatarKind, ...]:
        return ("picture",)

    @property
    def batch(self) -> int:
        """Frames that are computed at a time."""
        return self._options.batch

    async def prepare(self, avatar: AvatarSource) -> Figure:
        """The avatar with its base clip, if one was rendered; of a long clip this takes a while, and leaving stops it after the frame that is
        being read. Raises Unsupported, BadRequest."""
        if avatar.kind not in self.kinds:
            raise Unsupported(
                "The video engine musetalk draws people in pictures. Choose an avatar that is a picture, or the engine portrait.",
                param="avatar",
            )
        network = self._open_network()

        def prepare(emit: Emit[MuseTalkFigure | None]) -> None:
            with suppress(prepared_avatar.Abandoned):
                emit(self._prepare(network, avatar, lambda: emit(None)))

        async with self._lane.stream(prepare, AHEAD) as steps:
            async for figure in steps:
                if figure is not None:
                    return figure
        raise EngineFailed("The avatar was not prepared.")

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function(network, *args)` in the model's thread. Leaving waits for it."""
        return await self._lane.run(function, self._open_network(), *args)

    def _open_network(self) -> MuseTalkNetwork:
        if self._network is None:
            raise EngineFailed("The video engine was closed.")
        return self._network

    async def close(self) -> None:
        """Drop the networks; their memory is freed when the last batch has ended."""
        self._network = None
        self._figures.clear()

    def _prepare(
        self, network: MuseTalkNetwork, avatar: AvatarSource, go_on: Callable[[], bool]
    ) -> MuseTalkFigure:
        """Raises Abandoned, and keeps nothing, once `go_on` says no."""
        clip = self._clips.of_picture(picture_key(avatar.data)) if self._clips else None
        options = self._options
        key = stored_key(avatar.digest, clip.key if clip else "", self._mark, options.size, options.rate)
        if key not in self._figures:
            folder = self._prepared_folder
            prepared = prepared_avatar.find(folder, key) if folder else None
            if prepared is None:
                prepared = prepared_avatar.prepare(
                    avatar, clip, network, longest=options.size, rate=options.rate, go_on=go_on
                )
                if folder:
                    prepared_avatar.keep(folder, key, prepared)
            self._figures[key] = MuseTalkFigure(self, prepared, options.rate)
            if len(self._figures) > KEPT:
                self._figures.popitem(last=False)
        self._figures.move_to_end(key)
        return self._figures[key]


async def load(options: dict[str, Any]) -> MuseTalkEngine:
    """The engine. Options: see `MuseTalkOptions`. Raises StartFailed without the libraries or the weights, or for weights that
    cannot be used."""
    settings = read_options(MuseTalkOptions, options, "musetalk")
    check_options(settings)
    device = parse_device(settings.device)

    def start() -> MuseTalkEngine:
        files = find_files(settings.model, settings.models)
        with (
            importing("musetalk", "video", role="video engine"),
            loading(f"The model in {files.unet.parent.parent} cannot be loaded", KeyError, TypeError),
        ):
            network = open_network(files, device, settings.precision)
        cache = Path(settings.cache).expanduser() if settings.cache else None
        return MuseTalkEngine(network, files.mark, settings, cache)

    return await load_in_thread(start)


def weights(options: dict[str, Any]) -> Path:
    """The folder of the weights, without loading anything. Raises StartFailed with the commands that fetch them."""
    settings = read_options(MuseTalkOptions, options, "musetalk")
    return find_files(settings.model, settings.models).unet.parent.parent


def check_options(options: MuseTalkOptions) -> None:
    """Raises StartFailed for values that there are not."""
    for name, low, high in (("size", 64, 2048), ("rate", 5, 60), ("batch", 1, 64)):
        if not low <= getattr(options, name) <= high:
            raise StartFailed(f"musetalk's option {name!r} must be between {low} and {high}.", param=name)
    if options.precision not in PRECISIONS:
        raise StartFailed(
            f"musetalk's option 'precision' must be one of {', '.join(PRECISIONS)}.", param="precision"
        )
