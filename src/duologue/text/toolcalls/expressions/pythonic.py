"""Llama 3.2 and ToolACE: a list of calls in Python without any marker, `[f(a='x'), g(n=1)]`, at the beginning of a line.

Only tools that are offered are called this way; any other list is text.
"""

from __future__ import annotations

from duologue.text.toolcalls.expressions.call_regions import CallRegion
from duologue.text.toolcalls.expressions.expression_format import ExpressionFormat

FORMAT = ExpressionFormat(CallRegion(), bare=True)
