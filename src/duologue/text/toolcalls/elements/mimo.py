"""MiMo V2 and Naive N0.5: as Qwen3-Coder, with values on the line of their tag, taken as they are.

<tool_call>
<function=f>
<parameter=a>x</parameter>
</function>
</tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<tool_call>\n",
        call="<function={name}>\n",
        parameter="<parameter={name}>",
        parameter_end="</parameter>\n",
        call_end="</function>\n",
        end="</tool_call>",
        json_in_wrapper=True,
    )
)
