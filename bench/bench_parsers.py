"""Compare the speed of the text machine with that of vLLM's and SGLang's streaming parsers of the same formats.

    pip download --no-deps vllm==0.33.0 sglang==0.5.23
    unzip -q 'vllm-*.whl' 'vllm/*.py' -d vllm; unzip -q 'sglang-*.whl' '*.py' -d sglang
    pip install --no-deps --target needed orjson partial-json-parser ijson
    PYTHONPATH=needed python bench/bench_parsers.py --vllm vllm --sglang sglang [--size 100000] [--seconds 2]

All read the same text: markers whole, as a model writes them, and 4 characters a piece between them. No GPU parts are needed
(`unpacked_parsers.py`). Prints MB/s (millions of characters a second of process time) and how many times faster ours is, for
replies of 1,000 characters, ten times and a hundred times as many. "x" after a figure: what was read is not what was written.
Many of their parsers read all text so far again with every piece; one that needed more than `--seconds` is not tried on longer
texts ("-").
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from msgspec import Struct

from bench_text import CODE, PROSE, SOURCE, repeated
from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.messages import Tool
from unpacked_parsers import Parser, Read, SglangParser, VllmParser, use

PIECE = 4
TOOL = {
    "name": "write",
    "description": "Write a file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
}
Call = tuple[str, str]
"""The path and the text of a call of `write`."""
Written = tuple[str, str, list[Call]]
"""The content of a reply, its reasoning and its calls."""


class Family(Struct, frozen=True):
    """A format of calls: how a reply of some calls is written, its markers, and the parsers of the others (module, class)."""

    name: str
    written: Callable[[Sequence[Call]], str]
    markers: tuple[str, ...]
    vllm: tuple[str, str]
    sglang: tuple[str, str]


def arguments(call: Call) -> str:
    return json.dumps({"path": call[0], "text": call[1]}, ensure_ascii=False)


def hermes(calls: Sequence[Call]) -> str:
    return "\n".join(
        f'<tool_call>\n{{"name": "write", "arguments": {arguments(call)}}}\n</tool_call>' for call in calls
    )


def qwen3_xml(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>\n<function=write>\n<parameter=path>\n{path}\n</parameter>\n<parameter=text>\n{text}\n</parameter>\n"
        "</function>\n</tool_call>"
        for path, text in calls
    )


def glm45(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>write\n<arg_key>path</arg_key>\n<arg_value>{path}</arg_value>\n<arg_key>text</arg_key>\n"
        f"<arg_value>{text}</arg_value>\n</tool_call>"
        for path, text in calls
    )


def deepseek_v31(calls: Sequence[Call]) -> str:
    each = (f"<｜tool▁call▁begin｜>write<｜tool▁sep｜>{arguments(call)}<｜tool▁call▁end｜>" for call in calls)
    return f"<｜tool▁calls▁begin｜>{''.join(each)}<｜tool▁calls▁end｜>"


def kimi_k2(calls: Sequence[Call]) -> str:
    each = (
        f"<|tool_call_begin|>functions.write:{number}<|tool_call_argument_begin|>{arguments(call)}<|tool_call_end|>"
        for number, call in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{''.join(each)}<|tool_calls_section_end|>"


def llama3_json(calls: Sequence[Call]) -> str:
    return "; ".join(f'{{"name": "write", "parameters": {arguments(call)}}}' for call in calls)


def mistral(calls: Sequence[Call]) -> str:
    return "".join(f"[TOOL_CALLS]write[ARGS]{arguments(call)}" for call in calls)


def pythonic(calls: Sequence[Call]) -> str:
    return f"[{', '.join(f'write(path={path!r}, text={text!r})' for path, text in calls)}]"


FAMILIES = (
    Family(
        "hermes",
        hermes,
        ("<tool_call>", "</tool_call>"),
        ("hermes_tool_parser", "Hermes2ProToolParser"),
        ("hermes_detector", "HermesDetector"),
    ),
    Family(
        "qwen3_xml",
        qwen3_xml,
        ("<tool_call>", "</tool_call>"),
        ("qwen3_engine_tool_parser", "Qwen3EngineToolParser"),
        ("qwen3_coder_detector", "Qwen3CoderDetector"),
    ),
    Family(
        "deepseek_v31",
        deepseek_v31,
        (
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        ("deepseekv31_tool_parser", "DeepSeekV31ToolParser"),
        ("deepseekv31_detector", "DeepSeekV31Detector"),
    ),
    Family(
        "kimi_k2",
        kimi_k2,
        (
            "<|tool_calls_section_begin|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
            "<|tool_calls_section_end|>",
        ),
        ("kimi_k2_tool_parser", "KimiK2ToolParser"),
        ("kimik2_detector", "KimiK2Detector"),
    ),
    Family(
        "llama3_json",
        llama3_json,
        ("<|python_tag|>",),
        ("llama_tool_parser", "Llama3JsonToolParser"),
        ("llama32_detector", "Llama32Detector"),
    ),
    Family(
        "mistral",
        mistral,
        ("[TOOL_CALLS]", "[ARGS]"),
        ("mistral_tool_parser", "MistralToolParser"),
        ("mistral_detector", "MistralDetector"),
    ),
    Family(
        "glm45",
        glm45,
        ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
        ("glm47_moe_tool_parser", "Glm47MoeModelToolParser"),
        ("glm4_moe_detector", "Glm4MoeDetector"),
    ),
    Family(
        "pythonic",
        pythonic,
        (),
        ("pythonic_tool_parser", "PythonicToolParser"),
        ("pythonic_detector", "PythonicDetector"),
    ),
)
THOUGHTS = ("<think>", "</think>")


class OurParser:
    """The text machine, with a reader of its deltas like that of the others."""

    def __init__(self, form: str | None) -> None:
        numbers = count()
        self._machine = ChannelSplitter(
            tool_format=tool_format(form) if form else None,
            reasoning=ReasoningTags(),
            start_in_reasoning=False,
            tools=(Tool(name="write", description="Write a file.", parameters=TOOL["parameters"]),),  # type: ignore[arg-type]
            new_call_id=lambda: f"call_{next(numbers)}",
        )
        self._read = Read()

    def feed(self, piece: str, token: int) -> None:
        self._add(self._machine.feed(piece))

    def _add(self, deltas: Iterable[object]) -> None:
        for delta in deltas:
            if isinstance(delta, TextDelta):
                self._read.content.append(delta.text)
            elif isinstance(delta, ReasoningDelta):
                self._read.reasoning.append(delta.text)
            elif isinstance(delta, ToolCallDelta):
                self._read.add_call(delta.index, delta.name, delta.arguments)

    def finish(self) -> Read:
        self._add(self._machine.finish())
        return self._read


class Case(Struct, frozen=True):
    """A text of about `size` characters, what should be read of it, and how each parser of it is made."""

    name: str
    reply: Callable[[int], tuple[str, Written]]
    """By its size: the text, and what was written in it."""
    markers: tuple[str, ...]
    ours: Callable[[], Parser]
    vllm: Callable[[], Parser]
    sglang: Callable[[], Parser]


def prose(size: int) -> tuple[str, Written]:
    text = repeated(PROSE, size)
    return text, (text, "", [])


def code(size: int) -> tuple[str, Written]:
    text = repeated(CODE, size)
    return text, (text, "", [])


def thought(size: int) -> tuple[str, Written]:
    text = repeated(PROSE, size).strip()
    return f"<think>{text}</think>Done.", ("Done.", text, [])


def one_call(family: Family, size: int) -> tuple[str, Written]:
    calls = [("a.c", repeated(SOURCE, size).strip())]
    return family.written(calls), ("", "", calls)


def many_calls(family: Family, size: int) -> tuple[str, Written]:
    calls = [(f"{number}.txt", "Oslo, three days") for number in range(max(1, size // 100))]
    return family.written(calls), ("", "", calls)


def cases() -> list[Case]:
    found = []
    for family in FAMILIES:
        vocabulary = {marker: number for number, marker in enumerate((*family.markers, *THOUGHTS), 1)}
        parsers: tuple[Callable[[], Parser], ...] = (
            partial(OurParser, family.name),
            partial(VllmParser, f"tool_parsers.{family.vllm[0]}", family.vllm[1], vocabulary, [TOOL]),
            partial(SglangParser, f"function_call.{family.sglang[0]}", family.sglang[1], [TOOL]),
        )
        if family.name == "hermes":
            found += [
                Case("content", prose, family.markers, *parsers),
                Case("content with code", code, family.markers, *parsers),
            ]
        found += [
            Case(f"{family.name}, a source file", partial(one_call, family), family.markers, *parsers),
            Case(f"{family.name}, short calls", partial(many_calls, family), family.markers, *parsers),
        ]
    tokens = {"<think>": 1, "</think>": 2}
    for name, vllm in (
        ("deepseek_r1", ("deepseek_r1_reasoning_parser", "DeepSeekR1ReasoningParser")),
        ("qwen3", ("qwen3_engine_reasoning_parser", "Qwen3ParserReasoningAdapter")),
    ):
        detector = {"deepseek_r1": "DeepSeekR1Detector", "qwen3": "Qwen3Detector"}[name]
        found.append(
            Case(
                f"reasoning, {name}",
                thought,
                THOUGHTS,
                partial(OurParser, None),
                partial(VllmParser, f"reasoning.{vllm[0]}", vllm[1], tokens, []),
                partial(SglangParser, "parser.reasoning_parser", detector, []),
            )
        )
    return found


def cut(text: str, markers: Sequence[str]) -> list[tuple[str, int]]:
    """The pieces of a text and their tokens: a marker is one token with the number of its place, all else is token 0."""
    pieces: list[tuple[str, int]] = []
    numbers = {marker: number for number, marker in enumerate(markers, 1)}
    pattern = "|".join(map(re.escape, markers))
    for part in re.split(f"({pattern})", text) if pattern else [text]:
        if part in numbers:
            pieces.append((part, numbers[part]))
        else:
            pieces += ((part[at : at + PIECE], 0) for at in range(0, len(part), PIECE))
    return pieces


def measured(
    make: Callable[[], Parser], pieces: list[tuple[str, int]], rounds: int
) -> tuple[float, Read | Exception]:
    """Seconds of the fastest round, and what was read or why not."""
    times = []
    read: Read | Exception
    for _ in range(rounds):
        parser = make()
        began = time.process_time()
        try:
            for piece, token in pieces:
                parser.feed(piece, token)
            read = parser.finish()
        except Exception as error:  # noqa: BLE001 - theirs, so any; the row says that the text was not read
            read = error
        times.append(max(time.process_time() - began, 1e-9))
        if times[-1] > 0.5:
            break
    return min(times), read


def right(read: Read | Exception, written: Written) -> bool:
    if isinstance(read, Exception):
        return False
    content, reasoning, calls = written
    expected: list[tuple[str, object]] = [("write", {"path": path, "text": text}) for path, text in calls]
    return read.summary() == (content.strip(), reasoning.strip(), expected)


def compare(case: Case, sizes: Sequence[int], seconds: float, rivals: Sequence[str], why: bool) -> None:
    spent = dict.fromkeys(rivals, 0.0)
    for size in sizes:
        text, written = case.reply(size)
        pieces = cut(text, case.markers)
        ours, read = measured(case.ours, pieces, 5)
        row = f"{case.name:<28}{len(text):>9,}{len(text) / ours / 1e6:>8.2f}{'' if right(read, written) else 'x':<2}"
        for rival in rivals:
            if spent[rival] > seconds:
                row += f"{'-':>10}{'':<2}{'-':>7}"
                continue
            theirs, found = measured(getattr(case, rival), pieces, 3)
            spent[rival] = theirs
            good = right(found, written)
            row += f"{len(text) / theirs / 1e6:>10.4f}{'' if good else 'x':<2}{theirs / ours:>7.0f}"
            if why and not good:
                print(f"  {rival}: {found if isinstance(found, Exception) else found.summary()!r:.600}")
        print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vllm", type=Path, help="folder of the unpacked wheel of vLLM")
    parser.add_argument("--sglang", type=Path, help="folder of the unpacked wheel of SGLang")
    parser.add_argument("--size", type=int, default=100_000, help="characters of the longest reply")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="a parser that took longer is given no longer text"
    )
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--why", action="store_true", help="print what was read where it is wrong")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    use(options.vllm, options.sglang)
    rivals = [name for name in ("vllm", "sglang") if getattr(options, name)]
    print(f"{'what':<28}{'chars':>9}{'ours':>8}  " + "".join(f"{name:>10}  {'ratio':>7}" for name in rivals))
    for case in cases():
        if options.only in case.name:
            sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= options.size]
            compare(case, sizes, options.seconds, rivals, options.why)


if __name__ == "__main__":
    main()
