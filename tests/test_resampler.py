import builtins
import math
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.errors import StartFailed
from duologue.resampler import Resampler, at_rate, available, resampled

NEEDED = "resampling needs PyAV: pip install 'duologue[voice]'"


def tone(count: int, rate: int, hertz: float = 440.0) -> bytes:
    return array(
        "h", [round(12000 * math.sin(2 * math.pi * hertz * at / rate)) for at in range(count)]
    ).tobytes()


def in_pieces(pcm: bytes, sizes: list[int], source: int, target: int) -> bytes:
    resampler = Resampler(source, target)
    made, at = bytearray(), 0
    for size in sizes:
        made += resampler.feed(pcm[at : at + size])
        at += size
    return bytes(made + resampler.feed(pcm[at:]) + resampler.finish())


@pytest.fixture(autouse=True)
def _needs_av():
    pytest.importorskip("av", reason=NEEDED)


@given(sizes=st.lists(st.integers(0, 3000), max_size=12))
@settings(max_examples=30)
def test_where_the_input_is_cut_changes_nothing(sizes):
    pcm = tone(9001, 22050)
    assert in_pieces(pcm, sizes, 22050, 24000) == resampled(pcm, 22050, 24000)


@pytest.mark.parametrize("target", [8000, 16000, 24000, 44100, 48000])
@pytest.mark.parametrize("count", [0, 1, 2, 17, 441, 22050, 100_003])
def test_there_are_exactly_as_many_samples_as_there_ought_to_be(count, target):
    assert len(resampled(tone(count, 22050), 22050, target)) == 2 * at_rate(count, 22050, target)


def test_float_samples_go_the_same_way():
    pcm = tone(22050, 22050)
    floats = array("f", [value / 32768 for value in array("h", pcm)]).tobytes()
    made = array("f", resampled(floats, 22050, 16000, "flt"))
    assert len(made) == 16000
    whole = array("h", resampled(pcm, 22050, 16000))
    assert max(abs(one * 32768 - other) for one, other in zip(made, whole, strict=True)) < 3
    resampler = Resampler(22050, 16000, "flt")
    cut = resampler.feed(floats[:4001]) + resampler.feed(floats[4001:]) + resampler.finish()
    assert cut == made.tobytes()


def test_the_sound_is_the_same_sound_at_the_same_time():
    made = array("h", resampled(tone(22050, 22050), 22050, 24000))
    wanted = array("h", tone(24000, 24000))
    assert max(abs(one - other) for one, other in zip(made[200:-200], wanted[200:-200], strict=True)) < 200


def test_sound_that_has_the_rate_already_passes_untouched():
    resampler = Resampler(24000, 24000)
    assert resampler.feed(b"abc") == b"ab"
    assert resampler.feed(b"d") == b"cd"
    assert resampler.finish() == b""


def test_a_sample_keeps_its_time():
    assert [at_rate(at, 22050, 24000) for at in (0, 1, 22050, 11025)] == [0, 1, 24000, 12000]
    assert at_rate(at_rate(5000, 22050, 24000), 24000, 22050) == 5000


def test_no_sound_has_no_rate():
    with pytest.raises(ValueError):
        Resampler(0, 24000)


def test_without_the_library_a_sentence_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "av":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert not available()
    with pytest.raises(StartFailed, match=r"duologue\[voice\]"):
        Resampler(1, 2)
