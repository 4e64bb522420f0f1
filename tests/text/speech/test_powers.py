"""The rules of powers by themselves; whole sentences are in the tests of the languages."""

import pytest

from duologue.text.speech.mapped_text import MappedText
from duologue.text.speech.powers import powers


def rewritten(text: str, language: str) -> str:
    mapped = MappedText(text)
    for pattern, made in powers(language):
        mapped.rewrite(pattern, made)
    return mapped.text


@pytest.mark.parametrize(
    ("written", "english", "german"),
    [
        ("x^2", "x squared", "x Quadrat"),
        ("x³y", "x cubed y", "x hoch drei y"),
        ("x^-2", "x to the power of minus 2", "x hoch minus 2"),
        ("x^{n+1}", "x to the power of n+1", "x hoch n+1"),
        ("2^8-1", "2 to the power of 8 minus 1", "2 hoch 8 minus 1"),
        ("α^2", "α squared", "α Quadrat"),
        ("(a+b)^2", "(a+b) squared", "(a+b) Quadrat"),
    ],
)
def test_the_base_and_the_exponent_are_left_as_they_are(written, english, german):
    assert rewritten(written, "en") == english
    assert rewritten(written, "de") == german


@pytest.mark.parametrize("written", ["^2", "a ^ b", "[^1]", "^^", "x^", "x^{}"])
def test_what_is_no_power_is_left(written):
    assert rewritten(written, "en") == written
