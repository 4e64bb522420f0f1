"""DeepSeek V3.2 (DSML): every parameter says whether its value is text or JSON.

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="f">
    <｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

The body of `invoke` may be an object of JSON. V4 and V4.1 change names of tags (`deepseek_v4.py`, `deepseek_v41.py`), and so does
GigaChat 3.5 (`gigachat35.py`).
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

REGIONS = ("function_calls", "tool_calls", "toolcalls", "tool", "calls")
"""Names of the wrapper: a model of one version writes that of another at times."""


def dsml(region: str, blank: str = "", language: str = "DSML") -> TaggedCalls:
    """The format with this name of the wrapper, and `blank` before every name. `language` is in every tag."""
    parameter, mark = 'parameter name="{name}"', f"｜{language}｜"
    return TaggedCalls(
        CallTags(
            start=f"<{mark}{blank}{region}>\n",
            call=f'<{mark}{blank}invoke name="{{name}}">\n',
            parameter=f'<{mark}{blank}{parameter} string="{{string}}">',
            parameter_end=f"</{mark}{blank}parameter>\n",
            call_end=f"</{mark}{blank}invoke>\n",
            end=f"</{mark}{blank}{region}>",
            others={
                "start": tuple(f"<{mark}{space}{name}>" for name in REGIONS for space in ("", " ")),
                "call": tuple(f'<{mark}{space}invoke name="{{name}}">' for space in ("", " ")),
                "parameter": (
                    f'<{mark}{{blank}}{parameter} string="{{string}}">',
                    f"<{mark}{{blank}}{parameter}{{attributes}}>",
                ),
                "parameter_end": (f"</{mark}{{blank}}parameter>",),
                "call_end": (f"</{mark}{{blank}}invoke>",),
                "end": tuple(f"</{mark}{space}{name}>" for name in REGIONS for space in ("", " ")),
            },
        )
    )


FORMAT = dsml("function_calls")
