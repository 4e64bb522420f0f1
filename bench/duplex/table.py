"""The figures of all recordings, and the table they make: what is measured, its target, and whether it was reached."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from . import scoring
from .counts import Count
from .recording import Recording


@dataclass(frozen=True)
class Row:
    """One line of the table. `reached` is None without a target or a measurement."""

    what: str
    target: str
    result: str
    reached: bool | None = None

    @property
    def line(self) -> str:
        mark = {True: "reached", False: "MISSED", None: ""}[self.reached]
        return f"| {self.what} | {self.target} | {self.result} | {mark} |"


HEAD = "| what | target | result | |\n|---|---|---|---|"


@dataclass
class Figures:
    """Everything measured of a set of recordings. Seconds."""

    latencies: list[scoring.Latency] = field(default_factory=list)
    unanswered: int = 0
    paused: dict[str, list[bool]] = field(default_factory=dict)
    """Of each length of pause: whether the server took over in it."""
    stops: list[scoring.Stop] = field(default_factory=list)
    in_a_word: list[scoring.Stop] = field(default_factory=list)
    """Interruptions of one or two words, which are recognised only after they end."""
    few_words: list[scoring.Stop] = field(default_factory=list)
    """Those at clients that do not pause."""
    buttons: list[float] = field(default_factory=list)
    alarms: dict[str, list[bool]] = field(default_factory=dict)
    """For each kind of sound that was not an interruption: whether it ended the reply."""
    continuities: list[scoring.Continuity] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    """Of each interrupted reply: whether the history has exactly what was heard."""
    reckoned: list[bool] = field(default_factory=list)
    """The same for clients that do not report what they played."""
    stale: int = 0
    cuts: int = 0
    gaps: list[float] = field(default_factory=list)
    late: float = 0.0
    problems: list[str] = field(default_factory=list)

    def add(self, recording: Recording) -> None:
        self._turns(recording)
        self._interruptions(recording)
        self._alarms(recording)
        for reply in recording.heard:
            if (heard := scoring.continuity_of(recording, reply)) is not None:
                self.continuities.append(heard)
        for done in recording.of("reply_done"):
            if done.body["ending"] == "interrupted":
                counted = self.kept if recording.marks else self.reckoned
                counted.append(scoring.heard_exactly(recording, done.reply, recording.words(done.reply)))
        self.cuts += len(recording.of("interrupt"))
        self.stale += scoring.after_cut(recording)
        self.gaps += recording.gaps
        self.late = max(self.late, recording.late)
        if recording.problem:
            self.problems.append(f"{recording.name}: {recording.problem}")

    def _turns(self, recording: Recording) -> None:
        for deed in scoring.deeds(recording, "turn") + scoring.deeds(recording, "pause"):
            taken = scoring.takeover(recording, deed)
            if taken is not None:
                length = f"{deed.pauses[0][1] - deed.pauses[0][0]:.1f}"
                self.paused.setdefault(length, []).append(taken)
            if taken:
                continue
            answered = scoring.latency(recording, deed)
            if answered is None:
                self.unanswered += 1
            else:
                self.latencies.append(answered)

    def _interruptions(self, recording: Recording) -> None:
        tagged = {"interruption": self.stops, "in_a_word": self.in_a_word, "few_words": self.few_words}
        for tag, kept in tagged.items():
            for deed in scoring.deeds(recording, tag):
                if deed.kind != "press" and (stopped := scoring.stop(recording, deed)) is not None:
                    kept.append(stopped)
        for deed in scoring.deeds(recording, "button"):
            stopped = scoring.stop(recording, deed)
            if stopped is not None and stopped.over is not None:
                self.buttons.append(stopped.over)

    def _alarms(self, recording: Recording) -> None:
        for deed in scoring.deeds(recording, "alarm"):
            if scoring.was_sounding(recording, deed):
                kind = (
                    deed.text
                    if deed.kind in ("say", "mark")
                    else "somebody else"
                    if deed.kind == "murmur"
                    else deed.kind
                )
                self.alarms.setdefault(kind, []).append(scoring.ended_by(recording, deed))
        if scoring.deeds(recording, "echo"):
            self.alarms.setdefault("echo", []).append(bool(recording.of("interrupt")))


def milliseconds(values: Sequence[float]) -> str:
    """Median, worst and how many."""
    if not values:
        return "nothing measured"
    told = (
        f"{statistics.median(values) * 1000:.0f} ms median, {max(values) * 1000:.0f} worst of {len(values)}"
    )
    return told


def rows(figures: Figures) -> list[Row]:
    """The table of the recordings made at the pace of time."""
    return [*_turn_rows(figures), *_stop_rows(figures), *_true_rows(figures)]


def _turn_rows(figures: Figures) -> Iterable[Row]:
    beyond = [each.beyond for each in figures.latencies]
    total = [each.total for each in figures.latencies]
    yield _timed("end of speech to first sound, beyond the endpoint delay", 0.150, beyond)
    yield Row("the same with the endpoint delay", "< 1 s", milliseconds(total), _under(total, 1.0))
    yield Row("said and never answered", "0", str(figures.unanswered), figures.unanswered == 0)
    for length, taken in sorted(figures.paused.items()):
        share = sum(taken) / len(taken)
        target, reached = ("< 10 %", share < 0.1) if length in ("0.3", "0.7") else ("", None)
        yield Row(f"take-over in a {length} s pause", target, f"{share:.0%} of {len(taken)}", reached)


def _stop_rows(figures: Figures) -> Iterable[Row]:
    yield _timed("barge-in: onset to silence", 0.200, [each.silent for each in figures.stops])
    yield _timed("barge-in: onset to silent for good", 0.400, [each.over for each in figures.stops])
    yield Row(
        "the same of those in a word or two",
        "",
        f"{milliseconds([each.silent for each in figures.in_a_word if each.silent])};"
        f" {milliseconds([each.over for each in figures.in_a_word if each.over])}",
    )
    stops = [*figures.stops, *figures.in_a_word]
    missed = sum(each.over is None for each in stops)
    yield Row("barge-ins that did not end the reply", "0", f"{missed} of {len(stops)}", missed == 0)
    yield Row(
        "a client of few words: onset to silence",
        "",
        milliseconds([each.over for each in figures.few_words if each.over]),
    )
    yield _timed("button or Esc to silence", 0.100, figures.buttons)
    ended = [wrong for kind in figures.alarms.values() for wrong in kind]
    share = sum(ended) / len(ended) if ended else 0.0
    each = ", ".join(f"{kind} {sum(wrong)}/{len(wrong)}" for kind, wrong in sorted(figures.alarms.items()))
    yield Row(
        "false alarms that end a reply", "< 5 %", f"{share:.0%} ({each})", share < 0.05 if ended else None
    )


def _true_rows(figures: Figures) -> Iterable[Row]:
    lost = sum(each.lost for each in figures.continuities)
    repeated = sum(each.repeated for each in figures.continuities)
    wrong = sum(each.wrong for each in figures.continuities)
    pauses = sum(each.pauses for each in figures.continuities)
    yield Row(
        "samples lost, repeated, wrong around pauses",
        "0",
        f"{lost}, {repeated}, {wrong} in {pauses} pauses of {len(figures.continuities)} replies",
        lost == repeated == wrong == 0,
    )
    yield Row(
        "history equals the words heard",
        "100 %",
        f"{sum(figures.kept)} of {len(figures.kept)}",
        all(figures.kept),
    )
    yield Row(
        "the same, clients that do not tell what they played",
        "",
        f"{sum(figures.reckoned)} of {len(figures.reckoned)}",
    )
    yield Row("stale after a cancel", "0", f"{figures.stale} of {figures.cuts}", figures.stale == 0)


def _timed(what: str, target: float, values: Iterable[float | None]) -> Row:
    known = [value for value in values if value is not None]
    return Row(what, f"{target * 1000:.0f} ms median", milliseconds(known), _under(known, target))


def _under(values: Sequence[float], limit: float) -> bool | None:
    return statistics.median(values) <= limit if values else None


def counted(what: str, count: Count) -> Row:
    """A line for a count made in process."""
    result = f"{count.right} of {count.tried}" + (f"; {count.first_wrong}" if count.first_wrong else "")
    return Row(what, "all", result, count.right == count.tried)


def printed(lines: Iterable[Row], say: Callable[[str], None] = print) -> bool:
    """Print the table. Whether every target was reached."""
    say(HEAD)
    reached = True
    for row in lines:
        say(row.line)
        reached = reached and row.reached is not False
    return reached
