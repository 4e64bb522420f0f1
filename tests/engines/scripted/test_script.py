"""Scripts: what a message says that its reply plays."""

import pytest

from duologue.engines.scripted.script import (
    ScriptStep,
    format_of,
    opening_of,
    parse_script,
    remaining,
    turn_of,
)
from duologue.errors import BadRequest
from duologue.text.output.reply_format import named_format


def test_a_message_without_steps_is_echoed():
    assert parse_script("hello\nyou") == [ScriptStep("say", text="You said: hello\nyou")]


def test_steps_are_read_in_order_and_other_lines_are_not_steps():
    assert parse_script("please\n/pace 5\n/say a\\nb \n/repeat 2 x y") == [
        ScriptStep("pace", 5),
        ScriptStep("say", text="a\nb "),
        ScriptStep("repeat", 2, "x y"),
    ]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one ", "/pace 1\n/say two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one two", "/pace 1\n/wait 5\n/repeat 2 ab"),
        ("one twoa", "/pace 1\n/say bab"),
        ("one twoabab", "/pace 1"),
        ("something else", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one twoabab and more", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
    ],
)
def test_a_continued_reply_plays_what_it_has_not_said(said, left):
    steps = parse_script("/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab")
    assert remaining(steps, said) == parse_script(left)


def test_the_empty_thought_of_a_template_is_nothing_that_was_said() -> None:
    steps = parse_script("/fail 1\n/say <think>one</think>two")
    assert remaining(steps, "<think>\n\n</think>\n\n") == steps
    assert remaining(parse_script("/say one two"), "<think>\n\n</think>\n\none ") == parse_script("/say two")


@pytest.mark.parametrize("said", ["<think>one ", "<think>one two", "<think>something else"])
def test_a_thought_that_was_ended_early_is_behind_the_reply(said):
    steps = parse_script("/pace 1\n/say <think>one two </think>three four\n/length")
    assert remaining(steps, said + "\n</think>\n\n") == parse_script("/pace 1\n/say three four\n/length")
    assert remaining(steps, said + "\n</think>\n\nthree ") == parse_script("/pace 1\n/say four\n/length")
    assert remaining(parse_script("/say one"), said + "</think>") == parse_script("/say one")


@pytest.mark.parametrize(("turns", "part"), [(0, "/say one\n"), (1, "/say two"), (7, "/say two")])
def test_a_reply_of_several_turns_plays_the_part_of_each(turns: int, part: str):
    assert turn_of("/say one\n/then\n/say two", turns) == part
    assert turn_of("/say always", turns) == "/say always"


def test_raw_pieces_are_json_so_that_nothing_in_them_is_read():
    [step] = parse_script(r'/raw ["\u003c|im_end|>", "/say x\n", "\\n "]')
    assert step.words == ("<|im_end|>", "/say x\n", "\\n ")
    assert parse_script('/raw "whole text"')[0].words == ("whole text",)


@pytest.mark.parametrize("line", ["/raw", "/raw text", '/raw ["a", 1]'])
def test_pieces_that_are_no_json_texts_are_refused_with_an_example(line):
    with pytest.raises(BadRequest, match=r"/raw takes a JSON text"):
        parse_script(line)


def test_an_opening_that_is_no_json_text_is_refused():
    with pytest.raises(BadRequest, match=r"/open takes a JSON text"):
        opening_of("/open <think>")


def test_raw_pieces_are_continued_within_a_piece():
    steps = parse_script('/raw ["ab", "cd", "ef"]\n/length')
    assert remaining(steps, "abc") == parse_script('/raw ["d", "ef"]\n/length')
    thought = parse_script('/raw ["[THI", "NK]hm[/THINK]a", "b"]')
    assert remaining(thought, "[THINK]\n[/THINK]", "[THINK]", "[/THINK]") == thought
    assert remaining(thought, "[THINK]h[/THINK]a", "[THINK]", "[/THINK]") == parse_script('/raw ["b"]')


def test_a_format_is_named_with_or_without_its_markers_of_thoughts():
    assert format_of("/say a") is None
    assert format_of("/say a\n/format openai\n") == named_format("harmony")
    assert format_of("/format mistral [THINK]") == named_format("mistral", "[THINK]")
    assert format_of("/format none none") == named_format("", "")
    assert format_of("/format none Here is my thought process:") == named_format(
        "", "Here is my thought process:"
    )


@pytest.mark.parametrize("line", ["/format klingon", "/format hermes <ponder>"])
def test_an_unknown_format_or_marker_is_refused(line):
    with pytest.raises(BadRequest):
        format_of(line)


def test_only_a_message_with_an_opening_has_one():
    assert (opening_of("/say x"), opening_of('/open ">>>"\n/say x')) == ("", ">>>")


@pytest.mark.parametrize("step", ["/repeat x y", "/wait inf", "/pace nan", "/wait -1", "/repeat 1e99 x"])
def test_a_number_that_is_none_is_refused_with_the_step_that_wants_it(step):
    with pytest.raises(BadRequest, match=step.split()[0]):
        parse_script(step)
