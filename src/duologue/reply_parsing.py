"""The reading of a recorded raw reply as a decoder job, for `POST /v1/parse`.

A room of its own between two that must not meet: the gateway starts without the text machine, and the text machine
knows no processes. A long text, or a template from anybody, is read in a process that can be ended.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.values.messages import Tool

AUTO = "auto"


class RawReply(Struct, frozen=True):
    """A raw reply. `format` may be "auto" with a `template`, and "" for none. `thoughts`: the marker that opens a thought; None
    for that of the format, "" for none."""

    chunks: tuple[str, ...]
    format: str
    template: str | None = None
    thoughts: str | None = None
    start_in_reasoning: bool = False
    tools: tuple[Tool, ...] = ()


@decoder_job(
    seconds=20, cpu_seconds=15, memory_mb=512, result_mb=64, preload=("duologue.text.output.parse_trace",)
)
def read_raw_reply(source: bytes, trace: bool) -> bytes:
    """The answer as JSON, with a trace if `trace`. `source` is a RawReply in msgpack. Raises BadRequest
    (`unknown_tool_format`)."""
    # Here, so that the gateway can name this job without loading the text machine.
    from duologue.text.output import parse_trace, reply_format

    raw = msgspec.msgpack.decode(source, type=RawReply)
    if raw.template is not None:
        how = reply_format.recognised(raw.template)
        if raw.format != AUTO:
            how = reply_format.ReplyFormat(reply_format.named_format(raw.format).format, how.reasoning)
    else:
        how = reply_format.named_format(raw.format, raw.thoughts)
    read = parse_trace.trace_reply(
        raw.chunks, how, start_in_reasoning=raw.start_in_reasoning, tools=raw.tools, steps=trace
    )
    return msgspec.json.encode(parse_trace.reply_fields(read, how, trace=trace))
