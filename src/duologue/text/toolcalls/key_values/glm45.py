r"""GLM-4.5, GLM-4.6 and Laguna: keys and values in turn, on lines of their own.

    <tool_call>f
    <arg_key>a</arg_key>
    <arg_value>x</arg_value>
    </tool_call>

Quantised models write a backslash and an n in place of a line end. GLM-4.7 writes no line ends (`glm47.py`); each
format reads both.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import ESCAPED_SPACE, CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls


def keys_and_values(call: str, line: str, prefix: str = "") -> TaggedCalls:
    """The format with calls in an element of this name, and `prefix` before the names of the others; `line` is written
    between tags."""
    key, value = f"{prefix}arg_key", f"{prefix}arg_value"
    return TaggedCalls(
        CallTags(
            call=f"<{call}>{{bare}}{line}",
            parameter=f"<{key}>{{name}}</{key}>{line}<{value}>",
            parameter_end=f"</{value}>{line}",
            call_end=f"</{call}>",
            others={
                "call": (f"<{call}>{{space}}{{bare}}",),
                "parameter": (f"<{key}>{{space}}{{name}}{{space}}</{key}>{{space}}<{value}>",),
            },
            space=ESCAPED_SPACE,
        )
    )


FORMAT = keys_and_values("tool_call", "\n")
