"""Hunyuan Hy4: as Hy3, without line ends and without a tag after the name."""

from __future__ import annotations

from tests.support.tagged_families import admitted, shown, values, writer
from tests.support.tool_call_families import Call, Family

from duologue.text.output.reasoning_tags import template_tags

write = writer(
    "<tool_call:opensource>{}",
    lambda key, value: (
        f"<arg_key:opensource>{key}</arg_key:opensource>"
        f"<arg_value:opensource>{shown(value)}</arg_value:opensource>"
    ),
    "</tool_call:opensource>",
    before="<tool_calls:opensource>",
    after="</tool_calls:opensource>",
)
FAMILY = Family(
    "hunyuan_hy4",
    write,
    source="chat template of Hy4-preview, as recordings of what it renders show it",
    tags=template_tags("<think:opensource>"),
)
CALLS = [Call("find_city", {"city": "Oslo", "days": 2}), Call("clock", {})]


def test_a_forced_call_has_its_own_form() -> None:
    assert admitted("hunyuan_hy4", write(CALLS[:1]))
    assert not admitted(
        "hunyuan_hy4", write(CALLS[:1]).replace("find_city<", "find_city<tool_sep:opensource>\n<")
    )


def test_each_version_reads_calls_of_the_other() -> None:
    expected = [(call.name, call.arguments) for call in CALLS]
    hy3 = write(CALLS).replace("><", ">\n<").replace("find_city\n", "find_city<tool_sep:opensource>\n")
    assert values("hunyuan_hy4", hy3) == values("hunyuan_hy3", write(CALLS)) == expected
