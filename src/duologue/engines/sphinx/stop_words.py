"""Spots the few words that ask a voice to stop, beside the decoder: "stop" said alone is the hardest there is for a decoder that
expects sentences.

Used by `decoder` where a caller speaks over a reply. Keyword spotting with the library's own acoustic model; it takes 3 % of
a core while somebody speaks, and 27 MB that all decoders share.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

STOP_WORDS = ("stop", "no", "wait", "quiet", "enough", "pause", "cancel", "hold on", "shut up")
THRESHOLD = "1e-3"
"""The library's threshold of a keyword. Of ten people 8 were heard at "no" and 9 at "stop"; 31 of 280 other words, which end a reply
anyway, and none of 80 made coughs and hums were taken for one (bench/LOG.md, 2026-11-23)."""
SEARCH = "stop_words"


class StopWordSpotter:
    """Listens to one utterance after another."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def begin(self, mean: str) -> None:
        """Begin an utterance; `mean` are the cepstral means to assume, as the library writes them."""
        self._decoder.set_cmn(mean)
        self._decoder.start_utt()

    def feed(self, pcm: bytes) -> None:
        """Take the next sound: 16-bit mono, 16 kHz."""
        self._decoder.process_raw(pcm)

    def end(self) -> str:
        """The utterance is over: the first of the words that was spotted in it, or ""."""
        self._decoder.end_utt()
        best = self._decoder.hyp()
        if best is None:
            return ""
        # Several are joined by blanks, in the order they were said.
        return next((word for word in STOP_WORDS if best.hypstr.startswith(word)), "")


def load_spotter(open_decoder: Callable[..., Any], library: Path, folder: Path) -> StopWordSpotter:
    """A spotter on the models in `library`; `folder` is for a file that exists only meanwhile. `open_decoder` is the library's class.
    Blocks for a fraction of a second. Raises RuntimeError as the library does."""
    words = folder / f"{SEARCH}.list"
    words.write_text("".join(f"{word} /{THRESHOLD}/\n" for word in STOP_WORDS), encoding="ascii")
    decoder = open_decoder(
        hmm=str(library / "en-us"), dict=str(library / "cmudict-en-us.dict"), lm=None, logfn="/dev/null"
    )
    decoder.add_kws(SEARCH, str(words))
    words.unlink()
    decoder.activate_search(SEARCH)
    return StopWordSpotter(decoder)
