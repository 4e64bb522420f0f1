"""Scores a recording by arithmetic: times, counts and comparisons. The content of replies is not judged.

The figures follow the definitions of the Full-Duplex-Bench papers, written anew: a take-over is speech of the server before
the caller's turn is over, a latency runs from the caller's last audible sample to the first audible one of the answer, a stop
latency is how long both speak. Seconds throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy

from duologue.client.player import DROP_FADE
from duologue.values.audio import SPOKEN_RATE

from .recording import Deed, Message, Recording
from .sounds import AUDIBLE

SHORTEST = 0.06
"""Sound of the server shorter than this is a click of a fade, and no speech."""
MERGED = 0.25
"""Silence inside speech: shorter ones part no segments."""
COMPARED = 2400
"""Samples that are compared to find a place again."""
RISEN, FADED = 120, 600
"""Samples in which a reply rises after a silence, and at most those that a fade changes around one."""
MILLISECOND = SPOKEN_RATE // 1000
"""Captions are given in whole ones."""


@dataclass(frozen=True)
class Latency:
    """One answer: how long after the caller's last sound it came, and the part of it that was waiting for more."""

    total: float
    endpoint: float

    @property
    def beyond(self) -> float:
        return self.total - self.endpoint


@dataclass(frozen=True)
class Stop:
    """One interruption: how long after its onset the reply fell silent, was paused, and ended. None: never."""

    silent: float | None
    held: float | None
    over: float | None


@dataclass(frozen=True)
class Continuity:
    """A reply as it was heard against the reply as it came: samples that never sounded, that sounded twice, that differ."""

    lost: int
    repeated: int
    wrong: int
    pauses: int


def segments(sound: numpy.ndarray, rate: int = SPOKEN_RATE) -> list[tuple[float, float]]:
    """Intervals of speech: from the first to the last audible sample between silences of MERGED."""
    loud = numpy.flatnonzero(numpy.abs(sound.astype(numpy.int32)) > AUDIBLE)
    if not len(loud):
        return []
    breaks = numpy.flatnonzero(numpy.diff(loud) > MERGED * rate)
    starts = numpy.concatenate([[loud[0]], loud[breaks + 1]])
    ends = numpy.concatenate([loud[breaks], [loud[-1]]]) + 1
    found = [(float(start) / rate, float(end) / rate) for start, end in zip(starts, ends, strict=True)]
    return [(start, end) for start, end in found if end - start >= SHORTEST]


def deeds(recording: Recording, tag: str) -> list[Deed]:
    return [deed for deed in recording.deeds if tag in deed.tags]


def latency(recording: Recording, deed: Deed) -> Latency | None:
    """Of the answer to an utterance; None if none came before the caller's next action."""
    following = [other.start for other in recording.deeds if other.start > deed.end]
    end = min(following, default=recording.seconds)
    first = next((start for start, _ in segments(recording.sounded) if deed.end < start < end), None)
    if first is None:
        return None
    # The turn is over when the server says that it thinks; or, where the answer is ready by then, when its sound begins.
    sure = [
        each.at
        for each in recording.messages
        if deed.end < each.at <= first
        and (each.kind == "audio_start" or (each.kind == "status" and each.body["state"] == "thinking"))
    ]
    hearing = [
        each.at for each in recording.of("status") if each.body["state"] == "hearing" and each.at <= first
    ]
    endpoint = next((at - deed.end for at in sure if at >= max(hearing, default=0.0)), 0.0)
    return Latency(first - deed.end, endpoint)


def takeover(recording: Recording, deed: Deed) -> bool | None:
    """Whether the server spoke while the caller paused in the middle of an utterance; None if they did not pause."""
    if not deed.pauses:
        return None
    return any(start < deed.end and end > deed.pauses[0][0] for start, end in segments(recording.sounded))


