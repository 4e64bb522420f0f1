"""The table of tool-call formats."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest
from duologue.text.toolcalls import TOOL_FORMATS, guess_tool_format, tool_format


@pytest.mark.parametrize("name", sorted(TOOL_FORMATS))
def test_every_name_of_the_table_is_a_format(name: str) -> None:
    found = tool_format(name)
    assert found.starts
    assert not any(marker[0] in "`~\n" for marker in (*found.starts, *found.ends))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadRequest, match=r"'klingon'.*hermes, qwen") as caught:
        tool_format("klingon")
    assert caught.value.code == "unknown_tool_format"


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ('<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>', "hermes"),
        ("<tool_call>\n<function=example>\n<parameter=a>\narguments", "qwen3_xml"),
        ("<tool_call>{name}<arg_key>{key}</arg_key> arguments", ""),
        ("{{ messages }}", ""),
        ("", ""),
    ],
)
def test_a_format_is_recognised_by_what_the_template_writes(template: str, name: str) -> None:
    assert guess_tool_format(template) == name
