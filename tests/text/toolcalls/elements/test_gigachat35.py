"""GigaChat 3.5: as DeepSeek V4, in tags of its own."""

from __future__ import annotations

from tests.support.tagged_families import admitted, values
from tests.support.tool_call_families import Call, Family
from tests.text.toolcalls.elements.test_deepseek_v32 import dsml

write = dsml("tool_calls", language="GCML")
FAMILY = Family("gigachat35", write, source="chat template of GigaChat 3.5")  # type: ignore[arg-type]


def test_an_answer_and_a_call_are_apart() -> None:
    raw = (
        "Смотрю.\n\n<｜GCML｜tool_calls>\n"
        '<｜GCML｜invoke name="find_city">\n'
        '<｜GCML｜parameter name="city" string="true">Омск</｜GCML｜parameter>\n'
        '<｜GCML｜parameter name="days" string="false">3</｜GCML｜parameter>\n'
        "</｜GCML｜invoke>\n</｜GCML｜tool_calls>"
    )
    assert raw.endswith(write([Call("find_city", {"city": "Омск", "days": 3})]))  # type: ignore[operator]
    assert admitted("gigachat35", raw.removeprefix("Смотрю.\n\n"))


def test_a_tag_of_another_language_is_a_text() -> None:
    text = '</｜DSML｜parameter><｜DSML｜invoke name="clock">'
    raw = write([Call("find_city", {"city": text})])  # type: ignore[operator]
    assert values("gigachat35", raw) == [("find_city", {"city": text})]
