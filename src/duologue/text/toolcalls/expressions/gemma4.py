"""Gemma 4: `<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>`, a region for each call; keys are bare, and so are those of objects."""

from __future__ import annotations

from duologue.text.toolcalls.expressions.arguments_scanner import ExpressionDialect
from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

DIALECT = ExpressionDialect(braces=True, quotes=('<|"|>', '"'))

FORMAT = ExpressionFormat(CallRegion("<|tool_call>", "<tool_call|>", DIALECT), listed=False)
