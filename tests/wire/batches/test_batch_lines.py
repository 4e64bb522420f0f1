"""The lines of a batch: what a request needs, and how an answer is written."""

import json

import msgspec
import pytest

from duologue.values.batches.stored_batch import BatchUsage
from duologue.wire.batches import batch_lines
from duologue.wire.batches.batch_lines import (
    MOST_ERRORS,
    InputCheck,
    answered,
    known_result,
    line_key,
    request_line,
    tokens_of,
    unanswerable,
    unanswered,
)

URL = "/v1/chat/completions"


def line(custom_id: object = "a", **changes: object) -> bytes:
    fields = {"custom_id": custom_id, "method": "POST", "url": URL, "body": {"model": "mini"}}
    return json.dumps(fields | changes).encode()


def checked(*lines: bytes | None, most: int = 100) -> InputCheck:
    check = InputCheck(URL, most)
    for number, data in enumerate(lines, start=1):
        check.add(number, data, 8)
    check.finish()
    return check


def test_good_lines_are_counted_and_the_first_names_the_model():
    check = checked(line("a"), line("b", body={"model": "other"}))
    assert (check.total, check.model, check.errors) == (2, "mini", [])


@pytest.mark.parametrize(
    ("data", "code", "param"),
    [
        (b"{", "invalid_json_line", None),
        (b"[1]", "invalid_json_line", None),
        (b"\xff\xfe", "invalid_json_line", None),
        (b"[" * 5000, "invalid_json_line", None),
        (line(5), "invalid_custom_id", "custom_id"),
        (line(""), "invalid_custom_id", "custom_id"),
        (line("x" * 600), "invalid_custom_id", "custom_id"),
        (line(method="GET"), "invalid_method", "method"),
        (line(url="/v1/embeddings"), "invalid_url", "url"),
        (line(body="hello"), "invalid_body", "body"),
        (None, "line_too_long", None),
    ],
)
def test_what_is_wrong_with_a_line_is_told_with_its_number(data, code, param):
    [error] = checked(line("first"), data).errors
    assert (error.line, error.code, error.param) == (2, code, param)
    assert error.message.endswith(".")


def test_every_custom_id_occurs_once():
    [error] = checked(line("a"), line("b"), line("a")).errors
    assert (error.line, error.code) == (3, "duplicate_custom_id")


def test_a_file_without_requests_and_one_with_too_many_are_refused():
    [error] = checked().errors
    assert (error.code, error.line) == ("empty_file", None)
    check = checked(*(line(str(number)) for number in range(9)), most=3)
    assert [error.code for error in check.errors] == ["too_many_lines"]


def test_errors_are_told_up_to_a_number():
    check = checked(*([b"{"] * (MOST_ERRORS + 50)), most=1000)
    assert len(check.errors) == MOST_ERRORS
    assert check.is_over


def test_a_request_keeps_its_body_as_it_was_written():
    request = request_line(b'{"custom_id": "\\u00e4", "method": "POST", "url": "x", "body": {"n" : 1.50}}')
    assert (request.custom_id, request.body) == ("ä", b'{"n" : 1.50}')
    assert request.key == line_key("ä")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"stream": true}', "stream"),
        (b'{"background": true}', "background"),
        (b'{"stream": false}', None),
        (b'{"stream": null, "n": 1}', None),
        (b'{"stream": "yes"}', None),
        (b"[]", None),
    ],
)
def test_what_has_no_answer_in_a_file_is_found(body, field):
    assert unanswerable(body) == field


def test_results_are_written_one_a_line():
    body = b'{"a":\n 1, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}'
    result = answered("batch_req_1", "ä", 200, "req_1", body)
    data = result.encode()
    assert data.count(b"\n") == 1
    written = json.loads(data)
    assert written["response"] == {
        "status_code": 200,
        "request_id": "req_1",
        "body": {"a": 1, "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    }
    assert (written["id"], written["custom_id"], written["error"]) == ("batch_req_1", "ä", None)
    assert result.succeeded
    assert known_result(data) == (line_key("ä"), BatchUsage(3, 0, 2, 0))


def test_what_failed_belongs_to_the_errors():
    assert not answered("batch_req_1", "a", 400, "req_1", b"{}").succeeded
    result = unanswered("batch_req_1", "a", "batch_expired", "Too late.")
    assert not result.succeeded
    assert json.loads(result.encode())["error"] == {"code": "batch_expired", "message": "Too late."}
    assert known_result(result.encode()) == (line_key("a"), BatchUsage())


def test_half_a_result_is_none():
    data = answered("batch_req_1", "a", 200, "req_1", b"{}").encode()
    with pytest.raises(msgspec.DecodeError):
        known_result(data[:-10])


def test_tokens_are_counted_in_either_spelling():
    new = {
        "input_tokens": 5,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 1},
    }
    assert tokens_of(json.dumps({"usage": new}).encode()) == BatchUsage(5, 2, 4, 1)
    assert tokens_of(b'{"usage": null}') == tokens_of(b"[]") == BatchUsage()
    assert BatchUsage(1, 2, 3, 4).plus(BatchUsage(1, 1, 1, 1)) == BatchUsage(2, 3, 4, 5)
    assert batch_lines.tokens_of(b'{"usage": {"prompt_tokens": 3}}') == BatchUsage(3)
