"""Makes `src/duologue/engines/sphinx/data/`, in a quarter of an hour on one core.

    python -m recogniser.tuning [--out FOLDER] [--without-talk] [--only language|voices|judgement|prompts]

`language`: words.dict.gz and language.lm.gz. `voices`: voices.gz. `judgement`: hearing.json, which needs both.
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
from duologue.engines.sphinx.engine import FIRST, HEARING
from duologue_mini.evaluation.heldout import HELDOUT
from recogniser.tuning import adaptation, codebooks, dictionary, ngrams
from recogniser.tuning.alignment import Aligned, aligned
from recogniser.tuning.judgement import learned
from recogniser.tuning.lines import BENCH, LONGEST, TALK, TYPED, drawn
from recogniser.tuning.voices import SPEEDS, TAUGHT, noisy, speaking
from recogniser.tuning.wording import spoken

FIRST_SENTENCES, SENTENCES = 40, 180
"""Of each voice, in the first alignment and in the second, whose model knows the voices already."""
SIGNS = 6
"""How many `plausibility.signs` gives."""
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
"""Those of the model's skills of which people speak."""
LINES = Path("build/hearing/lines.txt")
"""What the language model has read, for people and for the voices."""
WORDS = range(3, 13)
"""How long these are."""


def model_folder() -> Path:
    """The acoustic model inside the installed pocketsphinx."""
    from pocketsphinx import get_model_path

    return Path(get_model_path("en-us"))


def language(out: Path, talk: int) -> None:
    """Dictionary and language model."""
    known = dictionary.pronunciations(model_folder() / "cmudict-en-us.dict")
    made, dropped = drawn(known, talk=talk)
    model = ngrams.estimated(made.lines)
    _write(out / "words.dict.gz", "\n".join(dictionary.lines(made.words, known)) + "\n")
    _write(out / "language.lm.gz", "\n".join(model.lines()) + "\n")
    LINES.parent.mkdir(parents=True, exist_ok=True)
    LINES.write_text("\n".join(made.lines) + "\n", encoding="utf-8")
    sizes = [len(chances) for chances in model.chances]
    print(
        f"{len(made.lines)} sentences, {sizes} sequences of words; {dropped} draws were sentences of the tests"
    )


async def voices(out: Path) -> None:
    """Gaussians for synthetic voices, and what is expected of a speaker's sound."""
    source = model_folder() / "en-us"
    model, speak = codebooks.read(source), await speaking()
    lines = _lines()
    peaks: list[float] = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        words = folder / "words.dict"
        words.write_bytes(gzip.decompress((out / "words.dict.gz").read_bytes()))
        settings: dict[str, str] = {"hmm": str(source), "dict": str(words)}
        for count in (FIRST_SENTENCES, SENTENCES):
            sentences: list[Aligned] = []
            for number, voice in enumerate(TAUGHT):
                random = Random(1000 * count + number)
                spoken = []
                for line in random.sample(lines, count):
                    pcm = await speak(line, voice, random.choice(SPEEDS))
                    peaks.append(peak(pcm[:FIRST]))
                    spoken.append((line, noisy(pcm, random)))
                found = aligned(spoken, settings)
                sentences += found
                print(f"{voice}: {len(found)} of {count} aligned", flush=True)
            mean = np.concatenate([each.cepstra for each in sentences]).mean(0)
            moved = adaptation.adapted(model, adaptation.frames(sentences, mean, model.phones))
            _write_bytes(out / "voices.gz", adaptation.halves(moved))
            settings |= acoustic_model.teach(source, out / "voices.gz", folder)
    sound = {"cepstra": [round(float(value), 2) for value in mean], "level": round(float(np.mean(peaks)), 1)}
    _knowledge(out, {"sound": sound, "judgement": {"weights": [0.0] * SIGNS, "bias": 0.0}})
    print(f"{len(mean)} cepstra, level {sound['level']} dBFS")


def prompts() -> None:
    """What of the model's own held-out prompts can be said, for the bench."""
    said = []
    for line in HELDOUT.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        words = (spoken(case["turns"][0]) or "").lower().split()
        if case["skill"] in SPOKEN_SKILLS and 2 <= len(words) <= LONGEST and not TYPED & {*words}:
            said.append(" ".join(words))
    head = "# First turns of mini/duologue_mini/prompts/heldout.jsonl that can be said; made by python -m recogniser.tuning --only prompts"
    (BENCH / "prompts.txt").write_text("\n".join((head, *dict.fromkeys(said))) + "\n", encoding="utf-8")


def _lines() -> list[str]:
    return [line for line in LINES.read_text(encoding="utf-8").splitlines() if len(line.split()) in WORDS]


def _knowledge(out: Path, news: dict[str, object]) -> None:
    file = out / "hearing.json"
    old = json.loads(file.read_bytes()) if file.exists() else {}
    file.write_text(json.dumps(old | news, indent=1) + "\n", encoding="utf-8")


def _write(file: Path, text: str) -> None:
    _write_bytes(file, text.encode())


def _write_bytes(file: Path, data: bytes) -> None:
    """Compressed, the same bytes for the same data."""
    file.write_bytes(gzip.compress(data, 9, mtime=0))


async def make(arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    begun = time.monotonic()
    if arguments.only in ("", "language"):
        language(out, 0 if arguments.without_talk else TALK)
    if arguments.only in ("", "prompts"):
        prompts()
    if arguments.only in ("", "voices"):
        await voices(out)
    if arguments.only in ("", "judgement"):
        _knowledge(out, {"judgement": await learned(out)})
    print(f"made in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HEARING)
    parser.add_argument("--without-talk", action="store_true")
    parser.add_argument("--only", choices=("", "language", "voices", "judgement", "prompts"), default="")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    anyio.run(partial(make, arguments))
