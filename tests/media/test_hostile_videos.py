"""Videos that claim too much or are damaged: refused by the decoder process with a code, and the next one is read."""

from __future__ import annotations

import io
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.support.sample_videos import WRITTEN, video

from duologue.decoder.service import decode, decode_stream
from duologue.errors import Problem
from duologue.media.videos import MeasuredVideo, Moment, VideoReading, measure_video, read_moments

pytest.importorskip("av", reason="PyAV is not installed: videos are not tested")
pytestmark = pytest.mark.anyio

READING = VideoReading(most=8, megapixels=0.2, minutes=30)
CODES = {
    *("video_unreadable", "video_unsupported", "video_too_large", "video_too_long", "video_without_pictures"),
    *("sound_unreadable", "file_too_complex", "file_breaks_reader"),
}


async def moments(data: bytes) -> list[Moment]:
    async with decode_stream(read_moments, data, READING) as items:
        return [item async for item in items]


async def code_of(data: bytes) -> str:
    with pytest.raises(Problem) as info:
        await moments(data)
    return info.value.code


def sparse(*times: int) -> bytes:
    """A video with a picture at each of these seconds."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="matroska") as file:
        stream: Any = file.add_stream("mpeg4", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for seconds in times:
            frame = av.VideoFrame(64, 48, "yuv420p")
            frame.pts, frame.time_base = seconds, Fraction(1, 1)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return buffer.getvalue()


async def test_a_video_of_three_hours_is_refused() -> None:
    data = sparse(0, 1, 3 * 3600)
    assert (await decode(measure_video, data)).seconds == pytest.approx(3 * 3600, rel=0.01)
    assert await code_of(data) == "video_too_long"


async def test_a_video_with_a_gap_is_read_without_waiting_for_it() -> None:
    assert 1 <= len(await moments(sparse(0, 1, 1200))) <= READING.most


async def test_pictures_of_8k_are_refused() -> None:
    data = video(seconds=1, size=(7680, 4320), rate=1, sound=False)
    assert await code_of(data) == "video_too_large"


@pytest.mark.parametrize("mime", WRITTEN)
async def test_damaged_videos_are_read_or_refused(mime: str) -> None:
    whole = video(mime, 1)
    chance = random.Random(7)
    for number in range(8):
        data = bytearray(whole)
        for _ in range((1, 8, 64)[number % 3]):
            data[chance.randrange(len(data))] = chance.choice((0, 255, 128, chance.randrange(256)))
        cut = bytes(data[: chance.randrange(1, len(data))] if number % 2 else data)
        problem = None
        try:
            await moments(cut)
        except Problem as refusal:
            problem = refusal
        assert problem is None or problem.code in CODES
    assert isinstance(await decode(measure_video, whole), MeasuredVideo), "the next one is read"


async def test_an_end_in_the_middle_is_one_of_a_few_codes_and_never_a_crash() -> None:
    whole = video()
    for part in (20, 200, len(whole) // 2):
        assert await code_of(whole[:part]) in ("video_unreadable", "video_unsupported")
