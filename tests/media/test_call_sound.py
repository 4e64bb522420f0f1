"""Both sides of a call as one file: each on its side, at its sample, readable wherever it ends."""

import io
from array import array

import pytest

from duologue.media.call_sound import LARGEST_START, CallSoundEncoder, has_sound

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


def test_sound_that_comes_all_at_once_is_the_same_file():
    caller, reply = burst(16_000, 5, 24, 25), burst(24_000, 12, 23, 25)
    once, bit = CallSoundEncoder(), CallSoundEncoder()
    whole = once.feed(caller, reply) + once.finish()
    seconds = b"".join(
        bit.feed(caller[at * 32_000 :][:32_000], reply[at * 48_000 :][:48_000]) for at in range(25)
    )
    for one, other in zip(decoded(whole), decoded(seconds + bit.finish()), strict=True):
        assert loud(one) == pytest.approx(loud(other), abs=0.006)


def test_a_file_has_sound_once_its_first_page_is_whole():
    """What is left of a recording whose server was killed in its first seconds plays nothing."""
    encoder = CallSoundEncoder()
    ogg = encoder.feed(bytes(32_000), bytes(48_000))
    assert not has_sound(ogg)
    while not has_sound(ogg):
        ogg += encoder.feed(bytes(32_000), bytes(48_000))
    assert decoded(ogg)[0]
    first = next(size for size in range(len(ogg) + 1) if has_sound(ogg[:size]))
    assert not has_sound(ogg[: first - 1])
    assert first <= LARGEST_START
    for other in (b"", b"OggS", b"OggS" + bytes(22) + b"\xff", b"RIFF" + bytes(100), ogg[1:]):
        assert not has_sound(other)
