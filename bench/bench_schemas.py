"""Compare the two readers of JSON schemas: our grammar writer, and llguidance, which is inside the engine.

    python bench/bench_schemas.py [--only WORD] [--replies 1] [--tokens 256] [--show]

`schemas/cases.jsonl` has schemas of the kinds that programs send, each with documents that are valid and documents that are not. For each
schema and each reader: does it hold the schema at all; which valid documents does it refuse and which invalid ones does it admit, by
the engine's own matcher on the bundled model's vocabulary; how long until the first token can be judged; and, of replies of the bundled
model through a chat session at the temperatures 0 and 0.8: did they end by themselves, are they valid, and how many tokens a second came, as
a part of those of a reply without a constraint. `--show` prints every schema.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import msgspec
import xllamacpp
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from msgspec import Struct

from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.llama.request import format_fields
from duologue.models.catalogue import bundled_model
from duologue.sessions.chat import chat
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.values.events import Done, Event, Failed, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest, OutputFormat, Sampling
from schemas.token_matcher import TokenMatcher

CASES = Path(__file__).parent / "schemas" / "cases.jsonl"
OURS, THEIRS = "ours", "llguidance"
TEMPERATURES = (0.0, 0.8)


class Case(Struct):
    """A schema, and documents by which its readers are judged."""

    kind: str
    name: str
    schema: dict[str, Any]
    valid: list[Any]
    invalid: list[Any]


class Judgement(Struct):
    """What one reader made of one schema. `compile` in seconds; `rates` as parts of the free reply's."""

    held: bool
    compile: float = 0.0
    refused: list[Any] = []
    admitted: list[Any] = []
    ended: int = 0
    valid: int = 0
    replies: int = 0
    rates: list[float] = []
    wrong: list[str] = []


async def main() -> None:
    options = parse()
    cases = [
        case
        for case in msgspec.json.Decoder(Case).decode_lines(CASES.read_bytes())
        if options.only in f"{case.kind} {case.name}"
    ]
    matcher = TokenMatcher(bundled_model())
    judged = {reader: [judge(matcher, reader, case) for case in cases] for reader in (OURS, THEIRS)}
    if options.replies:
        engine = await load({})
        free = await rate_of_a_free_reply(engine)
        for reader, judgements in judged.items():
            for case, judgement in zip(cases, judgements, strict=True):
                if judgement.held:
                    await write(engine, reader, case, judgement, free, options.replies, options.tokens)
        await engine.close()
    if options.show:
        show(cases, judged)
    summarise(cases, judged)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only the kinds and names that contain this")
    parser.add_argument("--replies", type=int, default=1, help="of each schema, reader and temperature")
    parser.add_argument("--tokens", type=int, default=256, help="of a reply, at most")
    parser.add_argument("--show", action="store_true", help="print every schema")
    return parser.parse_args()


def grammar_of(reader: str, schema: dict[str, Any]) -> str | None:
    """What the engine is given; None where our writer does not hold the whole schema."""
    if reader == THEIRS:
        fields = format_fields(OutputFormat("json_schema", schema=schema))
        return str(xllamacpp.json_schema_to_grammar(json.dumps(fields["json_schema"])))
    grammar = JsonGrammar()
    root = grammar.schema(schema, "content")
    return None if grammar.loose else f"root ::= space {root}\n{grammar}"


def judge(matcher: TokenMatcher, reader: str, case: Case) -> Judgement:
    """Documents through the engine's matcher."""
    text = grammar_of(reader, case.schema)
    taken = None if text is None else matcher.compiles(text)
    if text is None or taken is None:
        return Judgement(held=False)
    judgement = Judgement(held=True, compile=taken)
    judgement.refused = [one for one in case.valid if not matcher.admits(text, json_text(one))]
    judgement.admitted = [one for one in case.invalid if matcher.admits(text, json_text(one))]
    return judgement


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


async def write(
    engine: LlamaEngine, reader: str, case: Case, judgement: Judgement, free: float, count: int, tokens: int
) -> None:
    """Replies of the bundled model."""
    validator = Draft202012Validator(case.schema, format_checker=FormatChecker())
    for temperature in TEMPERATURES:
        for seed in range(count if temperature else 1):
            sampling = Sampling(max_tokens=tokens, temperature=temperature, seed=seed)
            format = OutputFormat("json_schema", schema=case.schema)
            with read_by(reader):
                text, done, rate = await reply(engine, format, sampling)
            judgement.replies += 1
            judgement.rates += [rate / free] if rate else []
            if done != "stop":
                continue
            judgement.ended += 1
            try:
                judgement.valid += validator.is_valid(json.loads(text))
            except ValueError:
                judgement.wrong.append(text)


@contextmanager
def read_by(reader: str) -> Iterator[None]:
    """A session that asks this reader alone."""
    if reader == OURS:
        yield
        return
    with patch.object(chat, "reply_grammar", lambda *_, **__: None):
        yield


async def rate_of_a_free_reply(engine: LlamaEngine) -> float:
    """Tokens a second without a constraint: the median of five, after one."""
    sampling = Sampling(max_tokens=200, temperature=0.8, ignore_eos=True)
    rates = [(await reply(engine, None, sampling))[2] for _ in range(6)]
    return statistics.median(rates[1:])


async def reply(
    engine: LlamaEngine, format: OutputFormat | None, sampling: Sampling
) -> tuple[str, str, float]:
    """The text, how it ended, and tokens a second."""
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    request = ChatRequest((user("Give me an example, as JSON."),), sampling=sampling, format=format)
    await chat.reply(engine, 0, request, emit, now=datetime.now(UTC), clock=time.perf_counter)
    last = events[-1]
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    if isinstance(last, Failed):
        return text, last.code, 0.0
    assert isinstance(last, Done)
    return text, last.finish, last.usage.output / max(last.timings.generate, 1.0) * 1000


def show(cases: list[Case], judged: dict[str, list[Judgement]]) -> None:
    for at, case in enumerate(cases):
        print(f"\n{case.kind}: {case.name}")
        for reader, judgements in judged.items():
            one = judgements[at]
            if not one.held:
                print(f"  {reader:10} not held")
                continue
            print(
                f"  {reader:10} {one.compile * 1000:6.1f} ms; {one.ended} of {one.replies} ended, {one.valid} valid; "
                f"rate {statistics.median(one.rates or [0]):.2f}"
                + (f"; refuses {json_text(one.refused)}" if one.refused else "")
                + (f"; admits {json_text(one.admitted)}" if one.admitted else "")
                + (f"; no JSON {one.wrong}" if one.wrong else "")
            )


def summarise(cases: list[Case], judged: dict[str, list[Judgement]]) -> None:
    print(f"\n{len(cases)} schemas")
    for reader, judgements in judged.items():
        held = [one for one in judgements if one.held]
        exact = [one for one in held if not one.refused and not one.admitted]
        compiled = sorted(one.compile * 1000 for one in held) or [0.0]
        rates = [rate for one in held for rate in one.rates] or [0.0]
        replies = sum(one.replies for one in held)
        print(
            f"{reader:10} holds {len(held)}, {len(exact)} without a fault; refuses {sum(len(one.refused) for one in held)} valid "
            f"documents, admits {sum(len(one.admitted) for one in held)} invalid ones; compiles in "
            f"{statistics.median(compiled):.1f} ms, {compiled[-1]:.1f} at most; of {replies} replies {sum(one.ended for one in held)} "
            f"ended, {sum(one.valid for one in held)} valid; rate {statistics.median(rates):.2f}, {min(rates):.2f} at least"
        )


if __name__ == "__main__":
    anyio.run(main)
