"""Makes the corpus: draws dialogues in several processes, trains the tokenizer on some, writes shards of packed rows.

Writes `rows/`, `held-out/`, `tokenizer.json` and `corpus.json` in the data folder. Shards come out in the order of the
curriculum, so training may start while later ones are still being made; existing shards are kept.
Run `python -m duologue_mini.data.corpus --help`.
"""

import argparse
import json
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from multiprocessing import Pool
from pathlib import Path
from random import Random

from duologue_mini.data import dialogues
from duologue_mini.data.curriculum import Lesson, lesson_at
from duologue_mini.data.packing import EncodedDialogue, Packer, save_shard, shards
from duologue_mini.model import tokenizer
from duologue_mini.model.chat_template import render
from duologue_mini.skills import WEIGHTS

SHARD = 4_000
"""Dialogues per shard."""
TOKENIZER_DIALOGUES = 30_000
FARTHEST_POSITION = 4095
HELD_OUT = "held-out"
"""The folder of one shard of the last lesson that is never trained on."""

Emphasis = dict[str, float]


@dataclass(frozen=True)
class Plan:
    """What to make: the number of shards, their seed and their mix."""

    folder: Path
    shards: int
    seed: int
    emphasis: Emphasis = field(default_factory=dict)
    course: bool = True
    rows: str = "rows"

    def lesson(self, index: int) -> Lesson:
        """The lesson of a shard, with the plan's emphasis applied."""
        lesson = lesson_at(index / self.shards if self.course else 1.0)
        factors = {name: lesson.emphasis.get(name, 1.0) * self.emphasis.get(name, 1.0) for name in WEIGHTS}
        return Lesson(
            lesson.until, factors, lesson.topics, lesson.long_share, lesson.cut_share, lesson.spread_share
        )


def render_dialogue(dialogue: dialogues.Dialogue) -> str:
    """The text the model reads for a dialogue."""
    return render(dialogue.messages, dialogue.tools, enable_thinking=dialogue.thinking)


def spread_positions(random: Random, length: int, starts: list[int]) -> list[int]:
    """Positions with gaps between messages, so that long distances occur in short rows."""
    gaps = dict.fromkeys(starts[1:], 0)
    budget = max(0, FARTHEST_POSITION - length)
    for start in random.sample(list(gaps), min(len(gaps), random.randint(1, 3))):
        gaps[start] = int(random.random() ** 2 * budget / 3)
    positions, shift = [], 0
    for index in range(length):
        shift += gaps.get(index, 0)
        positions.append(index + shift)
    return positions


def encode(random: Random, encoder: tokenizer.Encoder, text: str, lesson: Lesson) -> EncodedDialogue:
    """A rendered dialogue as ids, at times with subword dropout or spread positions."""
    cut = (
        tokenizer.SubwordDropout(random, random.uniform(0.03, 0.4))
        if random.random() < lesson.cut_share
        else None
    )
    ids, loss_mask, starts = encoder.encode(text, cut)
    spread = random.random() < lesson.spread_share and len(starts) > 1
    positions = spread_positions(random, len(ids), starts) if spread else list(range(len(ids)))
    return EncodedDialogue(ids, loss_mask, positions)


def make_shard(task: tuple[Plan, int]) -> Counter[str]:
    """Draws, packs and writes one shard; returns its token counts."""
    plan, index = task
    began = time.monotonic()
    random = Random(f"{plan.rows} {plan.seed} {index}")
    encoder = tokenizer.Encoder(tokenizer.load(plan.folder / "tokenizer.json"))
    lesson, packer, counts = plan.lesson(index), Packer(), Counter[str]()
    for _ in range(SHARD):
        dialogue = dialogues.draw(random, lesson.emphasis, topics=lesson.topics, long_share=lesson.long_share)
        row = encode(random, encoder, render_dialogue(dialogue), lesson)
        packer.add(row)
        counts[f"skill {dialogue.skill}"] += len(row.ids)
        counts["tokens"] += len(row.ids)
        counts["learned"] += sum(row.loss_mask)
    rows = packer.finish()
    save_shard(plan.folder / plan.rows, 0 if plan.rows == HELD_OUT else index, rows)
    counts["room"] += sum(array.shape[0] * array.shape[2] for array in rows.values())
    counts["too long"] += packer.too_long
    counts["dialogues"] += SHARD
    counts["milliseconds"] += round(1000 * (time.monotonic() - began))
    return counts


