"""MiniCPM5: functions without a wrapper, values with markup in CDATA sections."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import read, shown, values, writer
from tests.support.tool_call_families import Call, Family, calls_of


def parameter(key: str, value: object) -> str:
    text = shown(value)
    if "<" in text or "&" in text:
        text = f"<![CDATA[{text}]]>"
    return f'<param name="{key}">{text}</param>'


write = writer('<function name="{}">', parameter, "</function>")
FAMILY = Family("minicpm5", write, source="chat template of MiniCPM5-2B")


@pytest.mark.parametrize(
    "text",
    ["<p>", "a ]]> b", "</param></function>", "<![CDATA[x]]>", "]]></param> no", " <a>\n", "<", "]]<"],
)
def test_a_text_in_a_cdata_section_is_taken_as_it_is(text: str) -> None:
    assert values("minicpm5", write([Call("find_city", {"city": text, "days": 1})])) == [
        ("find_city", {"city": text, "days": 1})
    ]


def test_a_number_in_a_cdata_section_is_a_number() -> None:
    raw = '<function name="find_city"><param name="days"><![CDATA[3]]></param></function>'
    assert values("minicpm5", raw) == [("find_city", {"days": 3})]


@pytest.mark.parametrize(
    "raw",
    [
        "<function name='find_city'><param name='city'>Oslo</param></function>",
        '<function name="find_city" id="1"><param name="city">Oslo</param></function>',
        '<functionname="find_city"><paramname="city">Oslo</param></function>',
        '<function name="find_city">\n<param name="city">Oslo</param>\n</function>\n',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert calls_of(read("minicpm5", raw)) == [("find_city", '{"city": "Oslo"}')]


def test_a_section_that_is_cut_off_is_not_closed() -> None:
    reply = read("minicpm5", '<function name="find_city"><param name="city"><![CDATA[a <b')
    assert reply.truncated
    assert calls_of(reply) == [("find_city", '{"city": "a <b')]
