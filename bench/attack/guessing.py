"""Guessing keys: Bearer keys, logins, cookies, many at once, and then the right key, which must not be locked out."""

from __future__ import annotations

import json
from random import Random

from attack.answer_counts import AnswerCounts
from attack.exchange import Line, NoAnswer, request

SOURCES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
PREFIX = 12
"""Characters of a real key that a guess begins with, so that guesses share a key's prefix."""


def guess(number: int, right: str, dice: Random) -> bytes:
    """A request with a wrong key, in one of the ways a key is sent."""
    wrong = dice.choice(
        (f"{right[:PREFIX]}{dice.getrandbits(160):040x}", f"{dice.getrandbits(160):040x}", "", "a", right[:-1], right + "x", right.upper(), "é" * 20)
    )  # fmt: skip
    body = json.dumps({"key": wrong}).encode()
    match number % 4:
        case 0:
            return request("GET", "/api/settings", key=wrong or "x")
        case 1:
            return request("POST", "/api/session", body=body)
        case 2:
            return request("GET", "/v1/models", headers={"x-api-key": wrong or "x"})
    return request(
        "GET", "/api/conversations", headers={"Cookie": f"duologue_session={wrong}; session={wrong}"}
    )


async def guess_keys(port: int, right: str, count: int, dice: Random, answers: AnswerCounts) -> None:
    """`count` wrong keys from a few addresses; then the right one from one of them, which must come in."""
    lines = [Line(port, source=source) for source in SOURCES]
    try:
        for number in range(count):
            try:
                answer = await lines[number % len(lines)].send(guess(number, right, dice))
            except NoAnswer as error:
                answers.note(f"no answer: {error}")
                continue
            label = answers.answer(answer, "a wrong key")
            if answer.status < 400:
                answers.fault(f"a wrong key was let in: {label}", f"guess {number}")
        try:
            answer = await lines[0].send(request("GET", "/api/settings", key=right))
            answers.note(f"the right key afterwards: {answer.status}")
            if answer.status != 200:
                answers.fault(f"the right key was locked out: {answer.status}", "after the guesses")
        except NoAnswer as error:
            answers.fault(f"the right key was not answered: {error}", "after the guesses")
    finally:
        for line in lines:
            line.close()
