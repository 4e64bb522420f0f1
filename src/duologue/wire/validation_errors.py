"""Validation errors as one sentence that names the field.

Owns the translation of pydantic's errors: the field's path (`messages[2].content[0].type`) and its range as the model states it.
Tags of unions begin with "~", which tells them from fields in a path. Used by `validation` and `api`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from duologue.errors import BadRequest

TAG = "~"
SENTENCES = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "union_tag_not_found": "must be an object with a type",
}
TOO_DEEP = ("recursion_loop", "recursion_depth_exceeded")


def refusal(error: ValidationError, model: type[BaseModel]) -> BadRequest:
    """The first error of a body as a problem; `param` is the field's path."""
    first = error.errors(include_url=False, include_input=False)[0]
    kind, loc = first["type"], first["loc"]
    context: dict[str, Any] = first.get("ctx", {})
    if kind in TOO_DEEP:
        # Inside a field of arbitrary JSON the path is a list of container types, which helps nobody.
        loc = tuple(takewhile(lambda step: step not in ("dict", "list"), loc))
    where = shortened(path(loc))
    if kind == "union_tag_invalid":
        known = str(context["expected_tags"]).replace(TAG, "").replace("'", "")
        return BadRequest(f"{where}.type must be one of {known}.", param=f"{where}.type")
    field = _find(model, loc)
    # The range says more than pydantic's message, which names only the bound that was broken.
    range_ = _range(field) if field is not None and kind not in ("missing", "value_error") else None
    return BadRequest(
        f"{where or 'The request'} {range_ or _sentence(kind, context, first['msg'])}.", param=where or None
    )


def path(loc: Iterable[int | str]) -> str:
    """A location in the usual notation: fields joined by dots, indices in brackets, tags of unions left out."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step.startswith(TAG):
            text += f".{step}" if text else step
    return text


def shortened(text: str, room: int = 100) -> str:
    """`text` cut to fit in a sentence: a name in a request may be a megabyte long."""
    return text if len(text) <= room else text[: room - 3] + "..."


def spellings(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Every name a field is accepted under, the preferred one first."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return tuple(str(choice) for choice in alias.choices)
    return (alias,) if isinstance(alias, str) else (name,)


def _sentence(kind: str, context: dict[str, Any], message: str) -> str:
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "")
        return f"must be one of {expected}" if " or " in expected else f"must be {expected}"
    if kind == "too_short":
        return "must not be empty"
    if kind == "too_long":
        return f"may have at most {context['max_length']} entries"
    if kind == "value_error":
        return str(context["error"])
    if kind in TOO_DEEP:
        return "is too deeply nested"
    return SENTENCES.get(kind) or f"is invalid: {message[:1].lower()}{message[1:]}"


def _range(field: FieldInfo) -> str | None:
    """The range of a numeric field with both its bounds; None for other fields."""
    kinds = {field.annotation, *get_args(field.annotation)}
    if not kinds & {int, float} or bool in kinds:
        return None
    noun = "a whole number" if int in kinds else "a number"
    low = next((limit.ge for limit in field.metadata if hasattr(limit, "ge")), None)
    high = next((limit.le for limit in field.metadata if hasattr(limit, "le")), None)
    if low is not None and high is not None:
        return f"must be {noun} from {low:,} to {high:,}"
    if low is not None:
        return f"must be {noun} of at least {low:,}"
    return f"must be {noun}" if high is None else f"must be {noun} of at most {high:,}"


def _find(model: type[BaseModel], loc: Iterable[int | str]) -> FieldInfo | None:
    """The field at a location, found by walking down nested models; None where a union makes it ambiguous."""
    field: FieldInfo | None = None
    inner: type[BaseModel] | None = model
    for step in loc:
        if isinstance(step, int):
            field = None  # an entry of the list, not the list
            continue
        if step.startswith(TAG) or inner is None:
            return None
        fields = inner.model_fields.items()
        field = next((candidate for name, candidate in fields if step in spellings(name, candidate)), None)
        if field is None:
            return None
        inner = _nested(field.annotation)
    return field


def _nested(annotation: Any) -> type[BaseModel] | None:
    """The only model inside an annotation (`X`, `X | None`, `list[X]`), if there is just one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = [model for part in get_args(annotation) if (model := _nested(part)) is not None]
    return inner[0] if len(inner) == 1 else None
