"""Arguments of one expression as JSON, in every cutting."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.toolcalls.test_json_calls import Heard

from duologue.text.toolcalls.expressions.arguments_scanner import PYTHON, ArgumentsScanner, ExpressionDialect
from duologue.values.messages import Tool

BRACES = ExpressionDialect(braces=True, quotes=('<|"|>', '"'))
TOOL = Tool(
    "f", "", {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {}, "d": {"type": "array"}}}
)  # fmt: skip

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def scan(text: str, size: int, dialect: ExpressionDialect = PYTHON, name: str = "f") -> tuple[str, str, str]:
    """The state at the end, the arguments so far, and the text that was not read."""
    heard = Heard()
    scanner = ArgumentsScanner(dialect, name, heard, (TOOL,))
    pending, at = "", 0
    while at < len(text) and scanner.state == "open":
        pending += text[at : at + size]
        at += size
        pending = pending[scanner.feed(pending, 0) :]
    arguments = "".join(str(entry[1]) for entry in heard.log if entry[0] == "arguments")
    assert [entry[0] for entry in heard.log].count("open") <= 1
    assert scanner.committed == bool(heard.log)
    return scanner.state, arguments, pending + text[at:]


def arguments(text: str, dialect: ExpressionDialect = PYTHON, name: str = "f") -> str:
    """The arguments of a call that is read to its end, the same in every cutting."""
    whole = scan(f"{text}.", 10_000, dialect, name)
    assert all(scan(f"{text}.", size, dialect, name) == whole for size in (1, 2, 3, 5, 7))
    assert (whole[0], whole[2]) == ("ended", ".")
    return whole[1]


@settings(max_examples=150)
@given(value=VALUES, size=st.integers(1, 9))
def test_any_literal_of_python_keeps_its_value(value: object, size: int) -> None:
    state, found, rest = scan(f"c={value!r}) rest", size)
    assert (state, rest) == ("ended", " rest")
    assert json.loads(found) == {"c": value}


@settings(max_examples=100)
@given(value=VALUES, size=st.integers(1, 9))
def test_any_json_is_an_expression_too(value: object, size: int) -> None:
    text = json.dumps(value)
    assert json.loads(scan(f"c={text})", size)[1]) == {"c": value}
    assert json.loads(scan(f"c:{text}}}", size, BRACES)[1]) == {"c": value}


@pytest.mark.parametrize(
    ("text", "json"),
    [
        (")", "{}"),
        (" )", "{}"),
        ("a='x')", '{"a": "x"}'),
        ("a = 'x' , b = 1 , )", '{"a": "x", "b": 1}'),
        ("'x', 1)", '{"a": "x", "b": 1}'),
        ("'x', c=None)", '{"a": "x", "c": null}'),
        ("c=(1, 'a',), d=[])", '{"c": [1, "a"], "d": []}'),
        ("c={'k': {'l': [True]}, 2: 'x'})", '{"c": {"k": {"l": [true]}, "2": "x"}}'),
        ("a='''it's\n''')", '{"a": "it\'s\\n"}'),
        ('a="""say "x" """)', '{"a": "say \\"x\\" "}'),
        ("a='')", '{"a": ""}'),
        ("a='it's late', b=1)", '{"a": "it\'s late", "b": 1}'),
        ("a=007, b=007, c=12, z=007)", '{"a": "007", "b": 7, "c": 12, "z": 7}'),
        ("a='line\nend')", '{"a": "line\\nend"}'),
        (r"a='\x41\u00e9\'\d')", r"""{"a": "\u0041\u00e9'\\d"}"""),
    ],
)
def test_python(text: str, json: str) -> None:
    assert arguments(text) == json


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("}", "{}"),
        ('a:<|"|>x<|"|>}', '{"a": "x"}'),
        ('a:<|"|>say "x", {y} <|"<|"|>,b:1}', '{"a": "say \\"x\\", {y} <|\\"", "b": 1}'),
        ('a:<|"|>C:\\new<|"|>}', '{"a": "C:\\\\new"}'),
        ("a:true,c:true,b:words}", '{"a": "true", "c": true, "b": "words"}'),
        ('c:{k:[<|"|>x<|"|>,2],<|"|>l<|"|>:{}},d:[]}', '{"c": {"k": ["x", 2], "l": {}}, "d": []}'),
        ('"a": "x\\n", c: None }', '{"a": "x\\n", "c": null}'),
    ],
)
def test_braces(text: str, json: str) -> None:
    assert arguments(text, BRACES) == json


@pytest.mark.parametrize(
    "text",
    ["name)", "a=name)", "a=f('x'))", "a==1)", "a=1 b=2)", "a=[1 2])", "**a)", "a=", "c={1, 2})", "a=x.y)", "=1)", "c='x' + 'y')"],
)  # fmt: skip
def test_anything_else_is_broken_and_not_completed(text: str) -> None:
    for size in (1, 2, 3, 100):
        state, found, _ = scan(text, size)
        assert state != "ended"
        if found:
            with pytest.raises(ValueError, match=r"Expecting|delimiter|Unterminated"):
                json.loads(found)


def test_values_without_names_need_a_tool_that_has_them() -> None:
    assert scan("'x')", 100, name="unheard_of")[0] == "broken"
    assert scan("'a', 1, 2, [], 5)", 100)[0] == "broken"


def test_a_text_is_passed_on_while_it_is_written() -> None:
    assert scan("a='one two", 3)[1] == '{"a": "one two'


def test_nesting_has_an_end() -> None:
    assert scan("c=" + "[" * 1000, 100)[0] == "broken"


def test_values_agree_with_python() -> None:
    text = "{'a': (1, -2.5e3), 'b': [0x10, 1_000, None], \"c\": 'x\\ty\\\\'}"
    assert json.loads(arguments(f"c={text})"))["c"] == json.loads(json.dumps(ast.literal_eval(text)))
