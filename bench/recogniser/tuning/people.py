"""Fits the confidence of the recogniser as it comes, on recordings of people.

    PYTHONPATH=bench:mini python -m recogniser.tuning.people FOLDER [--out FOLDER]

FOLDER is one of `recogniser/recordings.py`. Transcripts with at most half of their words wrong shall be accepted; the others,
recordings without English, coughs and hums refused. Prints how the judgement does on each group when it is fitted without it,
and writes the one fitted on all of them into `hearing.json`.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec

from duologue.engines.audio.silence import peak
from duologue.engines.sphinx.confidence import ConfidenceModel
from duologue.engines.sphinx.decoder import PARAMETERS, PIECE, Decoder, load_decoder
from duologue.engines.sphinx.engine import DATA, FIRST
from recogniser.recordings import recordings
from recogniser.tuning.confidence_training import SignRecorder, hum, noise
from recogniser.tuning.logistic_regression import RIGHT, fit
from recogniser.word_errors import errors, words

LONGEST = 15.0
"""Seconds of a recording that is one utterance."""
NOISES = 24
WRONG, OTHER, NOISE = "wrong", "other", "noise"
FALSE_ACCEPTS = 0.4
"""The share of each kind of wrong input that may be accepted: a transcript with a word too many wrong is often still of use."""


@dataclass(frozen=True)
class Example:
    group: str
    kind: str
    signs: tuple[float, ...]


def examples(decoder: Decoder, recorder: SignRecorder, folder: Path) -> list[Example]:
    """What the decoder makes of each recording, and of coughs and hums; what it finds no word in is left out."""
    found = []
    for recording in recordings(folder):
        if recording.seconds > LONGEST:
            continue
        text, signs = _decoded(decoder, recorder, recording.pcm)
        if signs is None:
            continue
        wrong = errors(recording.said, text)
        kind = OTHER if not recording.said else RIGHT if wrong <= len(recording.said) / 2 else WRONG
        found.append(Example(recording.group, kind, signs))
    for number in range(NOISES):
        _, signs = _decoded(decoder, recorder, (noise if number % 2 else hum)(Random(number)))
        if signs is not None:
            found.append(Example(f"noise {number % 5}", NOISE, signs))
    return found


def _decoded(
    decoder: Decoder, recorder: SignRecorder, pcm: bytes
) -> tuple[list[str], tuple[float, ...] | None]:
    decoder.begin(peak(pcm[:FIRST]))
    for at in range(0, len(pcm), PIECE):
        decoder.decode(pcm[at : at + PIECE])
    found, _, _ = decoder.end()
    return words(" ".join(word.text for word in found)), recorder.signs


def fitted(found: Sequence[Example]) -> ConfidenceModel:
    return fit([each.signs for each in found], [each.kind for each in found], FALSE_ACCEPTS)


def accepted(judgement: ConfidenceModel, example: Example) -> bool:
    total = judgement.bias + sum(
        weight * value for weight, value in zip(judgement.weights, example.signs, strict=True)
    )
    return total > 0


def report(found: Sequence[Example], judge: dict[str, ConfidenceModel]) -> None:
    """How many of each kind are accepted by the judgement of their group."""
    for kind in (RIGHT, WRONG, OTHER, NOISE):
        rows = [each for each in found if each.kind == kind]
        print(f"  {kind}: {sum(accepted(judge[each.group], each) for each in rows)} of {len(rows)} accepted")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        decoder, recorder = load_decoder(Path(place), arguments.out), SignRecorder()
        decoder._parameters = msgspec.structs.replace(decoder._parameters, judgement=recorder)
        found = examples(decoder, recorder, arguments.folder)
    groups = sorted({each.group for each in found})
    print("each group by a judgement fitted without it:")
    report(found, {group: fitted([each for each in found if each.group != group]) for group in groups})
    judgement = fitted(found)
    print("all of them by the judgement that is written:")
    report(found, dict.fromkeys(groups, judgement))
    file = arguments.out / PARAMETERS
    known = json.loads(file.read_bytes()) | {"judgement": msgspec.to_builtins(judgement)}
    file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
