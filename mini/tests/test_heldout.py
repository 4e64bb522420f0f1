"""The hand-written cases: every case is fair and can be passed, and the judge is neither too strict nor too lenient."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from duologue_mini.evaluation.heldout import (
    SKILLS,
    Answer,
    Case,
    Reply,
    ToolCall,
    final_number,
    judge,
    load,
    sentences,
    verify,
)

CASES = load()


def each(skill: str = "") -> list[Any]:
    return [pytest.param(case, id=case.id) for case in CASES if skill in ("", case.skill)]


def judged(check: Mapping[str, Any], text: str = "", *calls: ToolCall, after: str | None = None) -> bool:
    """Whether a reply passes a check, as the only answer to a case of one turn."""
    verify(check)
    case = Case(id="x", skill="sums", turns=("?",), check=check)
    answer = Answer(Reply(text, calls), None if after is None else Reply(after))
    return not judge(case, [answer])


# --- the file


def test_every_skill_has_its_share_of_cases() -> None:
    counts = Counter(case.skill for case in CASES)
    assert {skill: counts[skill] for skill, least in SKILLS.items() if counts[skill] < least} == {}
    assert len(CASES) >= 330


def test_ids_are_unique_and_begin_with_the_skill() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    assert [case.id for case in CASES if not case.id.startswith(case.skill + "-")] == []


def test_no_two_cases_have_the_same_text() -> None:
    text = Counter(
        (case.turns, case.system, tuple(tool["function"]["name"] for tool in case.tools)) for case in CASES
    )
    assert [key for key, times in text.items() if times > 1] == []


def test_the_longest_memory_reaches_back_ten_turns() -> None:
    lengths = {len(case.turns) for case in CASES if case.skill == "recall"}
    assert max(lengths) == 11
    assert len(lengths) >= 5


def test_thinking_is_on_in_some_sums_and_off_in_others() -> None:
    thinking = Counter(case.thinking for case in CASES if case.skill == "sums")
    assert min(thinking[True], thinking[False]) >= 5


def test_there_are_cases_of_one_tool_and_of_sixteen() -> None:
    counts = {len(case.tools) for case in CASES if case.skill == "tools"}
    assert min(counts) == 1
    assert max(counts) == 16
    assert len(counts) >= 5


@pytest.mark.parametrize("case", each())
def test_an_empty_reply_and_a_stray_call_pass_nowhere(case: Case) -> None:
    assert judge(case, [Answer(Reply())] * len(case.turns))
    stray = Answer(Reply(calls=(ToolCall("no_such_tool", {}),)))
    assert judge(case, [stray] * len(case.turns))


@pytest.mark.parametrize("case", [case for case in each() if case.values[0].skill != "scope"])
def test_nonsense_passes_nowhere_and_a_refusal_only_out_of_scope(case: Case) -> None:
    assert judge(case, [Answer(Reply("Lorem ipsum dolor."))] * len(case.turns))
    if not case.check.get("declines"):
        declining = Answer(Reply("I am sorry, that is beyond me."))
        assert judge(case, [declining] * len(case.turns))


@pytest.mark.parametrize("case", each("scope"))
def test_an_honest_reply_passes_every_case_that_is_out_of_scope(case: Case) -> None:
    for text in (
        "I am sorry, that is beyond me.",
        "That's more than a small model can do. `duologue setup` helps you find a larger one.",
        "I don’t know that, and I would rather not make something up.",
    ):
        assert judge(case, [Answer(Reply(text))] * len(case.turns)) == []


# --- the tools of the file


def wanted_calls(case: Case) -> list[Mapping[str, Any]]:
    return [*case.check.get("calls", ()), *([case.check["call"]] if "call" in case.check else [])]


def first_choice(expected: Any) -> Any:
    """A value that a check accepts."""
    if isinstance(expected, Mapping):
        if set(expected) == {"$any"}:
            return first_choice(expected["$any"][0])
        return {name: first_choice(value) for name, value in expected.items()}
    return [first_choice(value) for value in expected] if isinstance(expected, list) else expected


def misfits(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Where a value violates the subset of JSON Schema that the tools use."""
    types: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "array": (list,),
        "object": (dict,),
    }
    kind = schema["type"]
    if not isinstance(value, types[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{path} is no {kind}: {value!r}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path} is none of {schema['enum']}: {value!r}"
    elif kind == "array":
        for place, item in enumerate(value):
            yield from misfits(schema["items"], item, f"{path}[{place}]")
    elif kind == "object":
        properties = schema["properties"]
        if missing := set(schema.get("required", ())) - set(value):
            yield f"{path} lacks {sorted(missing)}"
        if unknown := set(value) - set(properties):
            yield f"{path} has {sorted(unknown)} too many"
        for name in set(value) & set(properties):
            yield from misfits(properties[name], value[name], f"{path}.{name}")


def free_texts(schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    """The texts in arguments outside enums, which must be copied from the conversation."""
    if schema["type"] == "string" and "enum" not in schema:
        yield value
    elif schema["type"] == "array":
        for item in value:
            yield from free_texts(schema["items"], item)
    elif schema["type"] == "object":
        for name, item in value.items():
            yield from free_texts(schema["properties"][name], item)


def with_tools() -> list[Any]:
    return [param for param in each() if param.values[0].tools]


@pytest.mark.parametrize("case", with_tools())
def test_tools_have_the_shape_of_function_tools(case: Case) -> None:
    names = [tool["function"]["name"] for tool in case.tools]
    assert len(set(names)) == len(names) <= 16
    for tool in case.tools:
        assert set(tool) == {"type", "function"}
        assert tool["type"] == "function"
        function = tool["function"]
        assert re.fullmatch(r"[A-Za-z][\w.-]*", function["name"])
        assert function["description"].strip()
        assert function["parameters"]["type"] == "object"
        assert set(function["parameters"]["required"]) <= set(function["parameters"]["properties"])
    assert set(case.results) <= set(names)


@pytest.mark.parametrize("case", with_tools())
def test_expected_calls_fit_their_tool_and_copy_the_conversation(case: Case) -> None:
    parameters = {tool["function"]["name"]: tool["function"]["parameters"] for tool in case.tools}
    said = " ".join(case.turns).casefold()
    for call in wanted_calls(case):
        arguments = first_choice(call["arguments"])
        assert list(misfits(parameters[call["name"]], arguments, call["name"])) == []
        strangers = [
            text for text in free_texts(parameters[call["name"]], arguments) if text.casefold() not in said
        ]
        assert strangers == []
    if "after_call" in case.check:
        assert wanted_calls(case)
        assert {call["name"] for call in wanted_calls(case)} <= set(case.results)


@pytest.mark.parametrize("case", with_tools())
def test_the_expected_call_passes_and_another_does_not(case: Case) -> None:
    expected = wanted_calls(case)
    if not expected:
        return
    check = {name: value for name, value in case.check.items() if name in ("call", "calls")}
    calls = [ToolCall(call["name"], first_choice(call["arguments"])) for call in expected]
    assert judged(check, "", *reversed(calls))
    assert not judged(check, "", *calls, calls[0])
    assert not judged(check, "", *calls[:-1], ToolCall(calls[-1].name, {**calls[-1].arguments, "extra": 1}))
    assert not judged(check, "I have done that.")


# --- loading


def line_of(**changes: Any) -> str:
    return json.dumps({"id": "sums-1", "skill": "sums", "turns": ["1+1"], "check": {"number": 2}} | changes)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2"),
        (line_of(skill="dancing"), "unknown skill"),
        (line_of(turn="hello"), "unknown fields"),
        (line_of(turns=[]), "turns"),
        (line_of(check={}), "needs conditions"),
        (line_of(check={"some": ["x"]}), "unknown conditions"),
        (line_of(check={"any": "x"}), "list of patterns"),
        (line_of(check={"any": ["("]}), "line 2"),
        (line_of(check={"language": "nl"}), "unknown language"),
        (line_of(check={"number": 2, "after_call": {"none": ["["]}}), "line 2"),
        (line_of(judge="first"), "judge"),
    ],
)
def test_an_invalid_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{line_of()}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        load(path)