def stop(recording: Recording, deed: Deed) -> Stop | None:
    """Of an interruption; None where nothing was sounding when it began."""
    sound = recording.sounded
    before = sound[max(0, round((deed.start - 0.4) * SPOKEN_RATE)) : round(deed.start * SPOKEN_RATE)]
    if not numpy.any(numpy.abs(before.astype(numpy.int32)) > AUDIBLE):
        return None
    held = _first(recording.of("pause"), deed.start)
    cut = _first(recording.of("interrupt"), deed.start)
    over = _over(recording, deed, cut)
    quiet = [at for at in (held, cut) if at is not None]
    silent = None
    if quiet:
        silent = _last_sound(sound, deed.start, min(quiet) + 0.1)
    return Stop(
        None if silent is None else max(0.0, silent - deed.start),
        None if held is None else held - deed.start,
        over,
    )


def _over(recording: Recording, deed: Deed, cut: float | None) -> float | None:
    """How long after its onset no more of the reply was heard, and never would be."""
    if deed.kind == "press":
        last = _last_sound(recording.sounded, deed.start, deed.start + 1.0)
        return max(0.0, last - deed.start)
    if cut is None:
        return None
    last = _last_sound(recording.sounded, deed.start, cut + 0.1)
    return max(cut, last) - deed.start


def _first(messages: Iterable[Message], after: float) -> float | None:
    return next((each.at for each in messages if after <= each.at < after + 5), None)


def _last_sound(sound: numpy.ndarray, start: float, end: float) -> float:
    """The last audible sample between two moments; the first of them where all is silent."""
    at = round(start * SPOKEN_RATE)
    loud = numpy.flatnonzero(numpy.abs(sound[at : round(end * SPOKEN_RATE)].astype(numpy.int32)) > AUDIBLE)
    return start + (float(loud[-1]) + 1) / SPOKEN_RATE if len(loud) else start


def ended_by(recording: Recording, deed: Deed, within: float = 3.0) -> bool:
    """Whether a reply was interrupted within so many seconds of an action's end, and before the next action."""
    following = [other.start for other in recording.deeds if other.start > deed.end]
    until = min([*following, deed.end + within])
    return any(deed.start <= each.at < until for each in recording.of("interrupt"))


def was_sounding(recording: Recording, deed: Deed) -> bool:
    """Whether a reply was heard when the deed began: without one there is nothing it could have ended."""
    return any(start < deed.start < end + MERGED for start, end in segments(recording.sounded))


def heard_exactly(recording: Recording, reply: int, words: Sequence[tuple[str, float, float]]) -> bool:
    """Whether what the server keeps of a reply are the words that were heard of it: those whose end was played, no more and
    no fewer. `words` are its words and their times in the reply."""
    done = next((each.body for each in recording.of("reply_done", reply)), {})
    played = recording.heard.get(reply, 0)
    # An interrupted reply fades out; a word that ends within the fade may or may not have been heard.
    slack = DROP_FADE if done.get("ending") != "spoken" else 0
    counts = {
        sum(round(end * SPOKEN_RATE) <= to for _, _, end in words)
        for to in (played - slack - MILLISECOND, played)
    }
    kept = plain(str(done.get("text", "")))
    return any(kept == [word for text, _, _ in words[:count] for word in plain(text)] for count in counts)


def continuity_of(recording: Recording, reply: int) -> Continuity | None:
    """Of one reply in a recording; None where nothing of it was heard."""
    begun = next((each.at for each in recording.of("audio_start", reply)), None)
    if begun is None or not recording.heard.get(reply):
        return None
    following = [each.at for each in recording.of("audio_start") if each.at > begun]
    cut = [each.at + 0.1 for each in recording.of("interrupt", reply)]
    end = min([*following, *cut], default=recording.seconds)
    part = recording.sounded[round(begun * SPOKEN_RATE) : round(end * SPOKEN_RATE)]
    return continuity(part, numpy.frombuffer(recording.replies.get(reply, b""), numpy.int16))


def plain(text: str) -> list[str]:
    """Words without case and marks."""
    bare = "".join(letter if letter.isalnum() or letter == "'" else " " for letter in text.lower())
    return bare.split()


def after_cut(recording: Recording) -> int:
    """Everything that came, or sounded, although the server had said that it was over: messages and frames, and replies that
    sounded on after it."""
    wrong = len(recording.stale)
    for number, cut in enumerate(recording.messages):
        if cut.kind != "interrupt":
            continue
        # In the order they came: the next reply may begin in the same 20 ms.
        starts = (each.at for each in recording.messages[number:] if each.kind == "audio_start")
        following = next(starts, cut.at + 3.0)
        if following <= cut.at + 0.08:
            continue
        last = _last_sound(recording.sounded, cut.at + 0.08, following)
        wrong += last > cut.at + 0.08
    return wrong


