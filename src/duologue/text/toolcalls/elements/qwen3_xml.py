"""Qwen3-Coder, Qwen3.5, Nemotron 3, Step 3.5 and others.

    <tool_call>
    <function=f>
    <parameter=a>
    x
    </parameter>
    </function>
    </tool_call>

Also read: values on the line of their tag (`mimo.py`), `<function name="f">`, and JSON as in `hermes.py`.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<tool_call>\n",
        call="<function={name}>\n",
        parameter="<parameter={name}>\n",
        parameter_end="\n</parameter>\n",
        call_end="</function>\n",
        end="</tool_call>",
        others={
            "call": ('<function name="{name}">',),
            "parameter": ('<parameter name="{name}">',),
        },
        json_in_wrapper=True,
    )
)
