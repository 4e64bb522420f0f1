"""Hunyuan Hy3: tags with a suffix."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import shown, values, writer
from tests.support.tool_call_families import Call, Family

from duologue.text.output.reasoning_tags import template_tags
from duologue.text.toolcalls.key_values.hunyuan_hy3 import hunyuan

write = writer(
    "<tool_call:opensource>{}<tool_sep:opensource>\n",
    lambda key, value: (
        f"<arg_key:opensource>{key}</arg_key:opensource>\n"
        f"<arg_value:opensource>{shown(value)}</arg_value:opensource>\n"
    ),
    "</tool_call:opensource>\n",
    before="<tool_calls:opensource>\n",
    after="</tool_calls:opensource>",
)
FAMILY = Family(
    "hunyuan_hy3",
    write,
    source="chat template of Hy3-preview, whose tags have no suffix; with it as tabbyAPI documents them",
    tags=template_tags("<think:opensource>"),
)
CALLS = [Call("find_city", {"city": "a </arg_value> b", "days": 2}), Call("clock", {})]
EXPECTED = [("find_city", {"city": "a </arg_value> b", "days": 2}), ("clock", {})]


@pytest.mark.parametrize("suffix", ["", ":6124c78e", ":x"])
def test_any_suffix_is_read(suffix: str) -> None:
    assert values("hunyuan_hy3", write(CALLS).replace(":opensource", suffix)) == EXPECTED


@pytest.mark.parametrize("suffix", ["", ":6124c78e", ":opensource"])
def test_the_separator_after_the_name_may_be_missing(suffix: str) -> None:
    raw = write(CALLS).replace("<tool_sep:opensource>", "").replace(":opensource", suffix)
    assert values("hunyuan_hy3", raw) == EXPECTED


def test_a_model_with_another_suffix_has_a_format_that_writes_it() -> None:
    assert hunyuan(":6124c78e").starts[0] == "<tool_calls:6124c78e>"
