"""Llama 4: `<|python_start|>[f(a="x")]<|python_end|>`, or the list alone as in `pythonic.py`."""

from __future__ import annotations

from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

FORMAT = ExpressionFormat(CallRegion("<|python_start|>", "<|python_end|>"), bare=True)
