"""DeepSeek V4.1: names of tags with a blank before them."""

from __future__ import annotations

from tests.support.tagged_families import tagged
from tests.support.tool_call_families import Family
from tests.text.toolcalls.elements.test_deepseek_v32 import dsml

FAMILY = Family(
    "deepseek_v41",
    dsml("calls", " "),  # type: ignore[arg-type]
    source="chat template of DeepSeek-V4.1-Flash, as recordings of what it renders show it",
)


def test_it_writes_the_wrapper_of_its_version() -> None:
    assert tagged("deepseek_v41").starts[0] == "<｜DSML｜ calls>"
