"""Olmo 3: a call on each line between `<function_calls>` and `</function_calls>`, with `true` and `null` beside Python's words."""

from __future__ import annotations

from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

FORMAT = ExpressionFormat(CallRegion("<function_calls>", "</function_calls>"), listed=False)
