import pytest

from duologue.engines.qwen_omni.speech.grouped_sound import GroupedSound
from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, GroupSize

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")

SAMPLES = 4
RULE = GroupRule(SAMPLES, 2, (GroupSize(1, 1),), GroupSize(3, 1), missing=1, fade=2)


class Voice:
    """Sound in which every sample is its own number in the reply, in hundredths; `shift` is added to each window but the first."""

    def __init__(self, rule: GroupRule = RULE, shift: float = 0.0) -> None:
        self.rule, self.shift = rule, shift
        self.windows: list[tuple[list[tuple[int, ...]], int]] = []

    def sound(self, codes, begin):
        self.windows.append((list(codes), begin))
        numbers = numpy.arange(begin * SAMPLES, (begin + len(codes)) * SAMPLES - self.rule.missing)
        shift = self.shift if len(self.windows) > 1 else 0.0
        return (numbers / 100 + shift).astype(numpy.float32)


def spoken(voice: Voice, codes: int) -> list[bytes]:
    """What each code gave, and the end."""
    sound = GroupedSound(voice)
    pieces = [sound.add((number,)) for number in range(codes)]
    assert sound.codes == codes
    return [*pieces, sound.finish()]


def values(pieces: list[bytes]) -> list[float]:
    return [round(value / 32767 * 100, 1) for value in numpy.frombuffer(b"".join(pieces), "<i2").tolist()]


@pytest.mark.parametrize("codes", range(1, 23))
def test_the_pieces_are_the_sound_of_the_whole_without_its_last_missing_samples(codes: int) -> None:
    pieces = spoken(Voice(), codes)
    assert values(pieces) == [float(number) for number in range(codes * SAMPLES - RULE.missing)]
    assert GroupedSound(Voice()).samples == 0


def test_sound_comes_with_the_code_that_completes_a_group() -> None:
    pieces = spoken(Voice(), 5)
    assert [len(piece) // 2 for piece in pieces] == [0, 4, 0, 0, 12, 3]


def test_each_window_has_its_own_codes_however_many_were_forgotten() -> None:
    voice = Voice()
    spoken(voice, 20)
    for codes, begin in voice.windows:
        assert codes == [(number,) for number in range(begin, begin + len(codes))]
    assert voice.windows[-1][1] > 10


def test_a_seam_goes_evenly_from_the_one_window_to_the_next() -> None:
    heard = values(spoken(Voice(shift=0.3), 5))
    assert heard[:4] == [0, 1, 2, 3]
    assert heard[4:8] == pytest.approx([4 + 10, 5 + 20, 6 + 30, 7 + 30], abs=0.2)


def test_what_is_no_number_is_silence() -> None:
    class Broken(Voice):
        def sound(self, codes, begin):
            return super().sound(codes, begin) * numpy.float32("nan")

    assert set(values(spoken(Broken(), 4))) == {0.0}


def test_a_reply_without_codes_is_silent() -> None:
    assert spoken(Voice(), 0) == [b""]
