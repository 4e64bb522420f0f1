"""The arithmetic of `make attack`: mutations, what a sender was answered, latencies, and the verdict."""

import sys
import zlib
from pathlib import Path
from random import Random

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from attack.answer_counts import AnswerCounts
from attack.bombs import BOMBS
from attack.bombs.pictures import zeros
from attack.exchange import Answer, request
from attack.frames import raw
from attack.mutations import MOST_BYTES, damaged_json, mutated
from attack.probe import GIVE_UP, Latency, Question, latencies
from attack.processes import MEGABYTE, Held
from attack.routes import Routes
from attack.verdict import Leftovers, Round, failures, slow

FILE = bytes(range(256)) * 20


def test_the_same_dice_damage_a_file_in_the_same_way():
    assert [mutated(FILE, Random(n)) for n in range(50)] == [mutated(FILE, Random(n)) for n in range(50)]


def test_nearly_every_mutation_is_another_file_and_none_is_too_long():
    made = {mutated(FILE, Random(n), (b"IHDR",), (b"other" * 99,)) for n in range(300)}
    assert len(made) > 270
    assert max(map(len, made)) <= MOST_BYTES


def test_a_file_of_nothing_stays_one():
    assert mutated(b"", Random(1)) == b""


def test_damaged_json_is_seldom_what_it_was():
    body = {"messages": [{"role": "user", "content": "x"}], "n": 1}
    made = [damaged_json(body, Random(n)) for n in range(200)]
    assert sum(value == body for value in made) < 10
    assert body == {"messages": [{"role": "user", "content": "x"}], "n": 1}


def test_zeros_unpack_to_so_many_zeros():
    for count in (0, 1, 2**20, 3 * 2**20 + 17):
        assert zlib.decompress(zeros(count)) == bytes(count)


def test_every_bomb_has_a_name_of_its_own():
    names = [name for _, name, _ in BOMBS]
    assert len(names) == len(set(names)) > 120


def counted(status: int, body: bytes, kind: str = "application/json") -> AnswerCounts:
    answers = AnswerCounts()
    answers.answer(Answer(status, {"content-type": kind}, body))
    return answers


def test_a_refusal_with_a_code_and_a_sentence_is_no_fault():
    answers = counted(400, b'{"error": {"code": "invalid_json", "message": "The body is not JSON."}}')
    assert answers.counts == {"400 invalid_json": 1}
    assert not answers.faults


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b'{"error": {"code": "internal_error", "message": "There is a bug here."}}'),
        (400, b'{"error": {"message": "There is no code."}}'),
        (400, b'{"error": {"code": "mute", "message": ""}}'),
        (404, b""),
    ],
)
def test_a_bug_and_a_refusal_without_code_or_sentence_are_faults(status: int, body: bytes):
    assert counted(status, body).fault_count == 1


def test_the_parser_of_http_may_speak_plain_text():
    assert not counted(400, b"Invalid HTTP request received.", "text/plain; charset=utf-8").faults


def test_an_error_of_a_socket_needs_code_and_sentence_too():
    answers = AnswerCounts()
    answers.message({"type": "error", "code": "busy", "message": "One at a time, please."})
    answers.message({"type": "error", "message": "Something."})
    answers.message({"type": "done"})
    assert answers.fault_count == 1
    assert answers.counts["socket done"] == 1


def test_latencies_count_the_unanswered_as_slow():
    asked = [Question("health", float(n), 0.01 * n) for n in range(5)] + [Question("health", 5.0, None)]
    found = latencies(asked, "health", 1.0, 9.0)
    assert found == Latency(5, 0.03, GIVE_UP, 1)
    assert latencies(asked, "token", 0.0, 9.0) == Latency(0, 0.0, 0.0, 0)


QUIET = Latency(10, 0.01, 0.02, 0)
HELD = Held(4, 100, 200 * MEGABYTE)
FINE = Leftovers(HELD, HELD, [], 0, 0, True, 0)


def a_round(**more: object) -> Round:
    fields = {"kind": "files", "sent": 9, "seconds": 1.0, "health": QUIET, "token": QUIET, "answers": ""}
    fields |= {"gateway": 100 * MEGABYTE, "worker": 1, "child": 1, "gone": False, "faults": 0}
    return Round(**(fields | more))  # type: ignore[arg-type]


def test_a_server_that_stood_has_nothing_against_it():
    assert failures([a_round()], FINE) == []
    assert slow([a_round()], QUIET) == []


@pytest.mark.parametrize(
    ("rounds", "leftovers", "word"),
    [
        ([a_round(gone=True)], FINE, "gateway was gone"),
        ([a_round(faults=2)], FINE, "2 answers"),
        ([a_round(gateway=700 * MEGABYTE)], FINE, "700 MB"),
        ([], FINE._replace(traces=1), "1 traces"),
        ([], FINE._replace(worker_restarts=1), "restarted"),
        ([], FINE._replace(is_idle=False), "idle"),
        ([], FINE._replace(files=["tmp/x"]), "tmp/x"),
        ([], FINE._replace(after=HELD._replace(processes=5)), "processes were left"),
        ([], FINE._replace(after=HELD._replace(files=200)), "open files"),
        ([], FINE._replace(after=HELD._replace(memory=400 * MEGABYTE)), "200 MB of memory"),
        ([], FINE._replace(exit_code=None), "end properly"),
    ],
)
def test_each_thing_that_fell_is_a_sentence(rounds: list[Round], leftovers: Leftovers, word: str):
    found = failures(rounds, leftovers)
    assert len(found) == 1
    assert word in found[0]


def test_others_who_waited_are_told_of():
    assert len(slow([a_round(health=Latency(9, 0.01, 0.7, 0), token=Latency(9, 0.05, 0.1, 0))], QUIET)) == 2


def test_requests_are_the_same_for_the_same_dice_and_name_only_routes_of_the_document():
    paths = {"/api/x/{id}": {"post": {"requestBody": {}}, "get": {}}, "/health": {"get": {}}}
    routes = Routes({"paths": paths}, ["a1"])
    assert len(routes) == 3
    made = [routes.request(n, Random(n)) for n in range(60)]
    assert made == [routes.request(n, Random(n)) for n in range(60)]
    assert {one.path.partition("?")[0].split("/")[1] for one in made} == {"api", "health"}


def test_a_request_is_written_with_its_length_and_key():
    assert request("POST", "/x", key="k", body=b"ab") == (
        b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n"
        b"Content-Length: 2\r\n\r\nab"
    )


def test_a_raw_frame_has_the_bits_it_is_asked_for():
    assert raw(1, b"hi").data == b"\x81\x82\0\0\0\0hi"
    assert raw(9, bytes(300), fin=False, reserved=4, masked=False).data[:4] == b"\x49\x7e\x01\x2c"
