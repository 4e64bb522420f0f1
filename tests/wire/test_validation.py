"""What both dialects share: strictness, ranges, names, limits."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.values.messages import Message, Tool, ToolCall, user
from duologue.values.requests import Sampling
from duologue.wire import validation
from duologue.wire.validation import (
    MEGABYTE,
    MessageFields,
    SamplingFields,
    ToolBody,
    check_counts,
    check_text,
    check_tool_choice,
    decode_json,
    validate,
)


def sampling(**fields: Any) -> Sampling:
    return validate(SamplingFields, fields).sampling()


def test_every_sampling_parameter_reaches_the_request_under_its_own_name() -> None:
    given: dict[str, Any] = {
        "temperature": 0.5, "top_k": 3, "top_p": 0.25, "min_p": 0.125, "typical_p": 0.5, "top_n_sigma": 1.5,
        "repetition_penalty": 1.25, "repetition_window": 64, "presence_penalty": -0.5, "frequency_penalty": -2,
        "length_penalty": 1.5, "dynamic_temperature_range": 0.5, "dynamic_temperature_exponent": 2.0,
        "xtc_probability": 0.5, "xtc_threshold": 0.25, "dry_multiplier": 0.5, "dry_base": 1.75,
        "dry_allowed_length": 2, "dry_penalty_last_n": -1, "dry_sequence_breakers": ["\n"], "mirostat": 2,
        "mirostat_tau": 5.0, "mirostat_eta": 0.5, "samplers": ["top_k", "temperature"], "min_keep": 1, "seed": 7,
        "ignore_eos": True, "logit_bias": {"15": -1.5},
    }  # fmt: skip
    asked = sampling(**given)
    dialects_own = {"max_tokens", "logprobs"}
    assert set(given) | dialects_own == set(Sampling.__struct_fields__)
    for name, value in given.items():
        assert getattr(asked, name) == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(
    ("other", "name", "value"),
    [
        ("typical", "typical_p", 0.5),
        ("repeat_penalty", "repetition_penalty", 1.5),
        ("repeat_last_n", "repetition_window", 8),
        ("penalty_range", "repetition_window", 8),
        ("dynatemp_range", "dynamic_temperature_range", 0.5),
        ("dynatemp_exponent", "dynamic_temperature_exponent", 0.5),
        ("dry_range", "dry_penalty_last_n", 8),
        ("mirostat_mode", "mirostat", 1),
    ],
)
def test_the_other_usual_names_mean_the_same(other: str, name: str, value: float) -> None:
    assert sampling(**{other: value}) == sampling(**{name: value})


def test_what_was_not_asked_or_null_stays_unasked() -> None:
    assert sampling() == sampling(temperature=None, stop=None) == Sampling()
    assert sampling(repetition_penalty=None, repeat_penalty=2).repetition_penalty == 2


def test_of_two_spellings_the_loser_is_reported_as_unknown() -> None:
    body = validate(SamplingFields, {"repetition_penalty": 1, "repeat_penalty": 2, "spice": 1})
    assert body.sampling().repetition_penalty == 1
    assert set(body.unknown("generation.")) == {"generation.repeat_penalty", "generation.spice"}


def test_a_seed_of_minus_one_is_any_seed() -> None:
    assert sampling(seed=-1).seed is None
    assert sampling(seed=-2).seed == -2


def test_zero_is_asked_for_and_not_forgotten() -> None:
    assert sampling(temperature=0, seed=0, top_k=0).asked() == ("temperature", "top_k", "seed")


@pytest.mark.parametrize(
    ("given", "kept"), [("END", ["END"]), (["a", "", "b"], ["a", "b"]), ("", []), (None, None)]
)
def test_stops_are_a_text_or_a_list_and_empty_ones_are_dropped(given: object, kept: list[str] | None) -> None:
    assert validate(SamplingFields, {"stop": given}).stop == kept


@pytest.mark.parametrize("wrong", [3, {"a": 1}, ["a", 3], ["x"] * 17])
def test_other_stops_are_refused(wrong: object) -> None:
    with pytest.raises(BadRequest, match="stop m"):
        validate(SamplingFields, {"stop": wrong})


def test_numbers_must_be_finite_and_typed() -> None:
    for wrong in (float("nan"), float("inf"), "0.5", True, [1]):
        with pytest.raises(BadRequest, match="temperature must be a number from 0 to 100"):
            sampling(temperature=wrong)


def test_a_tool_keeps_its_schema_and_a_schema_must_fit_64_bits() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"city": {"type": "string"}}}
    body = {"type": "function", "function": {"name": "weather", "parameters": schema, "strict": True}}
    assert validate(ToolBody, body).tool() == Tool("weather", "", schema, strict=True)
    body["function"] = {"name": "weather", "parameters": {"maximum": 10**30}}
    with pytest.raises(
        BadRequest, match=r"function\.parameters must not contain whole numbers beyond 64 bits"
    ):
        validate(ToolBody, body)


def test_a_message_carries_calls_and_reasoning_and_a_developer_speaks_as_the_system() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    said = validate(MessageFields, {"role": "assistant", "reasoning": "hm", "tool_calls": [call]}).message(())
    assert (said.reasoning, said.tool_calls) == ("hm", (ToolCall("call_1", "f", '{"a": 1}'),))
    both = {"role": "assistant", "reasoning_content": "a", "reasoning": "a"}
    assert validate(MessageFields, both).message(()).reasoning == "a"
    assert validate(MessageFields, {"role": "developer"}).message(()).role == "system"
    answer = validate(MessageFields, {"role": "tool", "tool_call_id": "call_1"}).message(())
    assert (answer.role, answer.tool_call_id) == ("tool", "call_1")


def test_a_tool_choice_must_be_possible() -> None:
    tools = (Tool("f"),)
    for choice in ("auto", "none", "required", "function:f"):
        check_tool_choice(choice, tools)
    with pytest.raises(BadRequest, match="but tools is empty"):
        check_tool_choice("required", ())
    with pytest.raises(BadRequest, match="names 'g'"):
        check_tool_choice("function:g", tools)
    with pytest.raises(BadRequest) as caught:
        check_tool_choice("function:" + "g" * 2**20, tools)
    assert len(caught.value.message) < 200


def test_limits_name_their_setting() -> None:
    limits = LimitSettings(text_mb=1, tools=2, messages=3)
    check_text([user("x" * 2**20)], [], limits)
    with pytest.raises(
        TooLarge, match=r"1,048,577 bytes of text; at most 1,048,576 .*limits\.text_mb"
    ) as caught:
        check_text([user("ä" * 2**19), user("x")], [], limits)
    assert (caught.value.status, caught.value.param) == (413, "messages")
    check_counts({"tools": [1, 2], "messages": [1, 2, 3]}, limits)
    with pytest.raises(BadRequest, match=r"tools has 3 entries; at most 2 .*limits\.tools"):
        check_counts({"tools": [1, 2, 3]}, limits)
    with pytest.raises(TooLarge, match=r"limits\.messages"):
        check_counts({"messages": [1, 2, 3, 4]}, limits)


@pytest.mark.parametrize(
    ("message", "tool", "param"),
    [
        (Message("assistant", reasoning="x" * 2**20), Tool("f"), "messages"),
        (Message("assistant", tool_calls=(ToolCall("1", "f", "x" * 2**20),)), Tool("f"), "messages"),
        (user("x"), Tool("f", "x" * 2**20), "tools"),
        (user("x"), Tool("f", parameters={"title": "x" * 2**20}), "tools"),
        (user("x" * 2**19), Tool("f", "x" * 2**19), None),
    ],
)
def test_all_that_a_model_would_read_counts_as_text(message: Message, tool: Tool, param: str | None) -> None:
    with pytest.raises(TooLarge) as caught:
        check_text([message, user("y")], [tool], LimitSettings(text_mb=1))
    assert caught.value.param == param


def test_parts_and_calls_count_as_messages_do() -> None:
    limits = LimitSettings(messages=4)
    check_counts({"messages": [{"content": [1, 2]}, {"content": "text"}]}, limits)
    for said in ({"content": [1, 2, 3]}, {"tool_calls": [1, 2, 3]}, {"content": [1, 2], "tool_calls": [1]}):
        with pytest.raises(TooLarge):
            check_counts({"messages": [said, 1]}, limits)


def test_what_is_no_list_is_left_to_the_check_of_types() -> None:
    values: tuple[Any, ...] = (None, 3, "text", {}, [3], [{"content": 3, "tool_calls": "x"}])
    for wrong in values:
        body = {"messages": wrong, "tools": wrong}
        check_counts(body, LimitSettings())
        assert body == {"messages": wrong, "tools": wrong}


def test_biases_are_counted_before_they_are_read() -> None:
    many = dict.fromkeys(map(str, range(300_001)), "wrong")
    with pytest.raises(BadRequest, match="logit_bias may have at most 100,000 entries"):
        sampling(logit_bias=many)


@pytest.mark.parametrize(
    "text", ["", "{", "nope", '{"a": NaN}', '"\\ud800"', b"\xff", "[" * 100_000, '{"a":1} x']
)
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        decode_json(text)
    assert caught.value.code == "invalid_json"


@pytest.mark.parametrize("text", ["[]", "3", '"text"', "null"])
def test_json_must_be_an_object(text: str) -> None:
    with pytest.raises(BadRequest, match="must be a JSON object") as caught:
        decode_json(text)
    assert caught.value.code == "invalid_json"


def test_a_byte_order_mark_is_no_part_of_the_request() -> None:
    assert decode_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "is empty"),
        ("", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ('{"a": "caf\u00e9"}'.encode("latin-1"), "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"a": "cut \\ud83d"}', "half of a surrogate pair"),
        (b'{"a": "\\ude00\\ud83d"}', "half of a surrogate pair"),
        ('{"a": "\\\\\\ud83d"}', "half of a surrogate pair"),
        ('{"a": "\\\\ud83d" x}', "malformed"),
        ('{"a": "\\ud83d\\ude00" x}', "malformed"),
        ('{"a": "\\ud83d\\\\\\ude00"}', "half of a surrogate pair"),
        ('{"a": "' + "a" * (MEGABYTE - 11) + "\\ud83d\\ude00", "truncated"),
        ('{"a": "' + "a" * (MEGABYTE - 11) + "\\ud83d", "half of a surrogate pair"),
        ('{"a": "' + "a" * 2 * MEGABYTE + '\\ude00"}', "half of a surrogate pair"),
        ('{"a": "\\\\ud83d', "truncated"),
    ],
)
def test_the_sentence_says_why_it_is_no_json(text: str | bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why) as caught:
        decode_json(text)
    assert caught.value.code == "invalid_json"


def test_only_a_sentence_that_half_a_pair_may_explain_makes_the_text_be_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validation, "_LONE_SURROGATE", None)
    with pytest.raises(BadRequest, match="malformed"):
        decode_json(b'{"a": "' + b"\\\\" * 1000 + b'\n"}')


def test_of_many_wrong_entries_only_one_becomes_an_error() -> None:
    wrong: list[dict[str, Any]] = [{"1": "a", "2": "b", "3": True}, {"0": 1, "1": None, "2": []}]
    for biases in wrong:
        with pytest.raises(ValidationError) as caught:
            SamplingFields.model_validate({"logit_bias": biases})
        assert [error["loc"] for error in caught.value.errors()] == [("logit_bias", "1")]
    with pytest.raises(BadRequest, match=r"^logit_bias\.1 must be a number"):
        validate(SamplingFields, {"logit_bias": {"0": 1.5, "1": True, "2": 2}})
    right = {"1": 1, "2": -1.5}
    assert validate(SamplingFields, {"logit_bias": right}).logit_bias == right


def test_deep_nesting_is_refused_not_crashed_upon() -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    with pytest.raises(BadRequest):
        validate(ToolBody, {"function": {"name": "f", "parameters": deep, "x": deep}, "type": "no"})
    with pytest.raises(BadRequest, match=r"^function\.parameters\.a is too deeply nested\.$"):
        validate(ToolBody, {"function": {"name": "f", "parameters": deep}})


def test_a_tool_that_names_no_parameters_takes_none() -> None:
    tool = validate(ToolBody, {"type": "function", "function": {"name": "f"}}).tool()
    assert tool.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    anything = validate(ToolBody, {"type": "function", "function": {"name": "f", "parameters": {}}}).tool()
    assert anything.parameters == {}


def test_a_tool_with_an_unknown_type_is_refused_with_its_place() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "frog"}}}
    with pytest.raises(
        BadRequest, match=r"parameters has the type 'frog' at properties\.a; types are object,"
    ) as error:
        validate(ToolBody, {"type": "function", "function": {"name": "f", "parameters": parameters}})
    assert error.value.param == "function.parameters"


@pytest.mark.parametrize(
    ("field", "value", "instead"),
    [
        ("min_tokens", 5, "ignore_eos"),
        ("stop_token_ids", [1], "as stop"),
        ("banned_strings", ["a"], "banned_tokens"),
        ("bad_words", ["a"], "banned_tokens"),
        ("allowed_token_ids", [1, 2], "guided_choice"),
        ("allowed_tools", ["f"], "tool_choice"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_what_to_do(field: str, value: object, instead: str) -> None:
    with pytest.raises(BadRequest, match=f"{field} cannot be kept by this server; .*{instead}") as error:
        validate(SamplingFields, {field: value})
    assert error.value.param == field
    nothings: tuple[object, ...] = (None, 0, [], "")
    for nothing in nothings:
        validate(SamplingFields, {field: nothing})


def test_every_number_of_sampling_has_bounds() -> None:
    for name, field in SamplingFields.model_fields.items():
        if not {int, float} & set(get_args(field.annotation)):
            continue
        for wrong in (10**15, -(10**15)):
            if name != "seed":
                with pytest.raises(BadRequest, match=f"{name} must be") as error:
                    validate(SamplingFields, {name: wrong})
                assert error.value.param == name


def test_a_repetition_penalty_of_zero_names_itself() -> None:
    for name in ("repetition_penalty", "repeat_penalty"):
        with pytest.raises(BadRequest, match=f"{name} must be a number from 0.01 to 100") as error:
            validate(SamplingFields, {name: 0})
        assert error.value.param == name


def test_a_bias_has_a_token_or_a_text_and_bounds() -> None:
    assert validate(SamplingFields, {"logit_bias": {"5": -100, "yes": 1, "a-1": 2}}).logit_bias
    for key in ("-1", "+5", "1.5", " 7"):
        with pytest.raises(BadRequest, match="logit_bias has the key") as error:
            validate(SamplingFields, {"logit_bias": {key: 1}})
        assert error.value.param == "logit_bias"
    with pytest.raises(BadRequest, match="logit_bias must have biases from -10,000 to 10,000"):
        validate(SamplingFields, {"logit_bias": {"5": 1e300}})
