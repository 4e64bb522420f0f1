"""Ling 3: keys and values in turn, with a line end after the name, after each key and before the end, and none after a value.

<tool_call>f
<arg_key>a</arg_key>
<arg_value>x</arg_value><arg_key>b</arg_key>
<arg_value>y</arg_value>
</tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        call="<tool_call>{bare}\n",
        parameter="<arg_key>{name}</arg_key>\n<arg_value>",
        parameter_end="</arg_value>",
        call_end="\n</tool_call>",
        others={
            "call": ("<tool_call>{space}{bare}",),
            "parameter": ("<arg_key>{space}{name}{space}</arg_key>{space}<arg_value>",),
        },
    )
)