def test_omitted_fields_have_defaults(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(line_of(), encoding="utf-8")
    [case] = load(path)
    assert (case.system, case.tools, case.thinking, case.judge_all) == (None, (), False, False)


# --- judging


def test_the_last_answer_is_judged_or_all_of_them() -> None:
    check = {"any": ["chief"]}
    answers = [Answer(Reply("Hello.")), Answer(Reply("25, chief."))]
    last = Case(id="x", skill="system", turns=("a", "b"), check=check)
    every = Case(id="x", skill="system", turns=("a", "b"), check=check, judge_all=True)
    assert judge(last, answers) == []
    assert judge(every, answers) == ['any ["chief"]: not met by "Hello."']
    assert judge(last, answers[:1]) == ["1 answers to 2 turns"]


def test_patterns_ignore_case_curly_quotes_and_marks() -> None:
    assert judged({"any": ["--port", "nothing"]}, "Use `--PORT 9000`.")
    assert judged({"all": ["don't", "first.*second"]}, "Don’t: **first**\nthen second")
    assert not judged({"all": ["first", "third"]}, "first, second")
    assert not judged({"none": ["paris"]}, "It is PARIS.")
    assert judged({"any": ["(?-i:HELLO)"]}, "HELLO!")
    assert not judged({"any": ["(?-i:HELLO)"]}, "Hello!")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("17 + 25 = 42", 42),
        ("The answer is **1,000**.", 1000),
        ("7, 45, 120", 120),
        ("5 - 9 = -4", -4),
        ("5 − 9 = −4", -4),
        ("5 minus 9 is minus 4.", -4),
        ("It is negative 4", -4),
        ("90 - 38", 38),
        ("90-38", 38),
        ("2.5", 2.5),
        ("Fifty-two.", 52),
        ("seven times eight is fifty six", 56),
        ("That makes two hundred and six!", 206),
        ("one hundred and thirty-two apples", 132),
        ("a thousand and one: one thousand", 1000),
        ("five and nine", 9),
        ("It is minus four.", -4),
        ("ninety minus three", 3),
        ("No idea.", None),
    ],
)
def test_the_last_number_counts(text: str, number: float | None) -> None:
    assert final_number(text) == number
    assert judged({"number": 42}, text) is (number == 42)


