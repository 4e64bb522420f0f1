"""FunctionGemma: `<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>`, a region for each call."""

from __future__ import annotations

from duologue.text.toolcalls.expressions.arguments_scanner import ExpressionDialect
from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

DIALECT = ExpressionDialect(braces=True, quotes=("<escape>", '"'))

FORMAT = ExpressionFormat(CallRegion("<start_function_call>", "<end_function_call>", DIALECT), listed=False)
