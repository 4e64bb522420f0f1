"""Dots: one wrapper around all calls, values on lines of their own.

    <dots_function_call>
    <invoke name="f">
    <parameter name="a">
    x
    </parameter>
    </invoke>
    </dots_function_call>

Also read: values on the line of their tag, and JSON as in `hermes.py` in the wrapper.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<dots_function_call>\n",
        call='<invoke name="{name}">\n',
        parameter='<parameter name="{name}">\n',
        parameter_end="\n</parameter>\n",
        call_end="</invoke>\n",
        end="</dots_function_call>",
        json_in_wrapper=True,
    )
)
