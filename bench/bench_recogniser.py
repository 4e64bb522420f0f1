"""Measure the embedded recogniser: word errors, refusals, false acceptances, speed and memory.

    python bench/bench_recogniser.py --people FOLDER [--callers N] [--show]
    python bench/bench_recogniser.py [--voices en-us en-us+f3 ...] [--every N] [--noise DB] [--as-it-comes] [--show]

`--people`: recordings of people with their texts (recogniser/recordings.py says how the folder looks), with the recogniser as it
comes; for each group the word error rate, once for all transcripts and once as they stand (a refused one counts as wrong in
every word), how many were refused, and work for a second of sound. With `--callers 4`, four people speak at once and at the
pace of time instead, and only the delays are reported.

Without it, synthetic voices, with the recogniser adapted to them unless `--as-it-comes`: for each voice the word error rate of
the 200 in-domain sentences of bench/recogniser/, likewise; how many of the 100 other sentences, and of coughs, were accepted;
the short answers; duologue-mini's held-out prompts. Then seconds of work per second of speech, the delay at the end of an
utterance, and memory. `--every 5` uses every fifth sentence. Voices marked with * were not used to train its acoustic model.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import anyio
import numpy

from duologue.engines.registry import load_recogniser
from duologue.engines.sphinx import engine as recogniser
from duologue.engines.sphinx.engine import PocketsphinxRecogniser
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duplex.server import family, family_seconds, machine_load, memory
from duplex.sounds import Noise, Voices, cough, hum
from recogniser.recordings import PersonRecording, recordings
from recogniser.word_errors import errors, words

SENTENCES = Path(__file__).parent / "recogniser"
ADAPTATION = SENTENCES / "synthetic"
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


async def heard(engine: PocketsphinxRecogniser, said: str, pcm: bytes) -> Heard:
    begun = time.process_time()
    async with engine.stream() as listener:
        for at in range(0, len(pcm), PIECE):
            await listener.feed(pcm[at : at + PIECE])
        waiting = time.perf_counter()
        final = await listener.words()
        wait = time.perf_counter() - waiting
    return Heard(
        words(said),
        words(" ".join(word.text for word in final.words)),
        bool(final.words) and final.confidence >= recogniser.CONFIDENT,
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


async def people(engine: PocketsphinxRecogniser, folder: Path, show: bool) -> None:
    """The table of recordings of people."""
    print("| group | recordings | words | word error | as it stands | refused | work a second |")
    print("|---|---|---|---|---|---|---|")
    groups: dict[str, list[Heard]] = {}
    nothing: list[Heard] = []
    for recording in recordings(folder):
        before = decoding(engine)
        result = await heard(engine, " ".join(recording.said), recording.pcm)
        result = replace(result, work=result.work + decoding(engine) - before)
        (groups.setdefault(recording.group, []) if recording.said else nothing).append(result)
        if show:
            show_result(recording, result)
    everything = [result for results in groups.values() for result in results]
    for name, results in (*groups.items(), ("all", everything)):
        work = sum(each.work for each in results) / sum(each.sound for each in results)
        print(
            f"| {name} | {len(results)} | {sum(len(each.said) for each in results)} | {word_error(results):.0%}"
            f" | {stood_error(results):.0%} | {sum(not each.stood for each in results)} | {work:.2f} s |"
        )
    print(f"\nwithout a word of English: {sum(each.stood for each in nothing)} of {len(nothing)} accepted")
    waits = [each.wait for each in everything]
    print(
        f"wait at the end: median {1000 * median(waits):.0f} ms, most {1000 * max(waits):.0f} ms; {machine_load()}"
    )


async def at_once(engine: PocketsphinxRecogniser, folder: Path, callers: int) -> None:
    """How late partial and final words are while so many people speak at the same time."""
    said = [each for each in recordings(folder) if each.said]
    late: list[float] = []
    waits: list[float] = []

    async def caller(turns: Sequence[PersonRecording]) -> None:
        for turn in turns:
            begun = time.perf_counter()
            async with engine.stream() as listener:
                for at in range(0, len(turn.pcm), PIECE):
                    spoken = begun + (at + PIECE) / SAMPLE_BYTES / HEARD_RATE
                    await anyio.sleep(max(0.0, spoken - time.perf_counter()))
                    await listener.feed(turn.pcm[at : at + PIECE])
                    late.append(time.perf_counter() - spoken)
                ended = time.perf_counter()
                await listener.finish()
                waits.append(late[-1] + time.perf_counter() - ended)

    before, begun = decoding(engine), time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for number in range(callers):
            tasks.start_soon(caller, said[number::callers])
    work = (decoding(engine) - before) / (time.perf_counter() - begun)
    late.sort()
    waits.sort()
    print(f"{callers} at once, {len(waits)} recordings, {work:.2f} cores at work")
    print(
        f"partial words late: median {1000 * median(late):.0f} ms, 19 of 20 within {1000 * late[len(late) * 19 // 20]:.0f} ms"
    )
    print(
        f"final words after the end: median {1000 * median(waits):.0f} ms, 19 of 20 within"
        f" {1000 * waits[len(waits) * 19 // 20]:.0f} ms; {machine_load()}"
    )


def show_result(recording: PersonRecording, result: Heard) -> None:
    print(
        f"    {recording.name} {'stands' if result.stood else 'back  '} {' '.join(result.said)} -> {' '.join(result.wrote)}"
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
    parser.add_argument("--people", type=Path, metavar="FOLDER")
    parser.add_argument("--callers", type=int, default=1, help="people who speak at once")
    parser.add_argument("--voices", nargs="+", default=VOICES)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--noise", type=float, help="dB that a room's noise is below the speech")
    parser.add_argument("--adaptation", type=Path, default=ADAPTATION)
    parser.add_argument("--as-it-comes", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    plain = arguments.people or arguments.as_it_comes
    begun = time.perf_counter()
    engine = await load_recogniser("pocketsphinx", {} if plain else {"adaptation": str(arguments.adaptation)})
    assert isinstance(engine, PocketsphinxRecogniser)
    print(f"loaded in {time.perf_counter() - begun:.2f} s\n")
    if arguments.people and arguments.callers > 1:
        await at_once(engine, arguments.people, arguments.callers)
    elif arguments.people:
        await people(engine, arguments.people, arguments.show)
    else:
        await measured(engine, arguments)
    await taken(engine)
    await engine.close()


if __name__ == "__main__":
    anyio.run(main)
