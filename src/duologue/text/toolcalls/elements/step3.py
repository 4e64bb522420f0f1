"""Step3: elements within tokens of its own. Step 3.5 writes as Qwen3-Coder does (`qwen3_xml.py`).

    <｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">
    <steptml:parameter name="a">x</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_calls_end｜>

The tokens around an element may be missing.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<｜tool_calls_begin｜>\n",
        call='<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">\n',
        parameter='<steptml:parameter name="{name}">',
        parameter_end="</steptml:parameter>\n",
        call_end="</steptml:invoke><｜tool_call_end｜>\n",
        end="<｜tool_calls_end｜>",
        others={
            "call": (
                '<｜tool_call_begin｜>{space}function{space}<｜tool_sep｜>{space}<steptml:invoke name="{name}">',
                '<steptml:invoke name="{name}">',
            ),
            "call_end": ("</steptml:invoke>{space}<｜tool_call_end｜>", "</steptml:invoke>"),
        },
    )
)
