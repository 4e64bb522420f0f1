"""Seed-OSS: values on the line of their tag, taken as they are.

<seed:tool_call>
<function=f>
<parameter=a>x</parameter>
</function>
</seed:tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<seed:tool_call>\n",
        call="<function={name}>\n",
        parameter="<parameter={name}>",
        parameter_end="</parameter>\n",
        call_end="</function>\n",
        end="</seed:tool_call>",
    )
)
