"""What a caller got wrong, as one sentence that names the field.

Owns the reading of pydantic's errors: the path as people write it (`messages[2].content[0].type`), the legal range
as the model states it. Knows no dialect. A tag of a union begins with "~" so that it can be told from a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from duologue.errors import BadRequest

TAG = "~"
KINDS = {
    "string_type": "must be text",
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
    "extra_forbidden": "is not known here",
    "union_tag_not_found": "must be an object with a type",
}
TOO_DEEP = ("recursion_loop", "recursion_depth_exceeded")


def refusal(error: ValidationError, model: type[BaseModel]) -> BadRequest:
    """The first fault of a body as a problem; `param` is the field's path."""
    first = error.errors(include_url=False, include_input=False)[0]
    kind, loc = first["type"], first["loc"]
    context: dict[str, Any] = first.get("ctx", {})
    if kind in TOO_DEEP:
        # Below the field that holds any JSON the steps are its kinds in turn; they say nothing more.
        loc = tuple(takewhile(lambda step: step not in ("dict", "list"), loc))
    where = shortened(path(loc))
    if kind == "union_tag_invalid":
        known = str(context["expected_tags"]).replace(TAG, "").replace("'", "")
        return BadRequest(f"{where}.type must be one of {known}.", param=f"{where}.type")
    field = _find(model, loc)
    said = _range(field) if field is not None and kind not in ("missing", "value_error") else None
    return BadRequest(
        f"{where or 'The request'} {said or _plain(kind, context, first['msg'])}.", param=where or None
    )


def path(loc: Iterable[int | str]) -> str:
    """A location as people write it: fields joined by dots, indices in brackets, tags of unions left out."""
    written = ""
    for step in loc:
        if isinstance(step, int):
            written += f"[{step}]"
        elif not step.startswith(TAG):
            written += f".{step}" if written else step
    return written


def shortened(text: str, room: int = 100) -> str:
    """`text` as a sentence can hold it: names are the callers' to invent, a megabyte long if they like."""
    return text if len(text) <= room else text[: room - 3] + "..."


def spellings(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Every name a field is accepted under, the preferred one first."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return tuple(str(choice) for choice in alias.choices)
    return (alias,) if isinstance(alias, str) else (name,)


def _plain(kind: str, context: dict[str, Any], message: str) -> str:
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
        return "is nested too deeply"
    return KINDS.get(kind) or f"is not right: {message[:1].lower()}{message[1:]}"


def _range(field: FieldInfo) -> str | None:
    """What a numeric field may be, with both its bounds whichever was broken; None for other fields."""
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
    """The field a location names, walking down nested models; None where a union makes it ambiguous."""
    found: FieldInfo | None = None
    inner: type[BaseModel] | None = model
    for step in loc:
        if isinstance(step, int):
            found = None  # an entry of the list, not the list
            continue
        if step.startswith(TAG) or inner is None:
            return None
        fields = inner.model_fields.items()
        found = next((field for name, field in fields if step in spellings(name, field)), None)
        if found is None:
            return None
        inner = _nested(found.annotation)
    return found


def _nested(annotation: Any) -> type[BaseModel] | None:
    """The one model inside an annotation (`X`, `X | None`, `list[X]`)."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = [model for part in get_args(annotation) if (model := _nested(part)) is not None]
    return inner[0] if len(inner) == 1 else None
