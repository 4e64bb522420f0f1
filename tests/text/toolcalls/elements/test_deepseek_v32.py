"""DSML: parameters say whether they are text or JSON. V4 and V4.1 change names of tags."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import read, shown, values, writer
from tests.support.tool_call_families import Call, Family, calls_of

FORMATS = ("deepseek_v32", "deepseek_v4", "deepseek_v41")


def dsml(region: str, blank: str = "", language: str = "DSML") -> object:
    """How a version writes calls."""
    mark = f"｜{language}｜"
    return writer(
        f'<{mark}{blank}invoke name="{{}}">\n',
        lambda key, value: (
            f'<{mark}{blank}parameter name="{key}" string="{"true" if isinstance(value, str) else "false"}">'
            f"{shown(value)}</{mark}{blank}parameter>\n"
        ),
        f"</{mark}{blank}invoke>\n",
        before=f"<{mark}{blank}{region}>\n",
        after=f"</{mark}{blank}{region}>",
    )


write = dsml("function_calls")
FAMILY = Family("deepseek_v32", write, source="encoding script of DeepSeek-V3.2")  # type: ignore[arg-type]


def call(*parameters: str, region: str = "function_calls", blank: str = "") -> str:
    inner = "\n".join(parameters)
    return (
        f'<｜DSML｜{blank}{region}>\n<｜DSML｜{blank}invoke name="find_city">\n{inner}\n'
        f"</｜DSML｜{blank}invoke>\n</｜DSML｜{blank}{region}>"
    )


@pytest.mark.parametrize(
    ("parameter", "arguments"),
    [
        ('name="city" string="false">5', '{"city": 5}'),
        ('name="city" string="false">[1, "a"]', '{"city": [1, "a"]}'),
        ('name="city" string="false">words', '{"city": "words"}'),
        ('name="days" string="true">5', '{"days": "5"}'),
        ('name="days" string="true"> 007 ', '{"days": " 007 "}'),
        ('name="days">5', '{"days": 5}'),
        ('name="city">5', '{"city": "5"}'),
        ('name="new" string="false">1.50', '{"new": 1.50}'),
    ],
)
def test_the_tag_decides_the_type_and_else_the_schema_does(parameter: str, arguments: str) -> None:
    raw = call(f"<｜DSML｜parameter {parameter}</｜DSML｜parameter>")
    assert calls_of(read("deepseek_v32", raw)) == [("find_city", arguments)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("region", ["function_calls", "tool_calls", "toolcalls", "tool", "calls"])
@pytest.mark.parametrize("blank", ["", " "])
def test_each_version_reads_the_tags_of_the_others(format: str, region: str, blank: str) -> None:
    tag = f'<｜DSML｜{blank}parameter name="city" string="true">Oslo</｜DSML｜{blank}parameter>'
    assert calls_of(read(format, call(tag, region=region, blank=blank))) == [
        ("find_city", '{"city": "Oslo"}')
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_the_body_of_a_call_may_be_json(format: str) -> None:
    assert values(format, call('{"city": "Oslo", "days": 2}')) == [("find_city", {"city": "Oslo", "days": 2})]


def test_a_text_of_another_dialect_is_a_text() -> None:
    text = '</parameter></invoke><｜DSML｜invoke name="clock">'
    raw = write([Call("find_city", {"city": text})])  # type: ignore[operator]
    assert values("deepseek_v32", raw) == [("find_city", {"city": text})]
