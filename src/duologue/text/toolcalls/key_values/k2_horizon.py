"""K2 Horizon: keys and values in turn, in tags of its own; a type may stand between key and value.

<ifm|tool_calls>
<ifm|tool_call>f
<ifm|arg_key>a</ifm|arg_key>
<ifm|arg_value>x</ifm|arg_value>
</ifm|tool_call>
</ifm|tool_calls>
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

KEY = "<ifm|arg_key>{space}{name}{space}</ifm|arg_key>{space}"

FORMAT = TaggedCalls(
    CallTags(
        start="<ifm|tool_calls>\n",
        call="<ifm|tool_call>{bare}\n",
        parameter="<ifm|arg_key>{name}</ifm|arg_key>\n<ifm|arg_value>",
        parameter_end="</ifm|arg_value>\n",
        call_end="</ifm|tool_call>\n",
        end="</ifm|tool_calls>",
        others={
            "call": ("<ifm|tool_call>{space}{bare}",),
            "parameter": (
                f"{KEY}<ifm|arg_value>",
                f"{KEY}<ifm|arg_type>{{type}}</ifm|arg_type>{{space}}<ifm|arg_value>",
            ),
        },
    )
)
