"""Hunyuan Hy4: the tags of Hy3 without line ends, and nothing after the name.

<tool_calls:opensource><tool_call:opensource>f<arg_key:opensource>a</arg_key:opensource>
<arg_value:opensource>x</arg_value:opensource></tool_call:opensource></tool_calls:opensource>

(in one line). Whatever Hy3 may write is read too (`hunyuan_hy3.py`).
"""

from __future__ import annotations

from duologue.text.toolcalls.key_values.hunyuan_hy3 import hunyuan

FORMAT = hunyuan(":opensource", line_end="", separated=False)
