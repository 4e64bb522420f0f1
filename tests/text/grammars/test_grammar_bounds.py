"""What a grammar may cost: honest grammars pass, those that would keep the engine busy are refused at once."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest
from duologue.text.grammars.grammar_bounds import MAX_SKIPS, MAX_TERMS, MAX_WAYS, check_grammar
from duologue.text.grammars.schema_grammar import JsonGrammar

JSON = r"""root ::= object # any JSON
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""


@pytest.mark.parametrize(
    "grammar",
    [
        JSON,
        "root ::= " + " | ".join(f'"word{at}"' for at in range(500)),
        "root ::= " + " ".join(f'"a{at}"?' for at in range(60)),
        'root ::= [a-z]{1,2000} ("." [a-z]+)*',
        'root ::= ("- " [^\\n]+ "\\n"){1,20}',
        'root ::= "(" root ")" | "x"',
        "root ::= r0\n"
        + "\n".join(f'r{at} ::= "a" r{at + 1} | "b"' for at in range(1500))
        + '\nr1500 ::= "c"',
    ],
)
def test_an_honest_grammar_passes(grammar: str) -> None:
    check_grammar(grammar)


def test_a_grammar_of_our_own_passes() -> None:
    grammar = JsonGrammar()
    properties = {f"p{at}": {"type": "string"} for at in range(50)}
    name = grammar.schema({"type": "object", "properties": properties}, "content")
    check_grammar(f"root ::= {name}\n{grammar}")


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= " + " | ".join(f'"word{at}"' for at in range(9000)),
        'root ::= ((("a" | "b"){0,10}){0,10}){0,10}',
        'root ::= "x" ((("a" | "b"){0,10}){0,10}){0,10}',
        'root ::= ((("a"?){0,10}){0,10}){5}',
        'root ::= "x" a\na ::= b{0,20}\nb ::= c{0,20}\nc ::= "y"{0,20}',
        "\n".join(f'r{at} ::= r{at + 1} r{at + 1} | ""' for at in range(40))
        + '\nr40 ::= "a" | ""\nroot ::= r0',
        'root ::= "x" ' + " ".join(f'"a{at}"?' for at in range(3000)),
    ],
)
def test_too_many_ways_to_go_on_are_refused_wherever_they_are(grammar: str) -> None:
    with pytest.raises(
        BadRequest, match=f"more than ({MAX_WAYS:,} ways to go on|{MAX_SKIPS} optional parts)"
    ):
        check_grammar(grammar)


@pytest.mark.parametrize(
    "grammar",
    [
        'root ::= ("a"?){0,200} "b"',
        "root ::= " + '"a"? ' * 200,
        'root ::= "x" | ("a" "b"?) ("a"*){80}',
    ],
)
def test_what_may_be_left_out_many_times_in_a_row_is_refused(grammar: str) -> None:
    """`("a"?){0,200} "b"` passed the count of ways, and took two seconds for each token while all chats waited."""
    with pytest.raises(BadRequest, match=r"more than 64 optional parts .* in the rule 'root'"):
        check_grammar(grammar)


@pytest.mark.parametrize(
    ("grammar", "sentence"),
    [
        ("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000, "nests more than 64 brackets"),
        ('root ::= "a"{0,99999}', "more than 2,000 times"),
        ('root ::= "a"{' + "9" * 5000 + "}", "more than 2,000 times"),
        ("root ::= " + '"a" ' * (MAX_TERMS + 1), "more than 20,000 terms"),
    ],
)
def test_other_bounds_are_named(grammar: str, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        check_grammar(grammar)


@pytest.mark.parametrize(
    "text",
    ["", '"' * 9000, "(" * 60 + "\\" * 9000, ")" * 90, "{0,5}" * 900, "[a" * 9000, "::=", "a ::= a", "| | ("],
)
def test_what_is_no_grammar_is_left_to_the_engine(text: str) -> None:
    check_grammar(text)
