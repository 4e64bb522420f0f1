"""MiniMax M3: a fixed text before every tag, parameters in elements of their own name, objects and lists as elements
within them.

    ]<]minimax[>[<tool_call>
    ]<]minimax[>[<invoke name="f">]<]minimax[>[<a>x]<]minimax[>[</a>]<]minimax[>[</invoke>
    ]<]minimax[>[</tool_call>

A list has elements called `item`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.parameter_values import parameter_json, types_of
from duologue.text.toolcalls.tagged_calls import TaggedCalls

BEFORE_TAG = "]<]minimax[>["
TAG = re.compile(rf"{re.escape(BEFORE_TAG)}<(/?)([\w.:-]{{1,200}})>")
ITEM = "item"
DEEPEST = 64


def value_json(text: str, schema: object) -> str:
    """A value as JSON: elements within it are the properties of an object or the items of a list. Text that is not
    well-formed is a value as it is."""
    tags = list(TAG.finditer(text))
    if not tags or text[: tags[0].start()].strip():
        return parameter_json(text, schema)
    read = _Elements(text, tags).read(schema)
    return parameter_json(text, schema) if read is None else read


class _Elements:
    """Reads the elements in a value, which may be nested."""

    def __init__(self, text: str, tags: list[re.Match[str]]) -> None:
        self._text, self._tags, self._next = text, tags, 0

    def read(self, schema: object) -> str | None:
        """All of the elements as JSON; None if they are not well-formed."""
        found = self._inner(schema, 0)
        return found if self._next == len(self._tags) else None

    def _inner(self, schema: object, depth: int) -> str | None:
        """The elements up to the closing tag of the one around them."""
        pairs: list[tuple[str, str]] = []
        while self._next < len(self._tags) and not self._tags[self._next][1]:
            opening = self._tags[self._next]
            self._next += 1
            inner = _schema_of(schema, opening[2])
            if self._next == len(self._tags) or depth > DEEPEST:
                return None
            following = self._tags[self._next]
            if following[1]:
                value: str | None = parameter_json(self._text[opening.end() : following.start()], inner)
            else:
                value = self._inner(inner, depth + 1)
            if value is None or self._next == len(self._tags) or self._tags[self._next][2] != opening[2]:
                return None
            self._next += 1
            pairs.append((opening[2], value))
        return _joined(pairs, schema)


def _joined(pairs: list[tuple[str, str]], schema: object) -> str:
    listed = "array" in types_of(schema) or "object" not in types_of(schema)
    if listed and all(name == ITEM for name, _ in pairs):
        return f"[{', '.join(value for _, value in pairs)}]"
    return f"{{{', '.join(f'{json.dumps(name)}: {value}' for name, value in pairs)}}}"


def _schema_of(schema: object, name: str) -> object:
    """What a schema says of the element of this name; nothing, where it does not say."""
    if not isinstance(schema, Mapping):
        return {}
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return properties[name]
    return schema.get("items", {}) if name == ITEM else {}


FORMAT = TaggedCalls(
    CallTags(
        start=f"{BEFORE_TAG}<tool_call>\n",
        call=f'{BEFORE_TAG}<invoke name="{{name}}">',
        parameter=f"{BEFORE_TAG}<{{word}}>",
        parameter_end=f"{BEFORE_TAG}</{{word}}>",
        call_end=f"{BEFORE_TAG}</invoke>\n",
        end=f"{BEFORE_TAG}</tool_call>",
        others={
            "call": (f'{BEFORE_TAG}<invoke{{space}}name="{{name}}">',),
        },
        value=value_json,
    )
)
