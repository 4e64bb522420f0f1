"""LFM2: `<|tool_call_start|>[f(a="x"), g(n=1)]<|tool_call_end|>`; some write an array of JSON objects there."""

from __future__ import annotations

from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

FORMAT = ExpressionFormat(CallRegion("<|tool_call_start|>", "<|tool_call_end|>"))
