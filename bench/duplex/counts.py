"""Two checks by the hundred: the history after interrupted replies, and what still arrives after a cancel."""

from __future__ import annotations

import random
from dataclasses import dataclass

from duologue.gateway.calls.history import INTERRUPTED
from duologue.values.audio import SPOKEN_RATE
from duologue.values.requests import ChatRequest

from .local import LocalCall, talking, words_heard

VOCABULARY = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "islet",
    "jetty",
    "knoll",
    "lagoon",
    "maple",
    "north",
    "ocean",
    "pine",
    "quartz",
    "river",
]
CALLS_EACH = 20
"""Interruptions of one call, before the next begins: histories grow, and a fault in the first call would hide in one."""
PACES = (0.0, 0.02, 0.1, 0.25)
"""Seconds a model takes over a word: at the last, a reply is interrupted while most of it is unwritten."""
WAYS = ("voice", "button", "chunk", "typed")


@dataclass
class Count:
    """How often it was tried, how often it was right, and the first thing that was not."""

    tried: int = 0
    right: int = 0
    first_wrong: str = ""

    def add(self, wrong: str) -> None:
        self.tried += 1
        self.right += not wrong
        self.first_wrong = self.first_wrong or wrong


def a_text(chance: random.Random, words: int) -> str:
    """Words that are spoken as they are written, no two texts alike."""
    said = [chance.choice(VOCABULARY) for _ in range(words)]
    return " ".join(f"{word}," if chance.random() < 0.1 else word for word in said) + "."


async def histories(times: int, seed: int = 1) -> Count:
    """Interrupt a reply at a random word by voice: the history must be what was heard, to the word, and the next prompt must
    say so."""
    count, chance = Count(), random.Random(seed)
    while count.tried < times:
        async with talking() as talk:
            for number in range(min(CALLS_EACH, times - count.tried)):
                count.add(await _one_history(talk, chance, number))
    return count


async def _one_history(talk: LocalCall, chance: random.Random, number: int) -> str:
    if number == 0:
        talk.text = a_text(chance, 40)
        await talk.tell({"type": "text", "text": "Please begin."})
    text = talk.text
    if not await talk.until_heard(round(chance.uniform(0.7, 7.0) * SPOKEN_RATE)):
        return "the reply was never heard"
    reply = talk.player.current
    talk.pace = chance.choice(PACES)
    asked = len(talk.requests)
    talk.text = a_text(chance, 40)
    await talk.speak("no tell me something else about the river please", 1.6)
    for _ in range(100):
        if len(talk.requests) > asked and talk.last("reply_done").get("reply_id") == reply:
            break
        await talk.be_quiet(0.032)
    done = talk.last("reply_done")
    if done.get("reply_id") != reply or done.get("ending") != "interrupted":
        return f"reply {reply} was not interrupted: {done}"
    return _compare(talk, text, reply or 0, done, talk.requests[asked:])


def _compare(
    talk: LocalCall, text: str, reply: int, done: dict[str, object], requests: list[ChatRequest]
) -> str:
    expected = text.split()[: words_heard(talk.player.played[reply])]
    kept = str(done["text"]).split()
    if kept != expected:
        return f"of {text!r} {talk.player.played[reply]} samples were heard: {expected}, and this was kept: {kept}"
    if not requests:
        return "no prompt followed"
    said = [message.text for message in requests[-1].messages if message.role == "assistant"]
    if not said or said[-1].replace(INTERRUPTED, " ").split() != expected:
        return f"the prompt that followed holds {said[-1:]}, heard was {expected}"
    return ""


async def cancels(times: int, seed: int = 2) -> Count:
    """Cancel in every way and at any time: nothing that came after the server's own word may be of what was cancelled."""
    count, chance = Count(), random.Random(seed)
    while count.tried < times:
        async with talking(holds=count.tried // CALLS_EACH % 4 != 3) as talk:
            for number in range(min(CALLS_EACH, times - count.tried)):
                count.add(await _one_cancel(talk, chance, number))
    return count


async def _one_cancel(talk: LocalCall, chance: random.Random, number: int) -> str:
    talk.text, talk.pace = a_text(chance, 30), chance.choice(PACES)
    await talk.tell({"type": "text", "text": f"Tell me the text number {number}."})
    if not await talk.until_heard(round(chance.uniform(0.05, 2.0) * SPOKEN_RATE)):
        return "the reply was never heard"
    stale, reply = len(talk.player.stale), talk.player.current
    way = chance.choice(WAYS)
    match way:
        case "voice":
            await talk.speak("stop that is enough for now", 1.3)
        case "button" | "chunk":
            await talk.tell(talk.player.interrupt(by_chunk=way == "chunk"))
        case "typed":
            await talk.tell({"type": "text", "text": "Something else."})
    for _ in range(60):
        if talk.last("reply_done").get("reply_id", -1) >= (reply or 0):
            break
        await talk.be_quiet(0.032)
    if talk.last("reply_done").get("reply_id", -1) < (reply or 0):
        return f"a cancel by {way} did not end reply {reply}: {talk.last('reply_done')}"
    await talk.be_quiet(chance.uniform(0.05, 0.6))
    came = talk.player.stale[stale:]
    return f"after a cancel by {way}: {came}" if came else ""
