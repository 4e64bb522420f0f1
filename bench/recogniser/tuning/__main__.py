"""Builds `bench/recogniser/synthetic/` in about a quarter of an hour on one core.

    PYTHONPATH=bench:mini python -m recogniser.tuning [--out FOLDER] [--without-talk]
                                                      [--only language|voices|judgement|prompts]

`language`: words.dict.gz and language.lm.gz. `voices`: voices.gz. `judgement`: hearing.json; it needs the other two.
`prompts`: bench/recogniser/prompts.txt.
"""

import argparse
import gzip
import json
import time
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import anyio
import numpy as np

from duologue.engines.audio.silence import peak
from duologue.engines.sphinx import acoustic_model
from duologue.engines.sphinx.engine import FIRST
from duologue_mini.evaluation.heldout import HELDOUT
from recogniser.tuning import adaptation, codebooks, dictionary, ngrams
from recogniser.tuning.alignment import AlignedSentence, align
from recogniser.tuning.confidence_training import train_judgement
from recogniser.tuning.sentences import BENCH, LONGEST, TALK, TYPOS, draw_corpus
from recogniser.tuning.spoken_form import spoken_form
from recogniser.tuning.voices import SPEEDS, TRAINING_VOICES, add_noise, load_voices

FIRST_SENTENCES, SENTENCES = 40, 180
"""Sentences per voice: few for the first alignment, more for the second, which uses the model adapted by the first."""
SIGNS = 6
"""The number of values that `confidence.features` returns."""
SPOKEN_SKILLS = (
    "greetings",
    "identity",
    "help",
    "sums",
    "times",
    "recall",
    "stories",
    "system",
    "spoken",
    "scope",
)
"""Skills of duologue-mini that people use by voice."""
LINES = Path("build/hearing/lines.txt")
"""The training sentences of the language model; the synthetic voices read them too."""
WORDS = range(3, 13)
"""Length of the sentences that are spoken, in words."""


def model_folder() -> Path:
    """The folder of the acoustic model in the installed pocketsphinx."""
    from pocketsphinx import get_model_path

    return Path(get_model_path("en-us"))


def language(out: Path, talk: int) -> None:
    """Writes the dictionary and the language model."""
    pronunciations = dictionary.pronunciations(model_folder() / "cmudict-en-us.dict")
    corpus, excluded = draw_corpus(pronunciations, talk=talk)
    model = ngrams.estimate(corpus.lines)
    _write(out / "words.dict.gz", "\n".join(dictionary.lines(corpus.words, pronunciations)) + "\n")
    _write(out / "language.lm.gz", "\n".join(model.lines()) + "\n")
    LINES.parent.mkdir(parents=True, exist_ok=True)
    LINES.write_text("\n".join(corpus.lines) + "\n", encoding="utf-8")
    sizes = [len(chances) for chances in model.chances]
    print(
        f"{len(corpus.lines)} sentences, {sizes} sequences of words; {excluded} draws were test sentences and left out"
    )


async def voices(out: Path) -> None:
    """Writes the Gaussians adapted to synthetic voices, and the expected cepstral mean and level."""
    source = model_folder() / "en-us"
    model, speak = codebooks.read(source), await load_voices()
    lines = _lines()
    peaks: list[float] = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        words = folder / "words.dict"
        words.write_bytes(gzip.decompress((out / "words.dict.gz").read_bytes()))
        settings: dict[str, str] = {"hmm": str(source), "dict": str(words)}
        for count in (FIRST_SENTENCES, SENTENCES):
            sentences: list[AlignedSentence] = []
            for number, voice in enumerate(TRAINING_VOICES):
                random = Random(1000 * count + number)
                utterances = []
                for line in random.sample(lines, count):
                    pcm = await speak(line, voice, random.choice(SPEEDS))
                    peaks.append(peak(pcm[:FIRST]))
                    utterances.append((line, add_noise(pcm, random)))
                alignments = align(utterances, settings)
                sentences += alignments
                print(f"{voice}: {len(alignments)} of {count} aligned", flush=True)
            mean = np.concatenate([each.cepstra for each in sentences]).mean(0)
            adapted = adaptation.adapt(model, adaptation.frames(sentences, mean, model.phones))
            _write_bytes(out / "voices.gz", adaptation.to_half_precision(adapted))
            settings |= acoustic_model.extend(source, out / "voices.gz", folder)
    sound = {"cepstra": [round(float(value), 2) for value in mean], "level": round(float(np.mean(peaks)), 1)}
    _knowledge(out, {"sound": sound, "judgement": {"weights": [0.0] * SIGNS, "bias": 0.0}})
    print(f"{len(mean)} cepstra, level {sound['level']} dBFS")


def prompts() -> None:
    """Writes the held-out prompts of duologue-mini that can be spoken, for the benchmark."""
    prompts_text = []
    for line in HELDOUT.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        words = (spoken_form(case["turns"][0]) or "").lower().split()
        if case["skill"] in SPOKEN_SKILLS and 2 <= len(words) <= LONGEST and not TYPOS & {*words}:
            prompts_text.append(" ".join(words))
    head = "# First turns of mini/duologue_mini/prompts/heldout.jsonl that can be spoken; made by python -m recogniser.tuning --only prompts"
    (BENCH / "prompts.txt").write_text(
        "\n".join((head, *dict.fromkeys(prompts_text))) + "\n", encoding="utf-8"
    )


def _lines() -> list[str]:
    return [line for line in LINES.read_text(encoding="utf-8").splitlines() if len(line.split()) in WORDS]


def _knowledge(out: Path, news: dict[str, object]) -> None:
    file = out / "hearing.json"
    old = json.loads(file.read_bytes()) if file.exists() else {}
    file.write_text(json.dumps(old | news, indent=1) + "\n", encoding="utf-8")


def _write(file: Path, text: str) -> None:
    _write_bytes(file, text.encode())


def _write_bytes(file: Path, data: bytes) -> None:
    """Compresses reproducibly: mtime=0 gives the same bytes for the same data."""
    file.write_bytes(gzip.compress(data, 9, mtime=0))


async def make(arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    start = time.monotonic()
    if arguments.only in ("", "language"):
        language(out, 0 if arguments.without_talk else TALK)
    if arguments.only in ("", "prompts"):
        prompts()
    if arguments.only in ("", "voices"):
        await voices(out)
    if arguments.only in ("", "judgement"):
        _knowledge(out, {"judgement": await train_judgement(out)})
    print(f"made in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=BENCH / "synthetic")
    parser.add_argument("--without-talk", action="store_true")
    parser.add_argument("--only", choices=("", "language", "voices", "judgement", "prompts"), default="")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    anyio.run(partial(make, arguments))
