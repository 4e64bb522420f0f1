"""DeepSeek V4.1: as V3.2, in a wrapper called `calls`, with a blank before the name of every tag."""

from __future__ import annotations

from duologue.text.toolcalls.elements.deepseek_v32 import dsml

FORMAT = dsml("calls", " ")
