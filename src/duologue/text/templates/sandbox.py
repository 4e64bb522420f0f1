"""Where a model file's template runs: Jinja, sandboxed, with bounds on what one rendering may cost.

A chat template comes with a model from strangers. The sandbox keeps it from reaching Python; the bounds keep it from
hanging the server or filling its memory: every loop and every call is paid from a budget of steps, and no text it
builds may grow beyond a size. Owns the environment and its limits; knows nothing of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn, cast

from jinja2 import TemplateError, nodes, pass_context, pass_eval_context
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import do_indent, do_join, do_replace
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

STEPS = 5_000_000
"""Loop turns and calls of one rendering: some seconds of work."""
SIZE = 16 * 1024 * 1024
"""Characters of one rendering, and of any text or list on the way to it."""
BUDGET = "duologue_budget"
"""The rendering's `Budget` among the template's variables."""
PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs"})
FORMATS = frozenset({"format", "format_map"})


class TooMuch(TemplateError):
    """The template asks for more than one rendering may cost."""


class WrittenObject(dict[str, Any]):
    """A JSON object that knows its text. As JSON it is that text again: `1.10` stays `1.10`, and a model finds its own
    earlier call in the prompt token by token, still in the cache."""

    def __init__(self, value: dict[str, Any], written: str) -> None:
        super().__init__(value)
        self.written = written


class Budget:
    """The steps one rendering has left."""

    __slots__ = ("_left",)

    def __init__(self, steps: int = STEPS) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooMuch("it loops for too long")


def fit(size: int) -> None:
    """Raise TooMuch when a text or list of this size must not be made."""
    if size > SIZE:
        raise TooMuch(f"it builds more than {SIZE:,} characters")


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of chat templates, as model publishers expect it."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, loopcontrols], autoescape=False
        )
        self.filters |= {
            "tojson": to_json,
            "replace": _replace,
            "join": _join,
            "indent": _indent,
            "duologue_loop": _loop,
            "duologue_text": _text,
        }
        self.globals["raise_exception"] = _raise
        # Both make text of any length out of nothing and appear in no chat template.
        self.globals.pop("lipsum")
        self.filters.pop("center")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Each loop is paid for, and each joined text is measured."""
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = _filtered(loop.iter, "duologue_loop")
        _measure(tree)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, str | list | tuple) and isinstance(other, int):
                    fit(len(one) * other)
            if isinstance(left, int) and isinstance(right, int):
                fit(left.bit_length() + right.bit_length())
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            fit(left.bit_length() * max(right, 0))
        elif (
            operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple)
        ):
            fit(len(left) + len(right))
        elif operator == "%" and isinstance(left, str) and _wide(left):
            raise TooMuch("it asks for a text of a fixed width")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        context.parent[BUDGET].spend(1)
        # The sandbox puts its own function before str.format and keeps the method behind it.
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if isinstance(owner, str):
            _check_method(owner, getattr(obj, "__name__", ""), args)
        return super().call(context, obj, *args, **kwargs)


class GenerationBlock(Extension):
    """`{% generation %}` marks what a model is trained on; to a server it means nothing."""

    tags = {"generation"}  # noqa: RUF012  (the name and shape Jinja asks for)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is, without the HTML escapes of Jinja's own filter."""
    if isinstance(value, WrittenObject) and not (ensure_ascii or indent or separators or sort_keys):
        return value.written
    _weigh(value)
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(cast(nodes.Expr, node), name, [], [], None, None, lineno=node.lineno)


def _measure(node: nodes.Node) -> None:
    """Wrap every `a ~ b` below this node, innermost first, so that no join is more than one step too long."""
    for field, value in list(node.iter_fields()):
        if isinstance(value, nodes.Node):
            _measure(value)
            if isinstance(value, nodes.Concat):
                setattr(node, field, _filtered(value, "duologue_text"))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, nodes.Node):
                    _measure(item)
                    if isinstance(item, nodes.Concat):
                        value[index] = _filtered(item, "duologue_text")


def _text(value: Any) -> Any:
    fit(len(value))
    return value


@pass_context
def _loop(context: Context, items: Any) -> Any:
    """What a loop goes through, paid for: at once where its length is known, else as it goes."""
    budget: Budget = context.parent[BUDGET]
    if hasattr(items, "__len__"):
        budget.spend(len(items))
        return items
    return _paid(items, budget) if isinstance(items, Iterable) else items


def _paid(items: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for item in items:
        budget.spend(1)
        yield item


@pass_eval_context
def _replace(context: nodes.EvalContext, value: Any, old: str, new: str, count: int | None = None) -> str:
    text = str(value)
    fit(len(text) + text.count(old) * len(new))
    return do_replace(context, text, old, new, count)


@pass_eval_context
def _join(context: nodes.EvalContext, value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
    items = list(value)
    fit(_joined_size(d, items))
    return str(do_join(context, items, d, attribute))


def _indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    fit(len(s) + (s.count("\n") + 1) * (width if isinstance(width, int) else len(width)))
    return do_indent(s, width, first, blank)


def _joined_size(separator: str, items: Sequence[Any]) -> int:
    return len(separator) * len(items) + sum(len(item) for item in items if isinstance(item, str))


def _weigh(value: Any) -> None:
    """Raise TooMuch for a value whose JSON would be too long: one list may stand in another many times."""
    size, left = 0, [value]
    while left:
        item = left.pop()
        size += len(item) if isinstance(item, str) else 1
        fit(size)
        if isinstance(item, dict):
            left += item.keys()
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


def _check_method(owner: str, name: str, args: tuple[Any, ...]) -> None:
    """Methods of text that make a longer text than they are given."""
    if name in PADDING or name in FORMATS:
        fit(max((arg for arg in args if isinstance(arg, int)), default=0))
    if name in FORMATS and _wide(owner):
        raise TooMuch("it asks for a text of a fixed width")
    if name == "replace" and len(args) >= 2 and isinstance(args[0], str) and isinstance(args[1], str):
        fit(len(owner) + owner.count(args[0]) * len(args[1]))
    elif name == "join" and args and isinstance(args[0], list | tuple):
        fit(_joined_size(owner, args[0]))


def _wide(pattern: str) -> bool:
    """Whether a format asks for a width of more than four digits."""
    digits = 0
    for char in pattern:
        digits = digits + 1 if char.isdigit() else 0
        if digits > 4:
            return True
    return False
