"""The body of `POST /v1/parse`: its shapes and its limits."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest, TooLarge
from duologue.wire.parse_body import CHARACTERS, CHUNKS, ParseBody
from duologue.wire.validation import validate


def test_a_text_is_one_piece_under_both_names() -> None:
    assert validate(ParseBody, {"chunks": "ab"}).pieces == ("ab",)
    assert validate(ParseBody, {"text": "ab"}).pieces == ("ab",)
    assert validate(ParseBody, {"chunks": ["a", "b"]}).pieces == ("a", "b")


@pytest.mark.parametrize("chunks", [["a"] * (CHUNKS + 1), "x" * (CHARACTERS + 1), ["x" * CHARACTERS, "y"]])
def test_too_much_text_is_refused(chunks: object) -> None:
    with pytest.raises(TooLarge) as refused:
        _ = validate(ParseBody, {"chunks": chunks}).pieces
    assert refused.value.param == "chunks"


def test_a_template_has_a_size_too() -> None:
    with pytest.raises(TooLarge) as refused:
        _ = validate(ParseBody, {"chunks": "", "template": "x" * (CHARACTERS + 1)}).source
    assert refused.value.param == "template"


@pytest.mark.parametrize("chunks", [None, 3, ["a", 3], {}])
def test_chunks_are_texts(chunks: object) -> None:
    with pytest.raises(BadRequest) as refused:
        validate(ParseBody, {"chunks": chunks})
    assert (refused.value.param or "").startswith("chunks")


def test_tools_have_openais_form() -> None:
    body = validate(ParseBody, {"chunks": "", "tools": [{"type": "function", "function": {"name": "f"}}]})
    assert body.offered[0].name == "f"
