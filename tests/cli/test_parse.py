"""What `duologue parse` prints: the formats, a reply by its parts, and the trace."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from duologue.cli.parse import ParseOptions, format_table, parse, template_of, tools_of
from duologue.errors import BadRequest
from duologue.text.toolcalls.catalogue import TOOL_FORMATS

TEMPLATE = "{{ messages }}<|inner_prefix|><|inner_suffix|><tool_call>{{ call.arguments }}"
RAW = '<|inner_prefix|>hm<|inner_suffix|>A<tool_call>{"name": "f", "arguments": {"n": 1.10}}</tool_call>'


def printed(options: ParseOptions, raw: str = RAW) -> tuple[str, str]:
    out, notes = io.StringIO(), io.StringIO()
    parse(options, io.BytesIO(raw.encode()), out, notes)
    return out.getvalue(), notes.getvalue()


def test_the_list_has_every_format_with_its_other_names_and_models() -> None:
    out, _ = printed(ParseOptions("list"))
    rows = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert rows.keys() == TOOL_FORMATS.keys()
    assert "qwen3_coder" in rows["qwen3_xml"]
    assert "gpt-oss" in rows["harmony"]
    assert all(line == line.rstrip() for line in format_table())


def test_the_format_and_the_markers_of_thoughts_are_recognised_in_a_template(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    out, notes = printed(ParseOptions("auto", template=tmp_path / "chat_template.jinja"))
    assert json.loads(out) == {
        "reasoning": "hm",
        "content": "A",
        "tool_calls": [{"name": "f", "arguments": {"n": 1.1}}],
    }
    assert notes == "hermes; thoughts in <|inner_prefix|> … <|inner_suffix|>\n"


def test_a_template_in_which_nothing_is_recognised_says_so(tmp_path: Path) -> None:
    (tmp_path / "plain.jinja").write_text("{{ messages }}")
    out, notes = printed(ParseOptions("auto", template=tmp_path / "plain.jinja"), "<tool_call>{}")
    assert json.loads(out)["content"] == "<tool_call>{}"
    assert notes == "no known tool-call format: calls are content; no thoughts\n"


def test_auto_needs_a_template() -> None:
    with pytest.raises(BadRequest, match="--template"):
        printed(ParseOptions("auto"))


def test_a_named_format_takes_the_markers_of_thoughts_from_the_template(tmp_path: Path) -> None:
    (tmp_path / "thinks.jinja").write_text("[THINK][/THINK]")
    out, _ = printed(ParseOptions("qwen", template=tmp_path / "thinks.jinja"), "[THINK]hm[/THINK]A")
    assert json.loads(out)["reasoning"] == "hm"


@pytest.mark.parametrize(
    "written",
    [TEMPLATE, [{"name": "default", "template": "x"}, {"name": "tool_use", "template": TEMPLATE}]],
)
def test_a_template_may_stand_in_the_tokenizers_settings(tmp_path: Path, written: object) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": written}))
    assert template_of(tmp_path / "tokenizer_config.json") == TEMPLATE


@pytest.mark.parametrize("content", ["{}", "[]", "no", '{"chat_template": 3}', '{"chat_template": []}'])
def test_settings_without_a_template_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(content)
    with pytest.raises(BadRequest, match="template"):
        template_of(tmp_path / "tokenizer_config.json")


def test_a_template_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        template_of(tmp_path / "nowhere.jinja")


def test_the_trace_goes_beside_the_result() -> None:
    out, notes = printed(ParseOptions("hermes", trace=True, chunk=3), "Hi\n<tool_")
    assert json.loads(out)["content"] == "Hi\n<tool_"
    assert notes.splitlines() == [
        '1: "Hi\\n"',
        '    content "Hi"',
        '    held "\\n": line ends, until text follows',
        '2: "<to"',
        '    held "\\n": line ends, until text follows',
        '    held "<to": may become `<tool_call>`',
        '3: "ol_"',
        '    held "\\n": line ends, until text follows',
        '    held "<tool_": may become `<tool_call>`',
        "end",
        '    content "\\n<tool_"',
    ]


def test_tools_are_read_in_both_shapes_and_others_are_refused(tmp_path: Path) -> None:
    function = {"name": "add", "parameters": {"type": "object"}}
    for entry in (function, {"type": "function", "function": function}):
        (tmp_path / "tools.json").write_text(json.dumps([entry]))
        assert tools_of(tmp_path / "tools.json")[0].name == "add"
    for wrong in ('{"a": 1}', "[{}]", "nonsense"):
        (tmp_path / "tools.json").write_text(wrong)
        with pytest.raises(BadRequest, match="is not a JSON list of tools"):
            tools_of(tmp_path / "tools.json")
