"""The decoder, over a stand-in of pocketsphinx. The real library is tested in test_engine.py."""

import gzip
from array import array
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.support.synthetic_voices import ADAPTATION

from duologue.engines.sphinx.confidence import ConfidenceModel
from duologue.engines.sphinx.decoder import (
    FILLERS,
    CepstralPrior,
    Decoder,
    DecoderParameters,
    load_decoder,
    sentence,
)
from duologue.engines.sphinx.engine import DATA
from duologue.errors import EngineFailed, StartFailed

KNOWN = DecoderParameters(CepstralPrior((40.0, 1.0, -2.0), -20.0), ConfidenceModel((0.0,) * 6, 5.0))


def segment(word: str, start: int, end: int) -> SimpleNamespace:
    return SimpleNamespace(word=word, start_frame=start, end_frame=end, prob=0.9, ascore=0.5, lscore=0.5)


class FakeModel:
    """A language model in which every word is rare but one."""

    def __init__(self) -> None:
        self.added: dict[str, float] = {}

    def prob(self, words: list[str]) -> int:
        return -50_000 if words == ["about"] else -140_000

    def add_word(self, word: str, weight: float) -> None:
        self.added[word] = weight


class FakePocketsphinx:
    """Decodes a word from every piece, and can be broken."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.expected = ""
        self.reported = "60.00,3.00,2.00"
        self.pieces: list[bytes] = []
        self.model = FakeModel()
        self.learned: list[tuple[str, str, bool]] = []

    def set_cmn(self, cepstra: str) -> None:
        self.expected = cepstra

    def get_lm(self) -> FakeModel:
        return self.model

    def lookup_word(self, word: str) -> str | None:
        return None if word == "duologue" else f"the sound of {word}"

    def add_word(self, word: str, phones: str, update: bool) -> None:
        self.learned.append((word, phones, update))

    def get_cmn(self, update: bool) -> str:
        assert update
        return self.reported

    def start_utt(self) -> None:
        if self.broken:
            raise RuntimeError("out of memory")

    def process_raw(self, pcm: bytes) -> None:
        self.pieces.append(pcm)

    def hyp(self) -> SimpleNamespace | None:
        words = " ".join(["<s>", *["tea"] * len(self.pieces)])
        return SimpleNamespace(hypstr=words, prob=0.8) if self.pieces else None

    def end_utt(self) -> None: ...

    def seg(self) -> list[SimpleNamespace]:
        words = [segment("tea(2)", 10 * at, 10 * at + 9) for at in range(len(self.pieces))]
        return [segment("<s>", 0, 0), *words, segment("</s>", 99, 99)] if words else []


def test_words_come_piece_by_piece_and_are_final_at_the_end():
    decoder = Decoder(FakePocketsphinx(), KNOWN)
    decoder.begin(-20.0)
    assert [decoder.decode(bytes(3200)) for _ in range(2)] == ["Tea", "Tea tea"]
    words, confidence, _ = decoder.end()
    assert [(word.text, word.start, word.end) for word in words] == [("tea", 0, 9), ("tea", 10, 19)]
    assert confidence > 0.9


class FakeSpotter:
    def __init__(self) -> None:
        self.mean, self.pieces = "", 0

    def begin(self, mean: str) -> None:
        self.mean = mean

    def feed(self, pcm: bytes) -> None:
        self.pieces += 1

    def end(self) -> str:
        return "stop"


@pytest.mark.parametrize("spot", [True, False])
def test_stop_words_are_spotted_in_the_utterances_that_ask_for_it(spot):
    spotter: Any = FakeSpotter()
    decoder = Decoder(FakePocketsphinx(), KNOWN, spotter)
    decoder.begin(-20.0, spot=spot)
    decoder.decode(bytes(3200))
    assert decoder.end()[2] == ("stop" if spot else "")
    assert (spotter.mean, spotter.pieces) == (("40.00,1.00,-2.00", 1) if spot else ("", 0))


def test_an_utterance_without_sound_has_no_words():
    decoder = Decoder(FakePocketsphinx(), KNOWN)
    decoder.begin(-20.0)
    assert decoder.end() == ((), 0.0, "")


@pytest.mark.parametrize(("level", "first"), [(-20.0, 40.0), (-25.0, 40.0), (-36.0, 27.5), (-10.0, 45.0)])
def test_a_soft_speaker_is_expected_to_be_soft(level, first):
    library = FakePocketsphinx()
    Decoder(library, KNOWN).begin(level)
    assert library.expected == f"{first:.2f},1.00,-2.00"


def test_the_mean_is_estimated_while_the_speaker_is_heard():
    library = FakePocketsphinx()
    known = msgspec.structs.replace(KNOWN, sound=CepstralPrior((40.0, 1.0, -2.0), -20.0, frames=100))
    decoder = Decoder(library, known)
    decoder.begin(-20.0)
    for _ in range(4):
        decoder.decode(bytes(3200))
    assert library.expected == "40.00,1.00,-2.00", "40 frames are too few"
    decoder.decode(bytes(3200))
    first, *_ = (float(value) for value in library.expected.split(","))
    assert first == pytest.approx((40 * 100 + 60 * 550 - 40 * 500) / 150, abs=0.01)


def test_an_adaptation_keeps_its_mean():
    library = FakePocketsphinx()
    decoder = Decoder(library, KNOWN)
    decoder.begin(-20.0)
    for _ in range(20):
        decoder.decode(bytes(3200))
    assert library.expected == "40.00,1.00,-2.00"


def test_digital_silence_never_reaches_the_decoder_and_loud_sound_stays_in_its_bounds():
    library = FakePocketsphinx()
    decoder = Decoder(library, KNOWN)
    decoder.begin(-20.0)
    decoder.decode(bytes(3200))
    decoder.decode(b"\xff\x7f" * 1600)
    quiet, loud = (array("h", piece) for piece in library.pieces)
    assert 5 < max(quiet) < 200
    assert len(loud) == 1600
    assert 32000 < min(loud) <= max(loud) == 32767


def test_expected_words_that_are_rare_and_known_become_likelier():
    library = FakePocketsphinx()
    decoder = Decoder(library, msgspec.structs.replace(KNOWN, boost=20.0))
    decoder.begin(-20.0, ["basil", "about", "duologue", "vinegar"])
    assert library.model.added == {"basil_": 20.0, "vinegar_": 20.0}
    assert library.learned == [
        ("basil_", "the sound of basil", False),
        ("vinegar_", "the sound of vinegar", True),
    ]


def test_an_adaptation_expects_no_words():
    library = FakePocketsphinx()
    Decoder(library, KNOWN).begin(-20.0, ["basil"])
    assert library.learned == []


def test_an_expected_word_is_written_as_any_other():
    assert sentence(["some", "basil_", "</s>"]) == "Some basil"


def test_an_error_of_the_library_is_a_sentence():
    with pytest.raises(EngineFailed, match="out of memory"):
        Decoder(FakePocketsphinx(broken=True), KNOWN).begin(-20.0)


def test_a_sentence_has_no_fillers():
    assert sentence(["<s>", "how", "[NOISE]", "are", "++uh++", "you", "</s>"]) == "How are you"
    assert sentence(FILLERS) == ""


def test_an_adaptation_for_another_model_is_refused(tmp_path):
    pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
    for name in ("hearing.json", "language.lm.gz", "words.dict.gz"):
        (tmp_path / name).write_bytes((ADAPTATION / name).read_bytes())
    (tmp_path / "voices.gz").write_bytes(gzip.compress(bytes(100)))
    with pytest.raises(StartFailed, match="does not fit the installed pocketsphinx"):
        load_decoder(tmp_path, tmp_path)


def test_the_unpacked_models_are_written_into_the_folder(tmp_path):
    pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
    decoder = load_decoder(tmp_path, ADAPTATION)
    assert {"language.lm", "words.dict"} <= {path.name for path in tmp_path.iterdir()}
    decoder.begin(-20.0)
    assert decoder.decode(bytes(3200)) == ""


def test_without_an_adaptation_the_models_of_the_library_are_used_as_they_are(tmp_path):
    pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
    decoder = load_decoder(tmp_path, DATA)
    assert list(tmp_path.iterdir()) == []
    decoder.begin(-20.0, ("vinegar", "bluetooth"))
    assert decoder.decode(bytes(3200)) == ""
