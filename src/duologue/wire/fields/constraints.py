"""What may constrain a reply's content: JSON, a schema, a pattern, a choice, a grammar, under every name that clients use for it.

Each is kept or refused with its name; none is passed over (see `docs/compatibility.md`). Used by `openai` and `chat`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from duologue.errors import BadRequest, Unsupported
from duologue.values.requests import OutputFormat
from duologue.wire.fields.schema_types import known_types
from duologue.wire.validation import Body, JsonObject
from duologue.wire.validation_errors import shortened

MAX_CHOICES = 500
"""Texts of a choice: the engine follows all of them at each token."""
MAX_TEXT = 128 * 1024
"""Characters of a grammar, a pattern, or the texts of a choice together."""
_LARK = (
    "is not GBNF, which has rules `name ::= ...`; Lark grammars are not supported: write the grammar in GBNF"
)
_FIELDS = ("json_schema", "regex_pattern", "grammar_string", "grammar", "guided_json", "guided_regex")
FORMAT_FIELDS = (*_FIELDS, "guided_choice", "guided_grammar", "structured_outputs", "response_format")
"""The fields that constrain the reply's content, of which a request has at most one."""
FORMATS = ("text", "json_object", "json", "json_schema", "regex", "grammar")


def _schema_object(value: object) -> object:
    """A schema as an object; some clients send it as a text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("must be a JSON schema: an object, or its text") from None


def _grammar(value: str) -> str:
    if value and "::=" not in value:
        raise ValueError(_LARK)
    return value


def _choices(value: list[str]) -> list[str]:
    if not value or not all(value):
        raise ValueError("must be a list of texts, none of them empty")
    if sum(map(len, value)) > MAX_TEXT:
        raise ValueError(f"may have at most {MAX_TEXT:,} characters together")
    return value


Schema = Annotated[
    JsonObject, BeforeValidator(_schema_object, json_schema_input_type=dict[str, JsonValue] | str),
    AfterValidator(known_types),
]  # fmt: skip
Grammar = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_grammar)]
Pattern = Annotated[str, Field(max_length=MAX_TEXT)]
Choices = Annotated[
    list[Annotated[str, WithJsonSchema({"type": "string", "minLength": 1})]],
    Field(max_length=MAX_CHOICES, json_schema_extra={"minItems": 1}),
    AfterValidator(_choices),
]


class JsonSchemaBody(Body):
    name: str = ""
    description: str | None = None
    schema_: Schema | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormatBody(Body):
    """`type`: text, json_object (json), json_schema, regex or grammar. `value` is what text-generation-inference calls it."""

    type: Annotated[str, WithJsonSchema({"type": "string", "enum": list(FORMATS)})] = Field(
        description="text, json_object, json, json_schema, regex or grammar"
    )
    json_schema: JsonSchemaBody | None = None
    schema_: Schema | None = Field(default=None, alias="schema")
    pattern: Pattern | None = None
    regex: Pattern | None = None
    grammar: Grammar | None = None
    value: JsonValue | None = None


class StructuredOutputsBody(Body):
    """vLLM's constraints under one name."""

    json_: Schema | None = Field(default=None, alias="json")
    json_object: bool | None = None
    regex: Pattern | None = None
    choice: Choices | None = None
    grammar: Grammar | None = None