def test_exact_ignores_case_space_quotes_and_a_period() -> None:
    assert judged({"exact": "purple ducks"}, ' "Purple ducks." ')
    assert judged({"exact": ["one", "two"]}, "Two")
    assert not judged({"exact": "purple ducks"}, "You said: purple ducks")


def test_arguments_are_compared_as_json() -> None:
    check = {"call": {"name": "f", "arguments": {"a": 3, "b": {"$any": ["x", "y"]}, "c": [True, {"d": 1.5}]}}}
    good = {"a": 3.0, "b": "y", "c": [True, {"d": 1.5}]}
    assert judged(check, "", ToolCall("f", good))
    for wrong in ({"a": "3"}, {"b": "z"}, {"b": ["x", "y"]}, {"c": [1, {"d": 1.5}]}, {"c": [True]}, {"e": 1}):
        assert not judged(check, "", ToolCall("f", good | wrong))
    assert not judged(check, "", ToolCall("g", good))
    assert not judged(check, "", ToolCall("f", {name: good[name] for name in "ab"}))
    assert not judged(check, "", ToolCall("f", None))
    assert judged({"call": {"name": "f", "arguments": {"$any": [{}, {"n": 1}]}}}, "", ToolCall("f", {"n": 1}))
    assert not judged({"call": {"name": "f", "arguments": {"n": 1}}}, "", ToolCall("f", {"n": True}))


