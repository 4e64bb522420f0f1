"""The decoder, over a stand-in of pocketsphinx. The real library is tested in test_engine.py."""

from array import array
from types import SimpleNamespace

import pytest

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
from duologue.errors import EngineFailed

KNOWN = DecoderParameters(CepstralPrior((40.0, 1.0, -2.0), -20.0), ConfidenceModel((0.0,) * 6, 5.0))


def segment(word: str, start: int, end: int) -> SimpleNamespace:
    return SimpleNamespace(word=word, start_frame=start, end_frame=end, prob=0.9, ascore=0.5, lscore=0.5)


class FakePocketsphinx:
    """Decodes a word from every piece, and can be broken."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.expected = ""
        self.pieces: list[bytes] = []

    def set_cmn(self, cepstra: str) -> None:
        self.expected = cepstra

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
    words, confidence = decoder.end()
    assert [(word.text, word.start, word.end) for word in words] == [("tea", 0, 9), ("tea", 10, 19)]
    assert confidence > 0.9


def test_an_utterance_without_sound_has_no_words():
    decoder = Decoder(FakePocketsphinx(), KNOWN)
    decoder.begin(-20.0)
    assert decoder.end() == ((), 0.0)


@pytest.mark.parametrize(("level", "first"), [(-20.0, 40.0), (-25.0, 40.0), (-36.0, 27.5), (-10.0, 45.0)])
def test_a_soft_speaker_is_expected_to_be_soft(level, first):
    library = FakePocketsphinx()
    Decoder(library, KNOWN).begin(level)
    assert library.expected == f"{first:.2f},1.00,-2.00"


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


def test_an_error_of_the_library_is_a_sentence():
    with pytest.raises(EngineFailed, match="out of memory"):
        Decoder(FakePocketsphinx(broken=True), KNOWN).begin(-20.0)


def test_a_sentence_has_no_fillers():
    assert sentence(["<s>", "how", "[NOISE]", "are", "++uh++", "you", "</s>"]) == "How are you"
    assert sentence(FILLERS) == ""


def test_the_unpacked_models_are_written_into_the_folder(tmp_path):
    pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
    decoder = load_decoder(tmp_path, DATA)
    assert {"language.lm", "words.dict"} <= {path.name for path in tmp_path.iterdir()}
    decoder.begin(-20.0)
    assert decoder.decode(bytes(3200)) == ""
