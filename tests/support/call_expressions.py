"""Writes calls as expressions, as the templates of the families do that call that way."""

from __future__ import annotations

from tests.support.tool_call_families import Call


def python_call(call: Call) -> str:
    """`f(a='x', n=1)`"""
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})"


def braced_call(call: Call, quote: str) -> str:
    """`call:f{a:<|"|>x<|"|>,n:1}`"""
    return f"call:{call.name}{braced(call.arguments, quote)}"


def braced(value: object, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{braced(one, quote)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(braced(one, quote) for one in value)}]"
    return str(value)
