"""Tests a model file on fresh draws of the generators, on the hand-written cases, and for speed; prints a table.

Run `python -m duologue_mini.evaluation.evaluate --help`.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from duologue_mini import skills
from duologue_mini.evaluation import fresh_draws, heldout, speed
from duologue_mini.evaluation.chat_model import ChatModel, ModelReply
from duologue_mini.evaluation.fresh_draws import Outcome

MODEL_PATH = Path(str(files("duologue.models") / "duologue-mini.gguf"))
OWN_TEMPERATURE = None
"""The engine takes the temperature in the model file."""
ROWS = {
    "greetings": ("manners",),
    "help": ("guide",),
    "sums": ("arithmetic",),
    "tools": ("unseen_tools", "tools"),
    "recall": ("recall", "memory"),
    "reading": ("reading",),
    "rewriting": ("rewriting", "echo"),
    "stories": ("stories",),
    "system": ("instructed",),
    "spoken": ("spoken",),
    "scope": ("scope",),
}
"""The rows of the table and their families of fresh draws; a row of the hand-written set may have none."""

Item = TypeVar("Item")


@dataclass
class Tally:
    """The outcomes of a run, by row of the table."""

    good: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    replies: list[ModelReply] = field(default_factory=list)

    def add(self, row: str, outcome: Outcome) -> None:
        """Counts one outcome in its row."""
        self.good[row].append(outcome.good)
        self.replies += outcome.replies

    def cell(self, row: str) -> str:
        """The share that passed in one row."""
        results = [it for line in self.good.values() for it in line] if row == "all" else self.good[row]
        return f"{sum(results) / len(results):.0%} of {len(results)}" if results else ""

    def manners(self) -> dict[str, float]:
        """Shares of turns that ended, looped, or had broken calls."""
        count = max(1, len(self.replies))
        calls = max(1, sum(len(reply.calls) or reply.broken_calls for reply in self.replies))
        return {
            "turns": count,
            "ended": round(sum(reply.ended for reply in self.replies) / count, 4),
            "loops": round(sum(reply.loops for reply in self.replies) / count, 4),
            "broken calls": round(sum(reply.broken_calls for reply in self.replies) / calls, 4),
        }


def row_of(family: str) -> str:
    """The row of the table a family belongs to."""
    return next((row for row, families in ROWS.items() if family in families), family)


def ask_case(case: heldout.Case, model: ChatModel) -> Outcome:
    """Holds a hand-written conversation with the model and judges it."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": case.system}] if case.system else []
    answers, replies = [], []
    tools = [dict(tool) for tool in case.tools]
    for number, turn in enumerate(case.turns, start=1):
        messages.append({"role": "user", "content": turn})
        thinking = case.thinking and number == len(case.turns)
        first = model.reply(messages, tools, thinking=thinking)
        replies.append(first)
        messages.append(first.message)
        after = None
        if first.calls and case.results:
            results = [case.results.get(call.name, "error: unknown tool") for call in first.calls]
            messages += [{"role": "tool", "content": result} for result in results]
            after = model.reply(messages, tools, thinking=thinking)
            replies.append(after)
            messages.append(after.message)
        answers.append(heldout.Answer(first.checked, after.checked if after else None))
    wrong = heldout.judge(case, answers)
    ended = all(reply.ended for reply in replies)
    why = "; ".join([*wrong, *([] if ended else ["a turn did not end"])])
    return Outcome(case.skill, not why, why, replies, " / ".join(case.turns))


def run_tally(
    items: Sequence[Item], ask: Callable[[Item], Outcome], slots: int, show: Callable[[Outcome], None]
) -> Tally:
    """Asks all items, `slots` at a time, and counts the outcomes."""
    tally = Tally()
    with ThreadPoolExecutor(slots) as pool:
        for outcome in pool.map(ask, items):
            tally.add(row_of(outcome.family), outcome)
            show(outcome)
    return tally


def printer(which: str) -> Callable[[Outcome], None]:
    """A function that prints all, failed or no outcomes."""

    def show(outcome: Outcome) -> None:
        if which == "none" or (which == "failed" and outcome.good):
            return
        print(f"[{'ok' if outcome.good else 'FAILED'}] {outcome.family}: {outcome.question!r}")
        for reply in outcome.replies:
            calls = "".join(f" -> {call.name}{json.dumps(call.arguments)}" for call in reply.calls)
            thought = f"({reply.thought!r}) " if reply.thought else ""
            print(f"    {thought}{reply.text!r}{calls}{'' if reply.ended else ' ...'}")
        if not outcome.good:
            print(f"    {outcome.why}", flush=True)

    return show


def table(columns: dict[str, Tally]) -> str:
    """The tallies side by side."""
    names = [*dict.fromkeys([*ROWS, *heldout.SKILLS]), "all"]
    lines = [f"| skill | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(tally.cell(name) for tally in columns.values())} |" for name in names]
    for what in ("turns", "ended", "loops", "broken calls"):
        cells = [
            f"{tally.manners()[what]:.2%}" if what != "turns" else f"{tally.manners()[what]}"
            for tally in columns.values()
        ]
        lines.append(f"| *{what}* | {' | '.join(cells)} |")
    return "\n".join(lines)


def families(rows: Iterable[str] | None) -> list[str]:
    """The families to draw from: all of the mix, or those of the given rows."""
    return [name for name in skills.WEIGHTS if rows is None or row_of(name) in rows or name in rows]


def run(arguments: argparse.Namespace) -> dict[str, Tally]:
    """Runs what the command line asks for; returns the columns of the table."""
    cases = [case for case in heldout.load() if arguments.skill is None or case.skill in arguments.skill]
    questions = [
        question
        for family in families(arguments.skill)
        for question in fresh_draws.questions(family, arguments.draws, arguments.seed)
    ]
    columns = {}
    temperatures = {"greedy": 0.0, "own temperature": OWN_TEMPERATURE}
    for name in arguments.at:
        model = ChatModel(
            arguments.model,
            slots=arguments.slots,
            threads=arguments.threads,
            temperature=temperatures[name],
            free_calls=arguments.free_calls,
        )
        show = printer(arguments.show)
        columns[f"fresh, {name}"] = run_tally(
            questions, partial(fresh_draws.ask, reply_to=model.reply), arguments.slots, show
        )
        columns[f"hand-written, {name}"] = run_tally(
            cases, partial(ask_case, model=model), arguments.slots, show
        )
    return columns


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Test a model file.")
    parser.add_argument("--model", type=Path, default=MODEL_PATH)
    parser.add_argument("--draws", type=int, default=40, help="fresh draws per family")
    parser.add_argument("--skill", nargs="*", help="only these rows of the table, or families")
    parser.add_argument(
        "--at", nargs="*", default=["greedy", "own temperature"], help="greedy, own temperature"
    )
    parser.add_argument("--show", choices=["none", "failed", "all"], default="none", help="print replies")
    parser.add_argument(
        "--free-calls", action="store_true", help="without the server's grammar for tool calls"
    )
    parser.add_argument("--slots", type=int, default=8, help="parallel conversations")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--no-speed", action="store_true", help="skip the speed test (other programs are running)"
    )
    arguments = parser.parse_args()
    columns = run(arguments)
    print("\n" + table(columns))
    if not arguments.no_speed:
        print("\n" + json.dumps(speed.measure(arguments.model, arguments.threads)))


if __name__ == "__main__":
    main()