def test_two_calls_match_in_any_order_and_only_both() -> None:
    check = {"calls": [{"name": "f", "arguments": {"n": 1}}, {"name": "f", "arguments": {"n": 2}}]}
    one, two = ToolCall("f", {"n": 1}), ToolCall("f", {"n": 2})
    assert judged(check, "", two, one)
    assert not judged(check, "", one)
    assert not judged(check, "", one, one)
    assert not judged(check, "", one, two, two)


def test_the_answer_after_a_result_has_a_check_of_its_own() -> None:
    check = {"call": {"name": "f", "arguments": {}}, "after_call": {"any": ["14:05"]}}
    assert judged(check, "", ToolCall("f", {}), after="It is 14:05.")
    assert not judged(check, "", ToolCall("f", {}), after="It is late.")
    assert not judged(check, "", ToolCall("f", {}))
    assert not judged(check, "It is 14:05.", after="It is 14:05.")


def test_asking_back_ends_in_a_question_and_calls_nothing() -> None:
    assert judged({"asks": True}, "Which city?")
    assert judged({"asks": True}, 'Sure! "Which city?" 🙂')
    assert not judged({"asks": True}, "Which city? Tell me.")
    assert not judged({"asks": True}, "Which city?", ToolCall("f", {}))
    assert judged({"no_call": True}, "Hello.")
    assert not judged({"no_call": True}, "Hello.", ToolCall("f", {}))


@pytest.mark.parametrize(
    "text",
    [
        "I don’t know.",
        "I cannot do that.",
        "That is over my head.",
        "Such large numbers are too much for me.",
        "I have no access to the news.",
        "A larger model can help: `duologue setup` shows how.",
        "I'm only a small model.",
        "Please ask a doctor.",
        "Unfortunately, no.",
        "I know nothing about the world outside.",
        "I would have to make it up.",
        "Medicine is outside what I can talk about.",
        "No idea, honestly.",
    ],
)
def test_there_are_many_ways_to_decline(text: str) -> None:
    assert judged({"declines": True}, text)
    assert not judged({"declines": True}, text, ToolCall("f", {}))


@pytest.mark.parametrize("text", ["The capital is Ulaanbaatar.", "Sure! Here you go.", "It is 42.", "Hello!"])
def test_an_answer_does_not_count_as_declining(text: str) -> None:
    assert not judged({"declines": True}, text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Hello", 1),
        ("One. Two! Three?", 3),
        ("It costs 2.5 euros, e.g. here.", 1),
        ("a\nb", 2),
        ("Well... yes.", 2),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert sentences(text) == count
    assert judged({"sentences": count}, text)
    assert not judged({"sentences": count - 1}, text)


def test_words_lie_between_two_counts() -> None:
    assert judged({"words": [2, 3]}, "twenty-one, don't")
    assert not judged({"words": [2, 3]}, "one")
    assert not judged({"words": [2, 3]}, "one two three four")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Mir geht es gut, danke! Und dir?"),
        ("de", "Ich heiße Fips."),
        ("fr", "Bonjour ! Je suis duologue-mini."),
        ("es", "Buenas tardes, estoy muy bien, gracias."),
        ("it", "Ciao! Sono un piccolo modello."),
    ],
)
def test_a_language_is_recognised_by_its_stop_words(language: str, text: str) -> None:
    assert judged({"language": language}, text)
    assert [other for other in ("de", "fr", "es", "it") if judged({"language": other}, text)] == [language]
    assert not judged({"language": language}, "Hello! I am fine, thank you. How can I help you?")
    assert not judged({"language": language}, "No.")


@pytest.mark.parametrize("text", ["That is forty-two.", "Hello, yes! I'm here; and you?", "Well … I can’t."])
def test_plain_sentences_can_be_spoken(text: str) -> None:
    assert judged({"spoken": True}, text)


@pytest.mark.parametrize(
    "text",
    [
        "It is 42.",
        "- cat\n- dog",
        "**Hello**",
        "Use `make`.",
        "five + six",
        "Good night 🌙",
        "a/b",
        "20 €",
        "",
    ],
)
def test_signs_digits_and_lists_cannot_be_spoken(text: str) -> None:
    assert not judged({"spoken": True}, text)
