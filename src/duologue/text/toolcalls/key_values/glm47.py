"""GLM-4.7, GLM-5 and Spark 2.5: keys and values in turn without line ends.

    <tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>

A call without arguments is `<tool_call>f</tool_call>`.
"""

from __future__ import annotations

from duologue.text.toolcalls.key_values.glm45 import keys_and_values

FORMAT = keys_and_values("tool_call", "")
