"""LongCat models that write keys and values in turn instead of JSON (`wrapped_json/longcat.py`).

<longcat_tool_call>f
<longcat_arg_key>a</longcat_arg_key>
<longcat_arg_value>x</longcat_arg_value>
</longcat_tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.key_values.glm45 import keys_and_values

FORMAT = keys_and_values("longcat_tool_call", "\n", "longcat_")
