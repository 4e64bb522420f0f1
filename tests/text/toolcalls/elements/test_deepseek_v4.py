"""DeepSeek V4: as V3.2, in another wrapper."""

from __future__ import annotations

from tests.support.tagged_families import tagged
from tests.support.tool_call_families import Family
from tests.text.toolcalls.elements.test_deepseek_v32 import dsml

FAMILY = Family(
    "deepseek_v4",
    dsml("tool_calls"),  # type: ignore[arg-type]
    source="encoding script of DeepSeek-V4",
)


def test_it_writes_the_wrapper_of_its_version() -> None:
    assert tagged("deepseek_v4").starts[0] == "<｜DSML｜tool_calls>"
