"""Measure the embedded recogniser on synthetic voices: word errors, false acceptances, speed and memory.

    python bench/bench_recogniser.py [--voices en-us en-us+f3 ...] [--every N] [--noise DB] [--hearing FOLDER] [--show]

Speaks the sentences of bench/recogniser/ and prints, for each voice: the word error rate of the 200 in-domain sentences, once
for all transcripts and once for accepted ones (a rejected sentence counts as wrong in every word); how many were rejected; how
many of the 100 other sentences, and of coughs, were accepted; the short answers; duologue-mini's held-out prompts. Then seconds
of work per second of speech, the delay at the end of an utterance, and memory. `--every 5` uses every fifth sentence. Voices
marked with * were not used to train its acoustic model.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
import numpy

from duologue.engines.registry import load_recogniser
from duologue.engines.sphinx import engine as recogniser
from duologue.engines.sphinx.engine import PocketsphinxRecogniser
from duologue.values.audio import HEARD_RATE
from duplex.server import family, family_seconds, memory
from duplex.sounds import Noise, Voices, cough, hum

SENTENCES = Path(__file__).parent / "recogniser"
VOICES = ("en-us", "en-us+f3", "en-us+m3*", "en-us+f2*", "en-gb")
SILENCE = bytes(2 * (HEARD_RATE // 4))
PIECE = HEARD_RATE // 10 * 2
NOISES = 20


@dataclass(frozen=True)
class Heard:
    """What became of one sentence: its words, the words written down, whether it stood for them, and seconds of sound, of
    work here, and of waiting at the end."""

    said: list[str]
    wrote: list[str]
    stood: bool
    sound: float
    work: float
    wait: float


def sentences(name: str) -> list[str]:
    lines = (SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and line[0] != "#"]


def words(text: str) -> list[str]:
    """Lower case, without punctuation; "okay" is "ok"."""
    plain = "".join(letter if letter.isalnum() or letter in "' " else " " for letter in text.lower())
    return ["ok" if word == "okay" else word for word in plain.split()]


def errors(said: Sequence[str], wrote: Sequence[str]) -> int:
    """How many words have to be changed, put in or taken out."""
    row = list(range(len(wrote) + 1))
    for at, word in enumerate(said, 1):
        before, row[0] = row[0], at
        for to, other in enumerate(wrote, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (word != other))
    return row[-1]


async def heard(engine: PocketsphinxRecogniser, said: str, pcm: bytes) -> Heard:
    begun = time.process_time()
    async with engine.stream() as listener:
        for at in range(0, len(pcm), PIECE):
            await listener.feed(pcm[at : at + PIECE])
        waiting = time.perf_counter()
        found, sure = await listener.words()
        wait = time.perf_counter() - waiting
    return Heard(
        words(said),
        words(" ".join(word.text for word in found)),
        bool(found) and sure >= recogniser.CONFIDENT,
        len(pcm) / 2 / HEARD_RATE,
        time.process_time() - begun,
        wait,
    )


async def all_heard(
    engine: PocketsphinxRecogniser, voices: Voices, name: str, voice: str, arguments: argparse.Namespace
) -> AsyncIterator[Heard]:
    room = Noise(arguments.noise)
    for text in sentences(name)[:: arguments.every]:
        clip = await voices.say(text, voice)
        pcm = SILENCE + clip.sound.tobytes() + SILENCE
        noise = room.take(len(pcm) // 2).astype(numpy.int32)
        loud = numpy.frombuffer(pcm, numpy.int16) + noise
        yield await heard(engine, text, loud.clip(-32768, 32767).astype(numpy.int16).tobytes())


def word_error(results: Sequence[Heard]) -> float:
    return sum(errors(each.said, each.wrote) for each in results) / sum(len(each.said) for each in results)


def stood_error(results: Sequence[Heard]) -> float:
    wrong = sum(errors(each.said, each.wrote) if each.stood else len(each.said) for each in results)
    return wrong / sum(len(each.said) for each in results)


def share(results: Sequence[Heard]) -> float:
    return sum(each.stood for each in results) / len(results)


def right(results: Sequence[Heard]) -> float:
    return sum(each.stood and each.said == each.wrote for each in results) / len(results)


async def measured(engine: PocketsphinxRecogniser, arguments: argparse.Namespace) -> None:
    voices, work, sound, waits = Voices(), 0.0, 0.0, []
    print(
        "| voice | word error | as it stands | taken back | others accepted | answers right | prompts, word error |"
    )
    print("|---|---|---|---|---|---|---|")
    for voice in arguments.voices:
        name = voice.rstrip("*")
        decoded = decoding(engine)
        found = {
            kind: [each async for each in all_heard(engine, voices, kind, name, arguments)]
            for kind in ("in_domain", "out_of_domain", "answers", "prompts")
        }
        known = found["in_domain"]
        everything = [each for results in found.values() for each in results]
        print(
            f"| {voice} | {word_error(known):.1%} | {stood_error(known):.1%} | {1 - share(known):.1%}"
            f" | {share(found['out_of_domain']):.0%} | {right(found['answers']):.0%} | {word_error(found['prompts']):.1%} |",
            flush=True,
        )
        work += sum(each.work for each in everything) + decoding(engine) - decoded
        sound += sum(each.sound for each in everything)
        waits += [each.wait for each in known]
        if arguments.show:
            for each in (*known, *found["out_of_domain"], *found["answers"]):
                others = each in found["out_of_domain"]
                if each.stood == others or (each.stood and each.said != each.wrote):
                    print(
                        f"    {'stands' if each.stood else 'back  '} {' '.join(each.said)} -> {' '.join(each.wrote)}"
                    )
    made = [
        SILENCE + cough(0.1 + 0.02 * number, seed=number).sound.tobytes() + SILENCE
        for number in range(NOISES)
    ]
    made += [SILENCE + hum(pitch=90.0 + 8 * number).sound.tobytes() + SILENCE for number in range(NOISES)]
    noises = [await heard(engine, "", pcm) for pcm in made]
    print(f"\ncoughs and mhms taken for words: {sum(each.stood for each in noises)} of {len(noises)}")
    print(f"work for a second of speech: {work / sound:.3f} s of one core")
    print(
        f"wait at the end of an utterance: median {1000 * median(waits):.0f} ms, most {1000 * max(waits):.0f} ms"
    )


def decoding(engine: PocketsphinxRecogniser) -> float:
    """Processor seconds that its decoders took so far."""
    assert engine.pool.process is not None
    return family_seconds(engine.pool.process.pid)


async def taken(engine: PocketsphinxRecogniser) -> None:
    """What a further decoder takes."""
    assert engine.pool.process is not None
    before = shared_out(engine.pool.process.pid)
    async with engine.stream() as first, engine.stream() as second, engine.stream() as third:
        for listener in (first, second, third):
            await listener.feed(bytes(HEARD_RATE))
        more = shared_out(engine.pool.process.pid) - before
    print(
        f"memory: {more / 3:.1f} MB a decoder at work, beside {before:.0f} MB of what they share"
        f" and {memory(os.getpid()) / 1e6:.0f} MB of this process"
    )


def shared_out(process: int) -> float:
    """MB that a process and its descendants hold; what several share is counted once."""
    held = 0
    for member in family(process):
        with suppress(OSError):  # one that listened to the last utterance, and has ended
            roll = Path(f"/proc/{member}/smaps_rollup").read_text()
            held += int(roll.partition("\nPss:")[2].split()[0])
    return held * 1024 / 1e6


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--voices", nargs="+", default=VOICES)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--noise", type=float, help="dB that a room's noise is below the speech")
    parser.add_argument("--hearing", type=Path, default=recogniser.DATA)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    recogniser.DATA = arguments.hearing
    begun = time.perf_counter()
    engine = await load_recogniser("pocketsphinx", {})
    assert isinstance(engine, PocketsphinxRecogniser)
    print(f"loaded in {time.perf_counter() - begun:.2f} s\n")
    await measured(engine, arguments)
    await taken(engine)
    await engine.close()


if __name__ == "__main__":
    anyio.run(main)
