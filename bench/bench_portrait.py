"""Clips without a graphics card: how fast faces are drawn and encoded on one core, how soon the first frame is there, and what memory does.

    python bench/bench_portrait.py [--look mira | --picture] [--seconds 20] [--clips 100] [--json]

Everything runs in this process, with the engine's own thread; `cores` is processor time over time. Speech is a curve of random mouths, so no
speaker is needed. `--picture` takes a marked picture instead of the drawn faces. Beside other work only the ratio means something: of the
encoder alone, with the same frames in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from pathlib import Path

import anyio
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.support.vrm_file import PORTRAIT_LANDMARKS, portrait

from duologue.engines.portrait.engine import PortraitEngine, PortraitOptions
from duologue.engines.video_contracts import Stretch
from duologue.faces.catalogue import LOOKS
from duologue.sessions.video.muxer import ClipMuxer
from duologue.threads import ThreadLane
from duologue.values.audio import SPOKEN_RATE
from duologue.values.avatars import AvatarSource, Landmarks
from duologue.values.mouth import MouthKey

PHONE = SPOKEN_RATE * 80 // 1000
"""Samples of a sound of speech: twelve a second."""
BATCH = 10


def talking(seconds: float) -> tuple[MouthKey, ...]:
    """A mouth that moves as it does in fast speech."""
    chance = random.Random(7)
    keys = [
        MouthKey(
            at,
            chance.randint(0, 90),
            chance.randint(-80, 80),
            chance.choice((0, 0, 0, 100)),
            chance.choice((0, 0, 0, 0, 90)),
            chance.choice((0, 0, 60)),
        )
        for at in range(PHONE, round(seconds * SPOKEN_RATE), PHONE)
    ]
    return (MouthKey(0), *keys)


def drawn(look: str) -> AvatarSource:
    return AvatarSource(look, "drawn", look, look=look)


def marked_picture() -> AvatarSource:
    """The portrait of the tests with its points."""
    marks = msgspec.convert(PORTRAIT_LANDMARKS, Landmarks)
    return AvatarSource("picture", "picture", "picture", data=portrait(1024), landmarks=marks)


async def encoder_only(engine: PortraitEngine, avatar: AvatarSource, seconds: float) -> float:
    """Frames a second that the encoder makes of the same frames, drawn before."""
    figure = await engine.prepare(avatar)
    count = round(seconds * figure.rate)
    async with figure.frames(Stretch(0, count, mouth=talking(seconds))) as made:
        frames = [frame async for frame in made]
    muxer = ClipMuxer(figure.width, figure.height, figure.rate, ThreadLane(1))
    began = time.process_time()
    for first in range(0, count, BATCH):
        batch = frames[first : first + BATCH]
        await muxer.write(batch, bytes(len(batch) * SPOKEN_RATE // figure.rate * 2))
    await muxer.finish()
    return count / (time.process_time() - began)


async def clip(engine: PortraitEngine, avatar: AvatarSource, seconds: float) -> tuple[float, float, int]:
    """Make one clip: seconds until the first frame, seconds in all, bytes."""
    began = time.perf_counter()
    first = 0.0
    figure = await engine.prepare(avatar)
    pcm = bytes(2 * round(seconds * SPOKEN_RATE))
    count = round(seconds * figure.rate)
    muxer = ClipMuxer(figure.width, figure.height, figure.rate, ThreadLane(1))
    size, batch, written = 0, list[bytes](), 0
    async with figure.frames(Stretch(0, count, pcm=pcm, mouth=talking(seconds))) as frames:
        async for frame in frames:
            first = first or time.perf_counter() - began
            batch.append(frame)
            written += 1
            if len(batch) == BATCH or written == count:
                until = len(pcm) if written == count else written * SPOKEN_RATE // figure.rate * 2
                start = (written - len(batch)) * SPOKEN_RATE // figure.rate * 2
                size += len(await muxer.write(batch, pcm[start:until]))
                batch.clear()
    size += len(await muxer.finish())
    return first, time.perf_counter() - began, size


async def drawn_only(engine: PortraitEngine, avatar: AvatarSource, seconds: float) -> float:
    """Frames a second without the encoder."""
    figure = await engine.prepare(avatar)
    count = round(seconds * figure.rate)
    began = time.perf_counter()
    async with figure.frames(Stretch(0, count, mouth=talking(seconds))) as frames:
        async for _ in frames:
            pass
    return count / (time.perf_counter() - began)


def resident() -> int:
    """Megabytes this process has in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def measure(avatar: AvatarSource, seconds: float, clips: int, size: int) -> dict[str, float]:
    engine = PortraitEngine(PortraitOptions(size=size))
    first, _, _ = await clip(engine, avatar, 1.0)
    draws = await drawn_only(engine, avatar, seconds)
    began, worked = time.perf_counter(), time.process_time()
    again, _, data = await clip(engine, avatar, seconds)
    took, busy = time.perf_counter() - began, time.process_time() - worked
    encodes = await encoder_only(engine, avatar, min(seconds, 8.0))
    before = resident()
    for _ in range(clips):
        await clip(engine, avatar, 2.0)
    return {
        "frames_per_second_drawn": round(draws, 1),
        "frames_per_second_clip": round(seconds * PortraitOptions().rate / took, 1),
        "frames_per_second_of_one_core": round(seconds * PortraitOptions().rate / busy, 1),
        "frames_per_second_encoder_alone": round(encodes, 1),
        "ratio_to_encoder_alone": round(seconds * PortraitOptions().rate / busy / encodes, 2),
        "clip_seconds_per_second_of_one_core": round(seconds / busy, 2),
        "cores": round(busy / took, 2),
        "first_frame_ms_new_avatar": round(first * 1000, 1),
        "first_frame_ms": round(again * 1000, 1),
        "kilobits_per_second": round(data * 8 / seconds / 1000),
        "memory_mb_before": before,
        f"memory_mb_after_{clips}_clips": resident(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--look", default="", help="one of " + ", ".join(LOOKS) + " (all)")
    parser.add_argument("--picture", action="store_true", help="a marked picture instead of drawn faces")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    looks = [chosen.look] if chosen.look else LOOKS
    avatars = [marked_picture()] if chosen.picture else [drawn(look) for look in looks]
    for avatar in avatars:
        figures = anyio.run(measure, avatar, chosen.seconds, chosen.clips, chosen.size)
        if chosen.json:
            print(json.dumps({"look": avatar.id, **figures}))
        else:
            print(avatar.id, *(f"  {name} {value}" for name, value in figures.items()), sep="\n")


if __name__ == "__main__":
    main()
