"""MiniMax M2, M2.1 and M2.5: one wrapper around all calls, values taken as they are.

<minimax:tool_call>
<invoke name="f">
<parameter name="a">x</parameter>
</invoke>
</minimax:tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        start="<minimax:tool_call>\n",
        call='<invoke name="{name}">\n',
        parameter='<parameter name="{name}">',
        parameter_end="</parameter>\n",
        call_end="</invoke>\n",
        end="</minimax:tool_call>",
    )
)
