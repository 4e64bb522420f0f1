"""The language of the scripted engine's scripts: a user's message as steps, and what of them a reply has still to play.

`language` plays the steps. Each line of a message that starts with a slash is a step; a message without steps is answered with
"You said: ...":

    /say TEXT        write TEXT, a word at a time ("\\n" is a line break); may hold <think> and <tool_call>
    /repeat N TEXT   write TEXT N times, each as one piece
    /raw PIECES      write these pieces exactly, one token each: a list of JSON texts, ["<tool_", "call>"], or one such text
    /pace MS         from here on wait MS milliseconds before each piece
    /read N MS       while reading the prompt, report N steps, MS milliseconds apart
    /wait MS         wait once
    /hang            write nothing more until cancelled
    /freeze          write nothing more, and do not end when cancelled either, as a library that is stuck
    /length          end as if the token limit was reached
    /fail TEXT       fail with TEXT as the sentence
    /lose TEXT       lose the device: fail with TEXT, and end the worker after it
    /crash           end the worker process at once, as a fault in a library would
    /got             write what the request has besides text, one word for each part (chat and omni engines only)
    /then            what follows belongs to the next turn of the same reply, after the results of the tools that were
                     called in this one; without it the last turn is repeated

Two more say how the reply to the message is read, in all its turns (prompt engines only):

    /format NAME M   tool calls are written in the format NAME, and a thought begins with the marker M ("none": there are none);
                     without M thoughts are marked as models of that format mark them
    /open TEXT       the prompt ends in this JSON text, as that of a template which begins the reply does: "<think>\\n"

A reply that is continued resumes after its text so far: that text, and the step that ended it, are not played again. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from duologue.errors import BadRequest
from duologue.text.output.reply_format import ReplyFormat, named_format

LARGEST = 1_000_000_000
THOUGHT_BEGINS = "<think>"
THOUGHT_ENDS = "</think>"
_THEN = re.compile(r"^\s*/then\s*$\n?", re.MULTILINE)
_STEP = re.compile(r"/(say|repeat|raw|pace|read|wait|hang|freeze|length|fail|lose|crash|got)\b ?(.*)")
_FORMAT = re.compile(r"^\s*/format (\S+)(?: (.+))?$", re.MULTILINE)
_OPEN = re.compile(r"^\s*/open (.+)$", re.MULTILINE)
_NONE = "none"
_ENDING = {"hang", "freeze", "length", "fail", "lose", "crash"}
_NUMBERED = {"repeat", "pace", "read", "wait"}
_WRITING = {"say", "repeat", "raw"}
_WORDS = re.compile(r"\s*\S+\s*")


class ScriptStep(Struct, frozen=True):
    """One line of a script. `exact`: the pieces of a `/raw`, whose `text` they are."""

    verb: str
    number: float = 0.0
    text: str = ""
    exact: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """The whole text that it writes."""
        if self.verb not in _WRITING:
            return ""
        return self.text * (int(self.number) if self.verb == "repeat" else 1)

    @property
    def words(self) -> Sequence[str]:
        """Its text in the pieces in which it is written, once."""
        return (
            self.exact
            if self.verb == "raw"
            else [self.text]
            if self.verb == "repeat"
            else _WORDS.findall(self.text)
        )


def parse_script(message: str) -> list[ScriptStep]:
    """The steps of a user's message; without any, an echo of it. Raises BadRequest for a number or a JSON text that is none."""
    steps = []
    for line in message.splitlines():
        if (match := _STEP.fullmatch(line.lstrip())) is None:
            continue
        verb, rest = match.groups()
        number = 0.0
        if verb in _NUMBERED:
            head, _, rest = rest.partition(" ")
            number = number_of(verb, head)
        if verb == "raw":
            pieces = _json(verb, rest)
            steps.append(ScriptStep(verb, text="".join(pieces), exact=pieces))
        else:
            steps.append(ScriptStep(verb, number, rest.replace("\\n", "\n")))
    return steps or [ScriptStep("say", text=f"You said: {message}")]


