"""The table of tool-call formats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from duologue.errors import BadRequest
from duologue.text.toolcalls.catalogue import ALIASES, TOOL_FORMATS, guess_tool_format, tool_format
from duologue.text.toolcalls.format_models import MODELS

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "tool-formats.md"


@pytest.mark.parametrize("name", sorted(TOOL_FORMATS))
def test_every_name_of_the_table_is_a_format(name: str) -> None:
    found = tool_format(name)
    assert found.starts or found.line_starts
    assert not any(marker[0] in "`~\n" for marker in (*found.starts, *found.ends))


def test_the_documentation_lists_every_format_with_its_models_and_other_names() -> None:
    table = DOCUMENTATION.read_text().partition("## The formats")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert rows.keys() == TOOL_FORMATS.keys() == MODELS.keys()
    for name, entry in TOOL_FORMATS.items():
        models, _, others = rows[name].replace("\\|", "\0").partition(" |")
        assert models.replace("\0", "|").replace("`", "") == MODELS[name]
        assert tuple(re.findall(r"`([^`]+)`", others)) == entry.aliases


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadRequest, match=r"'klingon'.*hermes, .*qwen3_xml") as caught:
        tool_format("klingon")
    assert caught.value.code == "unknown_tool_format"


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("kimi_k2", "<|tool_call_argument_begin|>"),
        ("deepseek_v31", "<｜tool▁sep｜>"),
        ("mistral", "[ARGS]"),
        ("internlm", "<|plugin|>"),
        ("step3", "<｜tool_sep｜>"),
        ("functiongemma", "<escape>"),
        ("gemma4", '<|"|>'),
        ("glm45", "<arg_key>"),
        ("harmony", "<|constrain|>"),
    ],
)
def test_control_tokens_within_a_call_are_generated_as_text(name: str, token: str) -> None:
    assert token in tool_format(name).preserved


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ('<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>', "hermes"),
        ("<tool_call>\n<function=f>\n<parameter=example_parameter_1>value_1</parameter>", "mimo"),
        ("<tool_call>\n<function=example>\n<parameter=a>\narguments", "qwen3_xml"),
        (
            "<|start_of_role|>tools respond with <|tool_call|> followed by a JSON list of tools used",
            "granite",
        ),
        ("<|start_of_role|> <tool_call>\n{{ arguments }}\n</tool_call>", "hermes"),
        ("<|function_call_library|> '<function_call> ' + {'name': 1, 'arguments': 2}|tojson", "granite_20b"),
        ('<|system|> formatted as functools[{"name": [function name]}]', "phi4_mini"),
        ("<|bom|><|assistant|> <tool_calls>[", "jamba"),
        ('<beginning_of_sentence>ai <tool_calls>\n{"name": <tool-name>, "arguments": 1}', "minimax_m1"),
        ('<tool_calls>[{"name": "func_name1", "arguments": {}},...]</tool_calls>', "hunyuan_a13b"),
        ('<TOOLCALL>[{"name": "tool_name1", "arguments": "tool_args1"}]</TOOLCALL>', "nemotron_nano"),
        ("<|im_start|>system name=<|plugin|>\n <|action_start|><|plugin|>\n", "internlm"),
        ("<global_setting>\nthink_mode=True\n</global_setting> <tool_call> arguments", "ernie45"),
        ('<longcat_tool_call>\n{"name": <function-name>}\n</longcat_tool_call>', "longcat"),
        ("{%- set tool_calls_token = '<|tools_prefix|>' -%}", "apertus"),
        ('<|START_ACTION|>[\n {"tool_call_id": 0, "tool_name": 1, "parameters": 2}', "command"),
        ("'role': 'function call', role_sep=\"<|role_sep|>\\n\"", "gigachat3"),
        ("'function call' <|role_sep|> '<｜GCML｜tool_calls>\n'", "gigachat35"),
        ('ipython [{"name": "tool_call_name", "arguments": {"arg1": "value1"}}, ...', "xlam"),
        ('"[TOOL_CALLS] [" [TOOL_RESULTS] , "id": "', "mistral_array"),
        ('{{- \'"parameters": \' }} message.role == "ipython" <|python_tag|>', "llama3_json"),
        ("<seed:tool_call>\n<function=f>\n<parameter=a>", "seed_oss"),
        ("{% set start = '<minimax:tool_call>' %} <invoke name=", "minimax_m2"),
        ("{% set mark = ']<]minimax[>[' %} mark + '<tool_call>' arguments <minimax:tool_call>", "minimax_m3"),
        ("<｜DSML｜function_calls>\n<｜DSML｜invoke name=", "deepseek_v32"),
        (
            "{% set dsml = '｜DSML｜' %} message.tool_calls '<' + dsml + 'tool_calls>' <' + dsml + 'invoke",
            "deepseek_v4",
        ),
        (
            "{% set dsml = '｜DSML｜' %} message.tool_calls dsml + ' calls>' dsml + ' invoke name='",
            "deepseek_v41",
        ),
        ("function<｜tool_sep｜><steptml:invoke name=", "step3"),
        ("<dots_function_call>\n<invoke name=", "dots"),
        ("'<function name=\"' ~ name ~ '\">' '<param name=\"' ~ key", "minicpm5"),
        ("<tool_call>{name}\n<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value> arguments", "glm45"),
        ("<tool_call>{name}<arg_key>{key}</arg_key><arg_value>{value}</arg_value> arguments", "glm47"),
        ("'<role>ASSISTANT</role>' <tool_call>{name}\n<arg_key>{key}</arg_key>\n<arg_value>{value}", "ling3"),
        ("<longcat_tool_call>{name}\n<longcat_arg_key>{key}</longcat_arg_key>", "longcat_keys"),
        ("<iquest_tool_call>{name}<arg_key>{key}</arg_key><arg_value>{value}", "iquest"),
        (
            "'<tool_calls{}>'.format(tail) '<tool_sep{}>'.format(tail) '<arg_key{}>'.format(tail)",
            "hunyuan_hy3",
        ),
        (
            "'<tool_calls{}>'.format(tail) '<tool_call{}>'.format(tail) '<arg_key{}>'.format(tail)",
            "hunyuan_hy4",
        ),
        ("{%- set toolsep_token = '<tool_sep>' %} '<tool_calls>' '<tool_call>' '<arg_key>'", "hunyuan_hy3"),
        ("<ifm|tool_calls>\n<ifm|tool_call>{name}\n<ifm|arg_key>", "k2_horizon"),
        (
            "<|start|>assistant<|channel|>commentary to=functions.{{ name }} <|constrain|>json<|message|>",
            "harmony",
        ),
        ("{{- '<|open|>' + tag }} '<|sep|>' '<|close|>' + tag + '<|sep|>'", "kimi_k3"),
        ('{{- "<|message_model|>" ~ fn.name ~ "<|content_invoke_tool_json|>" -}}', "inkling"),
        ("'<|start|>assistant to=' + name + '<|message|>' <atem:function_calls>", "muse_glimmer"),
        ("{{- '[TOOL_CALLS]' + tool['function']['name'] + '[ARGS]' + arguments }}", "mistral"),
        ("<|tool_call_begin|>{{ formatted_id }}<|tool_call_argument_begin|>{{ arguments }}", "kimi_k2"),
        (
            "'<｜tool▁call▁begin｜>' + tool['type'] + '<｜tool▁sep｜>' + name + '\\n' + '```json' + '\\n' + arguments",
            "deepseek_v3",
        ),
        (
            "'<｜tool▁call▁begin｜>' + name + '<｜tool▁sep｜>' + arguments + '<｜tool▁call▁end｜>'",
            "deepseek_v31",
        ),
        ("{{ '<function=' + name + '>' + arguments + '</function>' }}", "functionary_v31"),
        ("{{ '>>>all\\n' + message['content'] }}{{ '>>>' + name + '\\n' + arguments }}", "functionary_v32"),
        ("{{- '<|tool_call>call:' + function['name'] + '{' -}} {{- '}<tool_call|>' -}}", "gemma4"),
        (
            "<start_function_call>call:{{ name }}{a:<escape>{{ value }}<escape>}<end_function_call>",
            "functiongemma",
        ),
        ("<|im_start|>system\\nList of tools: {{ tools }}", "lfm2"),
        ('List of tools: <|tool_list_start|>[{{ tools }} {{- "<|im_start|>" + message["role"] }}', "lfm2"),
        ("wrapped in <function_calls></function_calls> XML tags {{ tool_call.name + '(' }}", "olmo3"),
        ("<|header_start|>system<|header_end|> exact format: [func_name1(param1=value1)]", "llama4_pythonic"),
        ("<|start_header_id|>system Respond in the format [func_name1(params_name1=value)]", "pythonic"),
        ("{{ messages }}", ""),
        ("", ""),
    ],
)
def test_a_format_is_recognised_by_what_the_template_writes(template: str, name: str) -> None:
    assert guess_tool_format(template) == name


def test_an_alias_names_one_format_and_hides_none() -> None:
    aliases = [alias for entry in TOOL_FORMATS.values() for alias in entry.aliases]
    assert len(set(aliases)) == len(aliases)
    assert not set(aliases) & set(TOOL_FORMATS)
    assert all(tool_format(alias) is tool_format(ALIASES[alias]) for alias in aliases)
