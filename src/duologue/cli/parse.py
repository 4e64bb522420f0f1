"""`duologue parse`: what it prints about formats and about a raw reply. `main.py` reads its flags."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from duologue.errors import BadRequest
from duologue.text.output.parse_trace import pieces, trace_lines, trace_reply
from duologue.text.output.parsed import reply_to_json
from duologue.text.output.reply_format import ReplyFormat, named_format, recognised
from duologue.text.toolcalls.catalogue import TOOL_FORMATS
from duologue.text.toolcalls.format_models import MODELS
from duologue.values.messages import Tool

AUTO, LIST = "auto", "list"
HEADINGS = ("format", "other names", "models")


class ParseOptions(Struct, frozen=True):
    """How to read the text: `chunk` characters at a time, 0 for all at once. `template` and `tools` are files."""

    format: str
    template: Path | None = None
    tools: Path | None = None
    start_in_reasoning: bool = False
    chunk: int = 0
    trace: bool = False


def parse(options: ParseOptions, source: IO[bytes], out: IO[str], notes: IO[str]) -> None:
    """Read a raw reply from `source` and print its parts as a line of JSON to `out`; the trace, and which format was
    recognised, to `notes`. Raises BadRequest."""
    if options.format == LIST:
        print("\n".join(format_table()), file=out)
        return
    how = _format_of(options)
    tools = tools_of(options.tools)
    if options.format == AUTO:
        print(how.words, file=notes)
    raw = source.read().decode("utf-8", "replace")
    read = trace_reply(
        pieces(raw, options.chunk),
        how,
        start_in_reasoning=options.start_in_reasoning,
        tools=tools,
        steps=options.trace,
    )
    for line in trace_lines(read.steps):
        print(line, file=notes)
    print(reply_to_json(read.reply), file=out)


def format_table() -> list[str]:
    """The formats, the names that other servers give them, and models that use them, in columns."""
    rows = [
        HEADINGS,
        *((name, ", ".join(row.aliases), MODELS.get(name, "")) for name, row in TOOL_FORMATS.items()),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def template_of(file: Path) -> str:
    """The source of a chat template: the file itself, or `chat_template` of a JSON file such as tokenizer_config.json."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix != ".json":
            return text
        found = msgspec.json.decode(text, type=dict[str, Any]).get("chat_template")
    except (OSError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{file} cannot be read as a chat template: {error}.", param="template") from None
    if isinstance(found, list):
        # Several by name: the one for tools is what calls are written by.
        named = {str(entry.get("name")): entry.get("template") for entry in found if isinstance(entry, dict)}
        found = named.get("tool_use", named.get("default"))
    if not isinstance(found, str):
        raise BadRequest(f"{file} has no chat_template.", param="template")
    return found


def tools_of(file: Path | None) -> list[Tool]:
    """The tools of a JSON file: a list as in OpenAI requests, or of bare functions."""
    if file is None:
        return []
    try:
        entries = msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]])
        return [msgspec.convert(entry.get("function", entry), Tool) for entry in entries]
    except (OSError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{file} is not a JSON list of tools: {error}.", param="tools") from None


def _format_of(options: ParseOptions) -> ReplyFormat:
    if options.template is not None:
        how = recognised(template_of(options.template))
        return (
            how if options.format == AUTO else ReplyFormat(named_format(options.format).format, how.reasoning)
        )
    if options.format == AUTO:
        raise BadRequest(
            "--format auto recognises the format from a chat template: pass it with --template FILE.",
            param="format",
        )
    return named_format(options.format)
