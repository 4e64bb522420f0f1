"""Fresh draws of the generators as questions to a model. Their seeds differ from those of all training data."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any, Protocol

from duologue_mini import skills
from duologue_mini.data.dialogues import answer_messages
from duologue_mini.evaluation.chat_model import ModelReply
from duologue_mini.evaluation.judges import (
    JUDGES,
    Expected,
    makes_calls,
    same_and_speakable,
    same_refusal,
    similar,
)
from duologue_mini.scene import Scene, Turn
from duologue_mini.text.typos import add_typos

THINKING_SHARE = 0.25
KNOWN_ANSWERS = 2000
"""Scenes drawn to collect other answers to a kind of question."""


class ReplyFunction(Protocol):
    """A function that answers messages, with tools, thinking or not."""

    def __call__(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], *, thinking: bool
    ) -> ModelReply:
        """The reply."""


@dataclass(frozen=True)
class Question:
    """The last turn of a scene, with the messages before it."""

    family: str
    scene: Scene
    messages: list[dict[str, Any]]
    thinking: bool


@dataclass
class Outcome:
    """The judged outcome of a question."""

    family: str
    good: bool
    why: str
    replies: list[ModelReply] = field(default_factory=list)
    question: str = ""


def questions(family: str, count: int, seed: int) -> list[Question]:
    """`count` questions of one family; the same seed gives the same questions."""
    random = Random(f"evaluation {seed} {family}")
    return [_question(random, family, skills.drawer(family)(random)) for _ in range(count)]


def _question(random: Random, family: str, scene: Scene) -> Question:
    messages: list[dict[str, Any]] = [{"role": "system", "content": scene.system}] if scene.system else []
    for turn in scene.turns:
        messages.append({"role": "user", "content": add_typos(random, turn.user, exact=turn.exact)})
        if turn is not scene.turns[-1]:
            messages += answer_messages(turn, False)
    return Question(family, scene, messages, random.random() < THINKING_SHARE)


def kind_of(turn: Turn) -> str:
    """The kind of question, told by the first sentence of its thought."""
    return turn.thought.partition(". ")[0].casefold()


@cache
def answers(family: str) -> Mapping[str, Sequence[str]]:
    """The answers of a family's generator, by kind of question."""
    random = Random(f"answers {family}")
    texts_by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for _ in range(KNOWN_ANSWERS):
        for turn in skills.drawer(family)(random).turns:
            texts_by_kind[kind_of(turn)] += [
                turn.assistant,
                *([turn.after_thought] if turn.after_thought else []),
            ]
    return {kind: tuple(dict.fromkeys(texts)) for kind, texts in texts_by_kind.items()}


def ask(question: Question, reply_to: ReplyFunction) -> Outcome:
    """Asks a question, returns results for the right calls, and judges the reply."""
    turn, tools, messages = question.scene.turns[-1], question.scene.tools, list(question.messages)
    outcome = Outcome(question.family, False, "", question=str(messages[-1]["content"]))
    start = len(messages)
    expected_messages = answer_messages(turn, question.thinking)
    for together in turn.rounds:
        reply = reply_to(messages, tools, thinking=question.thinking)
        outcome.replies.append(reply)
        if not makes_calls(together, reply.calls):
            outcome.why = f"expected {[(use.name, use.arguments) for use in together]}"
            return outcome
        done = len(messages) - start
        messages += expected_messages[done : done + 1 + len(together)]
    reply = reply_to(messages, tools, thinking=question.thinking)
    outcome.replies.append(reply)
    answer = str(expected_messages[-1]["content"])
    context = "\n".join(str(message["content"]) for message in messages)
    judge = JUDGES.get(question.family, similar)
    alike = (
        answers(question.family).get(kind_of(turn), ())
        if judge in (similar, same_refusal, same_and_speakable)
        else ()
    )
    expected = Expected(answer, str(question.messages[-1]["content"]), context, alike)
    outcome.good = not reply.calls and reply.ended and judge(expected, reply.text)
    outcome.why = "" if outcome.good else f"expected {answer!r}"
    return outcome
