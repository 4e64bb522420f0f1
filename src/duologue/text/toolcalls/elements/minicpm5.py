"""MiniCPM5: no wrapper and no line ends.

    <function name="f"><param name="a">x</param><param name="b"><![CDATA[<p>]]></param></function>

Values with markup in them are in a CDATA section. The blank before `name` is lost at times.
"""

from __future__ import annotations

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.tagged_calls import TaggedCalls

FORMAT = TaggedCalls(
    CallTags(
        call='<function name="{name}">',
        parameter='<param name="{name}">',
        parameter_end="</param>",
        call_end="</function>",
        others={
            "call": (
                '<function name="{name}"{attributes}>',
                "<function name='{name}'{attributes}>",
                '<functionname="{name}">',
            ),
            "parameter": ("<param name='{name}'>", '<paramname="{name}">'),
        },
        quotes=("<![CDATA[", "]]>"),
    )
)