def format_of(message: str) -> ReplyFormat | None:
    """The format in which the reply to a user's message is written; None where it says nothing of that. Raises BadRequest
    (`unknown_tool_format`) for an unknown one, and for an unknown marker of thoughts."""
    found = _FORMAT.search(message)
    if found is None:
        return None
    name, thoughts = ("" if word == _NONE else word for word in found.groups())
    format = named_format(name or "", thoughts)
    if thoughts and format.reasoning is None:
        raise BadRequest(
            f"/format takes the opening marker of a known kind of thought, not {thoughts!r}.",
            param="messages",
        )
    return format


def opening_of(message: str) -> str:
    """What the prompt of the reply to a user's message ends in."""
    found = _OPEN.search(message)
    return "".join(_json("open", found[1])) if found else ""


def turn_of(message: str, turns: int) -> str:
    """The part of a user's message that is played once `turns` turns have answered it."""
    parts = _THEN.split(message)
    return parts[min(turns, len(parts) - 1)]


def remaining(
    steps: list[ScriptStep],
    reply: str,
    thought_begins: str = THOUGHT_BEGINS,
    thought_ends: str = THOUGHT_ENDS,
) -> list[ScriptStep]:
    """The steps that a reply with this text so far still has to play; all of them where its text is another.

    A thought that was cut short counts as finished. The empty thought of a template without thinking is the template's,
    not the script's.
    """
    thought, ended, answer = reply.rpartition(thought_ends)
    if ended and not thought.removeprefix(thought_begins).strip():
        reply, ended = answer.lstrip("\n"), ""
    left, rest = (answer.lstrip("\n"), _after_thought(steps, thought_ends)) if ended else (reply, list(steps))
    paces: list[ScriptStep] = []
    while left and rest:
        step = rest.pop(0)
        if step.verb == "pace":
            paces.append(step)
        if step.verb not in _WRITING:
            continue
        text = step.written
        if text.startswith(left):
            rest, left = [_behind(step, len(left)), *rest] if text != left else rest, ""
        elif left.startswith(text):
            left = left[len(text) :]
        else:
            return steps
    if left:
        return steps
    if reply and rest and rest[0].verb in _ENDING:
        rest.pop(0)
    return [*paces, *rest]


def _after_thought(steps: Sequence[ScriptStep], thought_ends: str) -> list[ScriptStep]:
    """The steps after the first thought; all of them where there is none."""
    for at, step in enumerate(steps):
        before, ended, _ = step.text.partition(thought_ends)
        if step.verb in ("say", "raw") and ended:
            paces = [before for before in steps[:at] if before.verb == "pace"]
            return [*paces, _behind(step, len(before) + len(ended)), *steps[at + 1 :]]
    return list(steps)


def _behind(step: ScriptStep, at: int) -> ScriptStep:
    """A step that writes what this one writes from there on."""
    text = step.written[at:]
    if step.verb != "raw":
        return ScriptStep("say", text=text)
    pieces, left = [], at
    for piece in step.exact:
        pieces.append(piece[left:])
        left = max(0, left - len(piece))
    return ScriptStep("raw", text=text, exact=tuple(filter(None, pieces)))


def _json(verb: str, text: str) -> tuple[str, ...]:
    """The texts of a JSON list, or one JSON text."""
    try:
        found = msgspec.json.decode(text, type=list[str] | str)
    except msgspec.MsgspecError as error:
        raise BadRequest(
            f'/{verb} takes a JSON text or a list of them, such as ["<tool_", "call>"]: {error}.',
            param="messages",
        ) from None
    return (found,) if isinstance(found, str) else tuple(found)


def number_of(verb: str, text: str) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        number = math.nan
    if not 0 <= number <= LARGEST:
        raise BadRequest(f"/{verb} takes numbers from 0 to {LARGEST:,}, not {text!r}.", param="messages")
    return number
