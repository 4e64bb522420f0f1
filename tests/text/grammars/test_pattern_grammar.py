"""Regular expressions as grammars: they make the texts that the expression matches."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as draw
from tests.support.gbnf import admits

from duologue.text.grammars.pattern_grammar import UnreadablePattern, pattern_rule

TEXTS = (
    "",
    "a",
    "b",
    "ab",
    "aab",
    "ba",
    "abab",
    "12",
    "a1",
    "é",
    "_",
    "-",
    ".",
    "a.b",
    "\n",
    '"',
    "\\",
    " ",
    "]",
    "^",
    "$",
    "😀",
)
PATTERNS = (
    "a", "ab|b", "a*b+", "(?:ab){1,2}", "(a|b){2}", "(?P<x>a)b?", "[a-c]+", "[^a-z]", r"\d+", r"\w\.\w", r"\s", r"[\w-]", r"\S+",
    ".", ".*", "a+?b", "^ab$", "^a|b$", r"\x61", r"\u0061b", "[]a]", "[^]a]", r"\-", "a{2,}b", "a{0}b", "", r"[\]^$]", r"\D",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_grammar_makes_what_the_pattern_matches(pattern: str) -> None:
    rule = pattern_rule(pattern)
    for text in TEXTS:
        expected = re.fullmatch(f"(?:{pattern})", text, re.ASCII) is not None
        assert admits(f"root ::= {rule}\n", text) is expected, text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_inside_json_it_may_be_found_anywhere(pattern: str) -> None:
    character = r'character ::= [^"\\\x00-\x1F] | "\\" (["\\bfnrt/])'
    grammar = f"root ::= {pattern_rule(pattern, in_json=True)}\n{character}\n"
    for text in TEXTS:
        expected = re.search(
            pattern.replace("$", r"\Z") if pattern.endswith("$") else pattern, text, re.ASCII
        )
        written = json.dumps(text, ensure_ascii=False)[1:-1]
        assert admits(grammar, written) is (expected is not None), text


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)b", "(?i)a", r"(a)\1", r"\bword", r"\p{L}", "a^", "a$b", "a++", "*a", "(a", "a)", "[a", "[b-a]",
     "[[:alpha:]]", "a{3,1}", "a{5000}", "((a{100}){100}){100}", "x" * 5000, "(" * 40 + "a" + ")" * 40, "\\"],
)  # fmt: skip
def test_what_is_not_kept_is_said(pattern: str) -> None:
    with pytest.raises(UnreadablePattern, match=r"^[a-z]"):
        pattern_rule(pattern)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(((a|b){0,8}){0,8}){0,8}", "has more than 1,000 ways to go on; write fewer"),
        ("^(a?){0,200}b$", "has more than 64 optional parts one after another; write fewer"),
    ],
)
@pytest.mark.parametrize("in_json", [True, False])
def test_what_would_keep_the_engine_busy_is_said(pattern: str, says: str, in_json: bool) -> None:
    """Three nested groups took the engine four seconds for each token, and everybody waited."""
    with pytest.raises(UnreadablePattern, match=says):
        pattern_rule(pattern, in_json=in_json)


@pytest.mark.parametrize(
    "pattern",
    ["((a+)+)+b", r"(\w*\s?){1,10}x", ".{0,1000}@.{0,1000}", "(a|aa|aaa){1,100}b", "|".join(f"word{at}" for at in range(400))],
)  # fmt: skip
def test_patterns_with_several_ways_to_match_are_kept(pattern: str) -> None:
    assert pattern_rule(pattern)


@given(draw.text(alphabet="ab(|)[]^$*+?{},\\d.-1", max_size=20))
def test_any_text_is_read_or_refused(pattern: str) -> None:
    try:
        rule = pattern_rule(pattern)
    except UnreadablePattern:
        return
    admits(f"root ::= {rule}\n", "ab")
