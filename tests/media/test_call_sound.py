"""Both sides of a call as one file: each on its side, at its sample, readable wherever it ends."""

import io
from array import array

import pytest

from duologue.media.call_sound import CallSoundEncoder

av = pytest.importorskip("av", reason="PyAV is not installed: calls are not recorded")


def decoded(ogg: bytes) -> tuple[list[float], list[float]]:
    """Both channels, at 48 kHz."""
    left: list[float] = []
    right: list[float] = []
    with av.open(io.BytesIO(ogg), mode="r", format="ogg") as file:
        for frame in file.decode(audio=0):
            values = array("f", bytes(frame.planes[0])[: frame.samples * 8])
            planar = frame.format.is_planar
            left += array("f", bytes(frame.planes[0])[: frame.samples * 4]) if planar else values[0::2]
            right += array("f", bytes(frame.planes[1])[: frame.samples * 4]) if planar else values[1::2]
    return left, right


def burst(rate: int, begins: float, ends: float, seconds: float) -> bytes:
    """Silence with a tone of 400 Hz in it."""
    period = [8000 if number * 800 // rate % 2 else -8000 for number in range(rate // 400)]
    whole = array("h", bytes(round(seconds * rate) * 2))
    for number in range(round(begins * rate), round(ends * rate)):
        whole[number] = period[number % len(period)]
    return whole.tobytes()


def loud(channel: list[float], rate: int = 48_000) -> tuple[float, float]:
    """When it begins and ends, in seconds."""
    where = [number for number, value in enumerate(channel) if abs(value) > 0.12]
    return where[0] / rate, where[-1] / rate


def test_each_side_is_in_its_channel_at_its_time():
    encoder = CallSoundEncoder()
    caller, reply = burst(16_000, 0.5, 1.0, 3), burst(24_000, 1.5, 2.0, 3)
    ogg = b"".join(
        encoder.feed(caller[number * 640 : number * 640 + 640], reply[number * 960 : number * 960 + 960])
        for number in range(150)
    )
    left, right = decoded(ogg + encoder.finish())
    assert len(left) == pytest.approx(3 * 48_000, abs=960)
    assert list(loud(left)) == pytest.approx([0.5, 1.0], abs=0.006)
    assert list(loud(right)) == pytest.approx([1.5, 2.0], abs=0.006)


def test_a_file_that_breaks_off_is_readable_up_to_there():
    encoder = CallSoundEncoder()
    ogg = b"".join(encoder.feed(bytes(32_000), burst(24_000, 0, 1, 1)) for _ in range(10))
    left, right = decoded(ogg)
    assert len(left) == len(right) > 7 * 48_000


def test_sides_of_different_length_end_in_silence():
    encoder = CallSoundEncoder()
    encoder.feed(bytes(32_000), b"")
    left, right = decoded(encoder.finish())
    assert len(left) == len(right) == pytest.approx(48_000, abs=960)
