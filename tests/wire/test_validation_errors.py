"""A fault in a body becomes one sentence that names the field."""

from typing import Annotated, Literal

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from duologue.wire.validation_errors import path, refusal, spellings


class Cat(BaseModel):
    model_config = ConfigDict(strict=True)

    type: Literal["cat"]
    lives: int = Field(default=9, ge=1, le=9)


class Dog(BaseModel):
    type: Literal["dog"]


class Inner(BaseModel):
    share: float = Field(default=0, ge=0, le=1)


class Outer(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    size: int | None = Field(
        default=None, ge=1, le=1_000_000, validation_alias=AliasChoices("size", "length")
    )
    least: float = Field(default=0, ge=0)
    most: int = Field(default=0, le=5)
    any: int = 0
    flag: bool = False
    inner: Inner = Inner()
    inners: list[Inner] = Field(default=[], max_length=2)
    mood: Literal["good", "bad"] = "good"
    biases: dict[str, float] = {}
    pets: list[
        Annotated[
            Annotated[Cat, Tag("~cat")] | Annotated[Dog, Tag("~dog")],
            Discriminator(lambda value: "~" + value["type"] if isinstance(value, dict) else None),
        ]
    ] = []


@pytest.mark.parametrize(
    ("body", "sentence", "param"),
    [
        ({}, "name is missing.", "name"),
        ({"name": 3}, "name must be a string.", "name"),
        ({"name": "", "size": 0}, "size must be a whole number from 1 to 1,000,000.", "size"),
        ({"name": "", "length": 0}, "length must be a whole number from 1 to 1,000,000.", "length"),
        ({"name": "", "size": "5"}, "size must be a whole number from 1 to 1,000,000.", "size"),
        ({"name": "", "size": True}, "size must be a whole number from 1 to 1,000,000.", "size"),
        ({"name": "", "least": -1}, "least must be a number of at least 0.", "least"),
        ({"name": "", "most": 6}, "most must be a whole number of at most 5.", "most"),
        ({"name": "", "any": 1.5}, "any must be a whole number.", "any"),
        ({"name": "", "flag": 1}, "flag must be true or false.", "flag"),
        ({"name": "", "inner": {"share": 2}}, "inner.share must be a number from 0 to 1.", "inner.share"),
        ({"name": "", "inner": 3}, "inner must be an object.", "inner"),
        ({"name": "", "inners": {}}, "inners must be a list.", "inners"),
        ({"name": "", "inners": [{}] * 3}, "inners may have at most 2 entries.", "inners"),
        (
            {"name": "", "inners": [{}, {"share": "x"}]},
            "inners[1].share must be a number from 0 to 1.",
            "inners[1].share",
        ),
        ({"name": "", "mood": "so"}, "mood must be one of good or bad.", "mood"),
        ({"name": "", "biases": {"7": "x"}}, "biases.7 must be a number.", "biases.7"),
        ({"name": "", "pets": [3]}, "pets[0] must be an object with a type.", "pets[0]"),
        ({"name": "", "pets": [{"type": "cow"}]}, "pets[0].type must be one of cat, dog.", "pets[0].type"),
        (
            {"name": "", "pets": [{"type": "cat", "lives": "x"}]},
            "pets[0].lives must be a whole number.",
            "pets[0].lives",
        ),
    ],
)
def test_the_sentence_names_the_field_and_what_it_may_be(body: object, sentence: str, param: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(body)
    problem = refusal(caught.value, Outer)
    assert (problem.message, problem.param, problem.status) == (sentence, param, 400)


def test_a_path_leaves_the_tags_of_unions_out() -> None:
    assert path(("messages", 2, "content", 0, "~text", "text")) == "messages[2].content[0].text"


def test_a_name_of_any_length_makes_a_sentence_of_readable_length() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"name": "", "biases": {"x" * 2**20: "y"}})
    problem = refusal(caught.value, Outer)
    assert problem.message.endswith("... must be a number.")
    assert len(problem.message) < 200


def test_the_preferred_spelling_of_a_field_comes_first() -> None:
    assert spellings("size", Outer.model_fields["size"]) == ("size", "length")
    assert spellings("name", Outer.model_fields["name"]) == ("name",)