class FormatFields(Body):
    """The constraints of a request body."""

    response_format: ResponseFormatBody | None = None
    json_schema: Schema | None = Field(default=None, description="A JSON schema the reply must follow.")
    regex_pattern: Pattern | None = Field(default=None, description="A pattern the whole reply must match.")
    grammar: Grammar | None = Field(default=None, description="A GBNF grammar the reply must follow.")
    grammar_string: Grammar | None = Field(default=None, description="The same as grammar.")
    guided_json: Schema | None = None
    guided_regex: Pattern | None = None
    guided_choice: Choices | None = None
    guided_grammar: Grammar | None = None
    structured_outputs: StructuredOutputsBody | None = None

    def output_format(self) -> OutputFormat | None:
        """The constraint on the reply. Raises BadRequest for several, and for one that lacks its content; Unsupported."""
        found = list(self._formats())
        if len(found) > 1:
            names = " and ".join(dict.fromkeys(format.param for format in found[:2]))
            raise BadRequest(f"{names} are mutually exclusive; send one.", param=found[1].param)
        return found[0] if found else None

    def _formats(self) -> Iterator[OutputFormat]:
        if self.response_format is not None and self.response_format.type != "text":
            yield _response_format(self.response_format)
        for name in ("json_schema", "guided_json"):
            if (schema := getattr(self, name)) is not None:
                yield OutputFormat("json_schema", schema=dict(schema), param=name)
        # Some programs send every field they know; an empty pattern or grammar is none, as in the servers they were written for.
        for name in ("regex_pattern", "guided_regex"):
            if pattern := getattr(self, name):
                yield OutputFormat("regex", pattern=pattern, param=name)
        for name in ("grammar", "grammar_string", "guided_grammar"):
            if grammar := getattr(self, name):
                yield OutputFormat("grammar", grammar=grammar, param=name)
        if self.guided_choice is not None:
            yield OutputFormat("choice", choices=tuple(self.guided_choice), param="guided_choice")
        if self.structured_outputs is not None:
            yield from _structured_outputs(self.structured_outputs)


def _response_format(format: ResponseFormatBody) -> OutputFormat:
    match format.type:
        case "json_object" | "json" | "json_schema":
            return _json_format(format)
        case "regex":
            pattern = _one_of(format, "pattern", "regex")
            return OutputFormat("regex", pattern=pattern, param="response_format")
        case "grammar":
            grammar = _one_of(format, "grammar")
            if "::=" not in grammar:
                raise Unsupported(f"response_format.grammar {_LARK}.", param="response_format")
            return OutputFormat("grammar", grammar=grammar, param="response_format")
    raise BadRequest(
        f"response_format.type must be one of text, json_object, json_schema, regex, grammar; {shortened(format.type)!r} is "
        "not supported.",
        param="response_format.type",
    )


def _json_format(format: ResponseFormatBody) -> OutputFormat:
    inner = format.json_schema
    schema: Any = format.schema_ if inner is None or inner.schema_ is None else inner.schema_
    if schema is None and isinstance(format.value, dict):
        schema = format.value
        try:
            known_types(schema)
        except ValueError as error:
            raise BadRequest(f"response_format.value {error}.", param="response_format.value") from None
    if schema is not None:
        return OutputFormat("json_schema", schema=dict(schema), strict=inner.strict if inner else None)
    if format.type == "json_schema":
        where = "response_format.json_schema.schema"
        raise BadRequest(f"{where} is missing.", param=where)
    return OutputFormat("json_object")


def _one_of(format: ResponseFormatBody, *names: str) -> str:
    for name in (*names, "value"):
        if isinstance(text := getattr(format, name), str) and text:
            return text
    raise BadRequest(f"response_format.{names[0]} is missing: a text.", param=f"response_format.{names[0]}")


def _structured_outputs(body: StructuredOutputsBody) -> Iterator[OutputFormat]:
    where = "structured_outputs"
    if "structural_tag" in body.unknown():
        raise Unsupported(
            f"{where}.structural_tag is not supported; send tools, or a grammar.",
            param=f"{where}.structural_tag",
        )
    if body.json_ is not None:
        yield OutputFormat("json_schema", schema=dict(body.json_), param=f"{where}.json")
    if body.json_object:
        yield OutputFormat("json_object", param=f"{where}.json_object")
    if body.regex is not None:
        yield OutputFormat("regex", pattern=body.regex, param=f"{where}.regex")
    if body.choice is not None:
        yield OutputFormat("choice", choices=tuple(body.choice), param=f"{where}.choice")
    if body.grammar is not None:
        yield OutputFormat("grammar", grammar=body.grammar, param=f"{where}.grammar")