def train_tokenizer(path: Path, seed: int, vocabulary: int) -> None:
    """Trains the tokenizer on dialogues of its own."""
    random = Random(f"tokenizer {seed}")
    texts = (render_dialogue(dialogues.draw(random, {})) for _ in range(TOKENIZER_DIALOGUES))
    tokenizer.train(texts, vocabulary).save(str(path))


def take_tokenizer(source: Path, target: Path) -> None:
    """Copies the tokenizer of an earlier run or of a model file."""
    if source.suffix == ".gguf":
        from duologue_mini.model import restore  # imports torch, which making data does not need otherwise

        restore.read(source).tokenizer.save(str(target))
    else:
        target.write_bytes(source.read_bytes())


def write(plan: Plan, processes: int) -> None:
    """Makes the missing shards and prints progress."""
    began = time.monotonic()
    there = set(shards(plan.folder / "rows"))
    tasks = [(plan, index) for index in range(plan.shards) if index not in there]
    if not shards(plan.folder / HELD_OUT):
        tasks.insert(0, (replace(plan, rows=HELD_OUT, course=False), 0))
    total: Counter[str] = Counter()
    with Pool(processes) as pool:
        for count, counts in enumerate(pool.imap_unordered(make_shard, tasks), start=1):
            total += counts
            if count % max(1, len(tasks) // 20) == 0 or count == len(tasks):
                _report(plan.folder, total, count, len(tasks), time.monotonic() - began)


def _report(folder: Path, total: Counter[str], shard_count: int, expected: int, seconds: float) -> None:
    skills = {
        name.removeprefix("skill "): count for name, count in total.items() if name.startswith("skill ")
    }
    report = {
        "dialogues": total["dialogues"],
        "tokens": total["tokens"],
        "learned": total["learned"],
        "filled": round(total["tokens"] / total["room"], 4),
        "too long, left out": total["too long"],
        "tokens a second": round(total["tokens"] / seconds),
        "tokens a second and core": round(1000 * total["tokens"] / total["milliseconds"]),
        "tokens_by_skill": dict(sorted(skills.items(), key=lambda item: -item[1])),
    }
    (folder / "corpus.json").write_text(json.dumps(report, indent=2) + "\n")
    print(
        f"shard {shard_count} of {expected}: {total['tokens'] / 1e6:.1f} M tokens, {report['tokens a second']} a second,"
        f" {report['tokens a second and core']} a core, rows {report['filled']:.0%} full",
        flush=True,
    )


def parse_emphasis(text: str) -> tuple[str, float]:
    """Parses SKILL=FACTOR from the command line."""
    name, _, factor = text.partition("=")
    if name not in WEIGHTS:
        raise argparse.ArgumentTypeError(f"no skill {name!r}; there are {', '.join(WEIGHTS)}")
    return name, float(factor)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Draw dialogues and write the training corpus.")
    parser.add_argument("--data", type=Path, default=Path("build/mini"), help="data folder")
    parser.add_argument("--dialogues", type=int, default=200_000, help=f"rounded up to shards of {SHARD}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=2048, help="size of a new tokenizer's vocabulary")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        help="use this tokenizer.json, or the tokenizer of this GGUF, instead of a new one",
    )
    parser.add_argument(
        "--emphasis", type=parse_emphasis, nargs="*", default=[], help="SKILL=FACTOR ...: change the mix"
    )
    parser.add_argument(
        "--no-course", action="store_true", help="no curriculum: the last lesson's mix throughout"
    )
    parser.add_argument("--show", type=int, default=0, help="print this many dialogues instead of writing")
    arguments = parser.parse_args()
    emphasis = dict(arguments.emphasis)
    if arguments.show:
        random = Random(arguments.seed)
        for _ in range(arguments.show):
            print(render_dialogue(dialogues.draw(random, emphasis)), end="\n---\n")
        return
    folder = arguments.data
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.tokenizer:
        take_tokenizer(arguments.tokenizer, folder / "tokenizer.json")
    elif not (folder / "tokenizer.json").exists():
        train_tokenizer(folder / "tokenizer.json", arguments.seed, arguments.vocabulary)
    count = -(-arguments.dialogues // SHARD)
    plan = Plan(folder, count, arguments.seed, emphasis, not arguments.no_course)
    write(plan, arguments.processes)


if __name__ == "__main__":
    main()
