"""One ear, over a decoder that does as it is told. The real one is heard in test_pocketsphinx.py."""

from array import array
from types import SimpleNamespace

import pytest

from duologue.engines.sphinx.confidence import Judgement
from duologue.engines.sphinx.decoder import FILLERS, CepstralPrior, Decoder, Knowledge, opened, sentence
from duologue.engines.sphinx.engine import HEARING
from duologue.errors import EngineFailed

KNOWN = Knowledge(CepstralPrior((40.0, 1.0, -2.0), -20.0), Judgement((0.0,) * 6, 5.0))


def segment(word: str, start: int, end: int) -> SimpleNamespace:
    return SimpleNamespace(word=word, start_frame=start, end_frame=end, prob=0.9, ascore=0.5, lscore=0.5)


class FakePocketsphinx:
    """Hears a word with every piece, and can be out of order."""

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
        heard = [segment("tea(2)", 10 * at, 10 * at + 9) for at in range(len(self.pieces))]
        return [segment("<s>", 0, 0), *heard, segment("</s>", 99, 99)] if heard else []


def test_words_come_piece_by_piece_and_stand_in_the_end():
    ear = Decoder(FakePocketsphinx(), KNOWN)
    ear.begin(-20.0)
    assert [ear.hear(bytes(3200)) for _ in range(2)] == ["Tea", "Tea tea"]
    words, sure = ear.end()
    assert [(word.text, word.start, word.end) for word in words] == [("tea", 0, 9), ("tea", 10, 19)]
    assert sure > 0.9


def test_where_nothing_was_said_nothing_is_understood():
    ear = Decoder(FakePocketsphinx(), KNOWN)
    ear.begin(-20.0)
    assert ear.end() == ((), 0.0)


@pytest.mark.parametrize(("level", "first"), [(-20.0, 40.0), (-25.0, 40.0), (-36.0, 27.5), (-10.0, 45.0)])
def test_a_soft_speaker_is_expected_to_be_soft(level, first):
    decoder = FakePocketsphinx()
    Decoder(decoder, KNOWN).begin(level)
    assert decoder.expected == f"{first:.2f},1.00,-2.00"


def test_digital_silence_never_reaches_the_decoder_and_loud_sound_stays_in_its_bounds():
    decoder = FakePocketsphinx()
    ear = Decoder(decoder, KNOWN)
    ear.begin(-20.0)
    ear.hear(bytes(3200))
    ear.hear(b"\xff\x7f" * 1600)
    quiet, loud = (array("h", piece) for piece in decoder.pieces)
    assert 5 < max(quiet) < 200
    assert len(loud) == 1600
    assert 32000 < min(loud) <= max(loud) == 32767


def test_a_decoder_that_does_not_go_on_says_so():
    with pytest.raises(EngineFailed, match="out of memory"):
        Decoder(FakePocketsphinx(broken=True), KNOWN).begin(-20.0)


def test_a_sentence_has_no_fillers():
    assert sentence(["<s>", "how", "[NOISE]", "are", "++uh++", "you", "</s>"]) == "How are you"
    assert sentence(FILLERS) == ""


def test_its_files_are_written_where_it_is_told(tmp_path):
    pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
    ear = opened(tmp_path, HEARING)
    assert {"language.lm", "words.dict"} <= {path.name for path in tmp_path.iterdir()}
    ear.begin(-20.0)
    assert ear.hear(bytes(3200)) == ""
