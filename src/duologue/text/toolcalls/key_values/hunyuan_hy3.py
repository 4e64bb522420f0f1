"""Hunyuan Hy3 and Hy4: keys and values in turn, in tags that all have one suffix.

    <tool_calls:opensource>
    <tool_call:opensource>f<tool_sep:opensource>
    <arg_key:opensource>a</arg_key:opensource>
    <arg_value:opensource>x</arg_value:opensource>
    </tool_call:opensource>
    </tool_calls:opensource>

Tags with any suffix or none are read. Hy4 writes no `tool_sep`.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls


def hunyuan(suffix: str, line_end: str = "\n", *, separated: bool = True) -> TaggedCalls:
    """The format as a model with this suffix of tags writes it. `separated`: a tag follows the name."""
    separator = f"<tool_sep{suffix}>" if separated else ""
    return TaggedCalls(
        CallTags(
            start=f"<tool_calls{suffix}>{line_end}",
            call=f"<tool_call{suffix}>{{bare}}{separator}{line_end}",
            parameter=f"<arg_key{suffix}>{{name}}</arg_key{suffix}>{line_end}<arg_value{suffix}>",
            parameter_end=f"</arg_value{suffix}>{line_end}",
            call_end=f"</tool_call{suffix}>{line_end}",
            end=f"</tool_calls{suffix}>",
            others={
                "start": ("<tool_calls>", "<tool_calls:{suffix}>"),
                "call": tuple(
                    f"<tool_call{tail}>{{space}}{{bare}}{separator}"
                    for separator in ("{space}<tool_sep{suffix}>", "")
                    for tail in ("", ":{suffix}")
                ),
                "parameter": (
                    "<arg_key{suffix}>{space}{name}{space}</arg_key{suffix}>{space}<arg_value{suffix}>",
                ),
                "parameter_end": ("</arg_value{suffix}>",),
                "call_end": ("</tool_call{suffix}>",),
                "end": ("</tool_calls>", "</tool_calls{suffix}>"),
            },
        )
    )


FORMAT = hunyuan(":opensource")
