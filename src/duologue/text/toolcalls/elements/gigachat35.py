"""GigaChat 3.5 (GCML): as DeepSeek V4 writes calls, in tags of its own.

<｜GCML｜tool_calls>
<｜GCML｜invoke name="f">
<｜GCML｜parameter name="a" string="true">x</｜GCML｜parameter>
</｜GCML｜invoke>
</｜GCML｜tool_calls>
"""

from __future__ import annotations

from duologue.text.toolcalls.elements.deepseek_v32 import dsml

FORMAT = dsml("tool_calls", language="GCML")
