"""The sandbox for chat templates: Jinja, with bounds on what one rendering may cost.

A chat template comes with a model from strangers. The sandbox keeps it from reaching Python. The bounds refuse, with
words, what is plainly too much: every loop and every call spends from a budget of steps, and the commonest ways to build a
text are measured. They do not hold against a template that is made to get round them: time and memory are bounded by the
process that renders (`engines/templates`).
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
"""Loop iterations and calls of one rendering: some seconds of work."""
SIZE = 16 * 1024 * 1024
"""Characters of one rendering, and of any text or list on the way to it."""
BUDGET = "duologue budget"
"""Name of the rendering's `Budget` among the template's variables. It is no identifier, so that a template cannot name it."""
SIZED = (str, list, tuple)
OF_DICTS = frozenset(dir(dict))
PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs"})
FORMATS = frozenset({"format", "format_map"})


class BudgetExceeded(TemplateError):
    """The template asks for more than one rendering may cost."""


class VerbatimObject(dict[str, Any]):
    """A JSON object with its original text, which it renders to: `1.10` stays `1.10`, and a model finds its own
    earlier call in the prompt token by token, still in the cache."""

    def __init__(self, value: dict[str, Any], source: str) -> None:
        super().__init__(value)
        self.source = source


class Budget:
    """The steps that one rendering has left."""

    __slots__ = ("_left",)

    def __init__(self, steps: int = STEPS) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        """Use steps. Raises BudgetExceeded."""
        self._left -= steps
        if self._left < 0:
            raise BudgetExceeded("it loops for too long")


def check_size(size: int) -> None:
    """Raise BudgetExceeded if a text or list of this size must not be built."""
    if size > SIZE:
        raise BudgetExceeded(f"it builds more than {SIZE:,} characters")


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
        # Both build text of any length from nothing, and no chat template uses them.
        self.globals.pop("lipsum")
        self.filters.pop("center")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Make each loop spend from the budget, and measure each joined text."""
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = _filtered(loop.iter, "duologue_loop")
        _measure_joins(tree)
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:
        # Messages are dicts: looking for an attribute first, which fails with an exception, takes most of the time.
        if isinstance(obj, dict) and attribute not in OF_DICTS:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            if isinstance(left, SIZED) and isinstance(right, SIZED):
                check_size(len(left) + len(right))
        elif operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, SIZED) and isinstance(other, int):
                    check_size(len(one) * other)
            if isinstance(left, int) and isinstance(right, int):
                check_size(left.bit_length() + right.bit_length())
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            check_size(left.bit_length() * max(right, 0))
        elif operator == "%" and isinstance(left, str) and _asks_for_width(left):
            raise BudgetExceeded("it asks for a text of a fixed width")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        context.parent[BUDGET].spend(1)
        # The sandbox replaces str.format by a wrapper of its own; the method is behind it.
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if isinstance(owner, str):
            _check_method(owner, getattr(obj, "__name__", ""), args)
        return super().call(context, obj, *args, **kwargs)


class GenerationBlock(Extension):
    """`{% generation %}` marks what a model is trained on; it has no effect here."""

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
    """JSON without the HTML escapes of Jinja's own filter."""
    if isinstance(value, VerbatimObject) and not (ensure_ascii or indent or separators or sort_keys):
        return value.source
    _check_json_size(value)
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(cast(nodes.Expr, node), name, [], [], None, None, lineno=node.lineno)


def _measure_joins(node: nodes.Node) -> None:
    """Wrap every `a ~ b` below this node, innermost first, so that a join exceeds the bound by one step at most."""
    for field, value in list(node.iter_fields()):
        if isinstance(value, nodes.Node):
            _measure_joins(value)
            if isinstance(value, nodes.Concat):
                setattr(node, field, _filtered(value, "duologue_text"))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, nodes.Node):
                    _measure_joins(item)
                    if isinstance(item, nodes.Concat):
                        value[index] = _filtered(item, "duologue_text")


def _text(value: Any) -> Any:
    check_size(len(value))
    return value


@pass_context
def _loop(context: Context, items: Any) -> Any:
    """The items of a loop, spent from the budget: at once if their number is known, else one by one."""
    budget: Budget = context.parent[BUDGET]
    if hasattr(items, "__len__"):
        budget.spend(len(items))
        return items
    return _counted(items, budget) if isinstance(items, Iterable) else items


def _counted(items: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for item in items:
        budget.spend(1)
        yield item


@pass_eval_context
def _replace(context: nodes.EvalContext, value: Any, old: str, new: str, count: int | None = None) -> str:
    text = str(value)
    check_size(len(text) + text.count(old) * len(new))
    return do_replace(context, text, old, new, count)


@pass_eval_context
def _join(context: nodes.EvalContext, value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
    items = list(value)
    check_size(_joined_size(d, items))
    return str(do_join(context, items, d, attribute))


def _indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    check_size(len(s) + (s.count("\n") + 1) * (width if isinstance(width, int) else len(width)))
    return do_indent(s, width, first, blank)


def _joined_size(separator: str, items: Sequence[Any]) -> int:
    return len(separator) * len(items) + sum(len(item) for item in items if isinstance(item, str))


def _check_json_size(value: Any) -> None:
    """Raise BudgetExceeded for a value whose JSON would be too long: one list may occur in another many times."""
    size, left = 0, [value]
    while left:
        item = left.pop()
        size += len(item) if isinstance(item, str) else 1
        check_size(size)
        if isinstance(item, dict):
            left += item.keys()
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


def _check_method(owner: str, name: str, args: tuple[Any, ...]) -> None:
    """Check methods of text that return a longer text than they are given."""
    if name in PADDING or name in FORMATS:
        check_size(max((arg for arg in args if isinstance(arg, int)), default=0))
    if name in FORMATS and _asks_for_width(owner):
        raise BudgetExceeded("it asks for a text of a fixed width")
    if name == "replace" and len(args) >= 2 and isinstance(args[0], str) and isinstance(args[1], str):
        check_size(len(owner) + owner.count(args[0]) * len(args[1]))
    elif name == "join" and args and isinstance(args[0], list | tuple):
        check_size(_joined_size(owner, args[0]))


def _asks_for_width(pattern: str) -> bool:
    """Whether a format asks for a width of more than four digits."""
    digits = 0
    for char in pattern:
        digits = digits + 1 if char.isdigit() else 0
        if digits > 4:
            return True
    return False