def continuity(sounded: numpy.ndarray, reply: numpy.ndarray) -> Continuity:
    """How a reply was heard, pauses and all, against its sound as it came.

    The two are laid over each other from the first audible sample on. Where they part, the recording has faded: either it goes
    on at the same place, or it fell silent, and what sounds next is looked for in the reply. Samples are lost or repeated
    where that is not the place it stopped at; silent ones nobody misses. What never sounds after a stop was cut, not lost.
    """
    lost = repeated = wrong = pauses = 0
    at, place = _aligned(sounded, reply)
    while True:
        same = _same(sounded[at:], reply[place:])
        at, place = at + same, place + same
        if at >= len(sounded) or place >= len(reply):
            break
        ahead = FADED
        if len(reply) - place <= ahead or _same(sounded[at + ahead :], reply[place + ahead :]) >= 1200:
            at, place = at + ahead, place + ahead
            continue
        stopped, begins = _pause(sounded, at)
        if begins is None:
            break
        found = _search(reply, sounded[begins + RISEN : begins + RISEN + COMPARED], place)
        if found is None:
            wrong += 1
            break
        pauses += 1
        # The exact end of a fade cannot be measured: its last samples are almost silent.
        lost += _audible(reply[place + FADED : found - RISEN])
        repeated += _audible(reply[found - RISEN : place + min(stopped - at, FADED)])
        at, place = begins + RISEN, found
    return Continuity(lost, repeated, wrong, pauses)


def _audible(sound: numpy.ndarray) -> int:
    return int(numpy.count_nonzero(numpy.abs(sound.astype(numpy.int32)) > AUDIBLE))


def _same(one: numpy.ndarray, other: numpy.ndarray) -> int:
    """How many samples at the beginning of both are the same."""
    count = min(len(one), len(other))
    differ = numpy.flatnonzero(one[:count] != other[:count])
    return int(differ[0]) if len(differ) else count


def _aligned(sounded: numpy.ndarray, reply: numpy.ndarray) -> tuple[int, int]:
    """The first place where recording and reply are the same, behind the rise of the beginning."""
    loud = numpy.flatnonzero(numpy.abs(reply.astype(numpy.int32)) > AUDIBLE)
    start = max(RISEN, int(loud[0]) if len(loud) else 0)
    at = _search(sounded, reply[start : start + COMPARED], 0)
    return (len(sounded), 0) if at is None else (at, start)


def _pause(sounded: numpy.ndarray, at: int) -> tuple[int, int | None]:
    """Where the recording falls silent after `at`, and where it sounds again; None: never."""
    quiet = (numpy.abs(sounded[at:].astype(numpy.int32)) <= 2).astype(numpy.int32)
    runs = (
        numpy.convolve(quiet, numpy.ones(480, numpy.int32), "valid") if len(quiet) >= 480 else numpy.zeros(0)
    )
    whole = numpy.flatnonzero(runs == 480)
    if not len(whole):
        return len(sounded), None
    stopped = at + int(whole[0])
    loud = numpy.flatnonzero(numpy.abs(sounded[stopped:].astype(numpy.int32)) > AUDIBLE)
    return stopped, stopped + int(loud[0]) if len(loud) else None


def _search(sound: numpy.ndarray, probe: numpy.ndarray, near: int) -> int | None:
    """Where exactly these samples are, nearest to a place; None where they are not."""
    if not len(probe) or len(sound) < len(probe) or not _audible(probe):
        return None
    loudest = int(numpy.argmax(numpy.abs(probe.astype(numpy.int32))))
    tail = len(sound) - len(probe) + 1
    candidates = numpy.flatnonzero(sound[loudest : loudest + tail] == probe[loudest])
    exact = [
        int(place) for place in candidates if numpy.array_equal(sound[place : place + len(probe)], probe)
    ]
    return min(exact, key=lambda place: abs(place - near), default=None)
