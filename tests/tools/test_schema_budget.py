from typing import Any

from duologue.tools.schema_budget import Candidate, compact, estimate_tokens, fit, shorten
from duologue.tools.values import OfferedTool


def server(name, tokens, used=0, tools=("b", "a")):
    return Candidate(name, tuple(OfferedTool(f"{name}_{tool}", name, tool) for tool in tools), tokens, used)


def names(tools):
    return [tool.name for tool in tools]


def test_everything_is_offered_where_there_is_room():
    tools, out = fit([server("web", 100), server("files", 100)], 200)
    assert names(tools) == ["files_a", "files_b", "web_a", "web_b"]
    assert out == ()


def test_without_a_limit_nothing_is_left_out():
    assert fit([server("web", 10**9)], None)[1] == ()


def test_the_server_used_longest_ago_is_left_out_and_says_why():
    tools, out = fit([server("old", 100, used=1), server("new", 100, used=2)], 150)
    assert names(tools) == ["new_a", "new_b"]
    assert [one.server for one in out] == ["old"]
    assert "2 tools" in out[0].reason
    assert "150" in out[0].reason


def test_a_server_is_in_with_all_its_tools_or_not_at_all():
    tools, _ = fit([server("large", 140), server("small", 20)], 100)
    assert names(tools) == ["small_a", "small_b"]


def test_the_built_in_tools_go_in_first_and_stand_first():
    tools, out = fit([server("a", 90, used=9), server("builtin", 50)], 100)
    assert names(tools) == ["builtin_a", "builtin_b"]
    assert [one.server for one in out] == ["a"]


def test_the_order_of_tools_does_not_follow_their_use():
    first, _ = fit([server("a", 1, used=1), server("b", 1, used=2)], 100)
    second, _ = fit([server("a", 1, used=3), server("b", 1, used=2)], 100)
    assert first == second


def test_a_schema_loses_what_says_nothing_about_arguments():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Arguments",
        "type": "object",
        "properties": {
            "title": {"type": "string", "title": "Title", "default": "x", "description": "What it is called"},
            "kind": {"enum": ["a", "b"], "examples": ["a"]},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    assert compact(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What it is called"},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["title"],
    }


def test_a_parameter_may_be_called_like_a_word_of_the_schema():
    schema = {"type": "object", "properties": {"default": {"type": "string"}, "examples": {"type": "array"}}}
    shortened: Any = compact(schema)
    assert set(shortened["properties"]) == {"default", "examples"}


def test_a_map_of_anything_keeps_what_its_values_are():
    schema = {"type": "object", "properties": {"env": {"additionalProperties": {"type": "string"}}}}
    shortened: Any = compact(schema)
    assert shortened["properties"]["env"] == {"additionalProperties": {"type": "string"}}


def test_a_schema_that_never_ends_is_cut():
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"more": deep}}
    assert str(compact(deep)).count("more") < 20


def test_a_schema_that_is_none_takes_no_arguments():
    assert compact({}) == {"type": "object", "properties": {}}
    assert compact({"type": "string"}) == {"type": "object", "properties": {}}


def test_long_descriptions_end_at_a_sentence_or_word():
    text = "First sentence is quite long. " * 20
    assert shorten(text, 100).endswith("long.")
    assert shorten("word " * 100, 50).endswith("word…")
    assert shorten("short  and\nsweet", 50) == "short and sweet"


def test_more_tools_are_estimated_to_take_more():
    one = OfferedTool("a", "s", "a", description="x" * 350)
    assert 80 < estimate_tokens([one]) < 200
    assert estimate_tokens([one, one]) > 1.9 * estimate_tokens([one])
