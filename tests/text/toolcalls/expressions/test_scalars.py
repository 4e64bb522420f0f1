"""Words, numbers and escapes as JSON."""

from __future__ import annotations

import pytest

from duologue.text.toolcalls.expressions.scalars import escape_json, number_json, scalar_json, text_json


@pytest.mark.parametrize(
    ("text", "json"),
    [
        *(("5", "5"), ("-5", "-5"), ("+5", "5"), ("0", "0"), ("-0", "-0"), ("007", "7"), ("-007", "-7")),
        *(("1_000", "1000"), ("1.50", "1.50"), (".5", "0.5"), ("5.", "5.0"), ("1e5", "1e5"), ("1.5E+05", "1.5E+05")),
        *(("1_0.0_1e1_0", "10.01e10"), ("0x1F", "31"), ("-0b101", "-5"), ("0o17", "15"), ("00", "0")),
        ("12345678901234567890123", "12345678901234567890123"),
        ("9" * 6000, "9" * 6000),
        *((text, None) for text in ("", ".", "-", "1-2", "1.2.3", "e5", "1__0", "0x", "1j", "nan", "inf", "0x" + "1" * 2000)),
    ],
)  # fmt: skip
def test_numbers_keep_their_digits(text: str, json: str | None) -> None:
    assert number_json(text) == json


@pytest.mark.parametrize(
    ("text", "json"), [("True", "true"), ("false", "false"), ("None", "null"), ("5", "5"), ("name", None)]
)
def test_words_of_python_and_of_json(text: str, json: str | None) -> None:
    assert scalar_json(text) == json


@pytest.mark.parametrize(
    ("text", "json"),
    [
        *((r"\n.", r"\n"), (r"\'.", "'"), (r"\".", r"\""), (r"\\.", r"\\"), (r"\a.", r"\u0007"), (r"\0.", r"\u0000")),
        *((r"\101.", r"\u0041"), (r"\x41.", r"\u0041"), (r"\u00e9.", r"\u00e9"), (r"\U0001F600.", "😀"), ("\\\n.", "")),
        *((r"\d.", r"\\"), (r"\xg0.", r"\\"), (r"\Uffffffff.", r"\\"), (r"\N{DASH}", r"\\")),
        *((text, "more") for text in ("\\", r"\x", r"\x4", r"\u00e", r"\1", r"\12")),
    ],
)  # fmt: skip
def test_escapes_of_python(text: str, json: str) -> None:
    found = escape_json(text, 0)
    assert (found if found == "more" else found[0]) == json


def test_text_is_the_inside_of_a_json_string() -> None:
    assert text_json('a"\n漢') == r"a\"\n漢"
