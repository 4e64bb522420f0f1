"""A template from strangers: it renders as its publisher meant, reaches nothing, and cannot hang or fill memory."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import TemplateError

from duologue.text.templates import sandbox as limits
from duologue.text.templates.sandbox import BUDGET, Budget, BudgetExceeded, Sandbox, VerbatimObject


def render(source: str, steps: int = 10_000, **names: Any) -> str:
    return Sandbox().from_string(source).render({**names, BUDGET: Budget(steps)})


def test_blocks_leave_no_line_ends_behind() -> None:
    assert render("{% if true %}\n  {% if true %}\na\n  {% endif %}\n{% endif %}\n") == "a\n"


def test_json_is_not_escaped_for_html_nor_for_ascii() -> None:
    assert render("{{ value | tojson }}", value={"a": "<é & '漢'>"}) == '{"a": "<é & \'漢\'>"}'


def test_json_takes_the_options_templates_use() -> None:
    assert (
        render("{{ v | tojson(indent=1, sort_keys=true) }}", v={"b": 1, "a": 2}) == '{\n "a": 2,\n "b": 1\n}'
    )
    assert render("{{ v | tojson(separators=(',', ':')) }}", v={"b": [1]}) == '{"b":[1]}'


def test_loops_can_break_and_continue() -> None:
    source = "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}"
    assert render(source) == "023"


def test_loops_know_their_length_and_place() -> None:
    source = "{% for i in v | map('upper') %}{{ i }}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %}"
    assert render(source, v=["a", "b"]) == "A1/2,B2/2"


def test_a_loop_over_something_missing_is_empty() -> None:
    assert render("{% for i in missing %}x{% else %}none{% endfor %}") == "none"


def test_generation_blocks_are_plain_text() -> None:
    assert render("a{% generation %}{{ b }}c{% endgeneration %}d", b="b") == "abcd"


def test_joining_and_replacing_work_as_everywhere() -> None:
    source = (
        "{{ v | join(', ') }}|{{ 'aXb' | replace('X', '-') }}|{{ 'a' ~ 1 ~ 'b' }}|{{ 'x\ny' | indent(2) }}"
    )
    assert render(source, v=["a", "b"]) == "a, b|a-b|a1b|x\n  y"


def test_a_template_may_refuse_with_its_own_words() -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        render("{{ raise_exception('roles must alternate') }}")


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ messages.append(1) }}",
        "{{ '{0.__class__}'.format(1) }}",
    ],
)
def test_nothing_of_python_can_be_reached(source: str) -> None:
    try:
        shown = render(source, messages=[1])
    except (TemplateError, TypeError):
        shown = ""
    assert shown == ""


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}",
        "{% set r = range(1000) | list %}{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}",
        "{% for i in 'x' * 100000 %}{% endfor %}",
        "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(60) }}",
        "{% for i in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth < 60 }}{% endfor %}",
    ],
)
def test_what_never_ends_is_ended(source: str) -> None:
    with pytest.raises(BudgetExceeded, match="too long"):
        render(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10 ** 9 }}",
        "{{ [1] * 10 ** 9 }}",
        "{{ 10 ** 1000000000 }}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s.replace('x', n.s) %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s | replace('x', n.s) %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = [n.s, n.s] | join %}{% endfor %}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = ''.join([n.s, n.s]) %}{% endfor %}",
        "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l | tojson }}",
        "{{ 'x'.ljust(10 ** 9) }}",
        "{{ 'x'.zfill(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:{}}'.format(1, 1000000000) }}",
        "{{ 'x\nx' | indent(1000000000) }}",
    ],
)
def test_what_would_fill_memory_is_refused(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SIZE", 1_000_000)
    with pytest.raises(BudgetExceeded):
        render(source)


def test_the_budget_cannot_be_named() -> None:
    with pytest.raises(TemplateError, match="undefined"):
        render("{{ duologue_budget.spend(-1) }}")


def test_a_field_is_found_before_the_text_it_came_from() -> None:
    arguments = VerbatimObject({"source": "a", "items": "b"}, "{}")
    assert render("{{ x.source }}{{ x['source'] }}{{ x['items'] }}{{ x.missing }}", x=arguments) == "aab"
    assert render("{% for k, v in x.items() %}{{ k }}{{ v }}{% endfor %}", x={"a": 1}) == "a1"
    with pytest.raises(TemplateError, match="has no attribute 'missing'"):
        render("{{ x.missing.field }}", x={"a": 1})
