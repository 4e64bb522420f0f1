"""DeepSeek V3.1: the markers of V3 with the name before the separator, and bare JSON after it.

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
"""

from __future__ import annotations

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.toolcalls.named_json.deepseek_v3 import CALL, CALL_END, SEPARATOR, deepseek_calls
from duologue.text.toolcalls.named_json.named_calls import NamedCallFormat

FORMAT = NamedCallFormat(deepseek_calls(literal(CALL[0]), literal(SEPARATOR[0]), literal(CALL_END[0])))
