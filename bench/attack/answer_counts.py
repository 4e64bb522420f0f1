"""What the senders were answered, counted: each status with its code, and the answers that break the promise of docs/errors.md.

Pure: answers in, a table out. The promise: every refusal has a stable code and a sentence, and none is `internal_error`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from attack.exchange import Answer

FAULTS_KEPT = 20
EXCERPT = 300
SENTENCE = 8
"""Characters of the shortest sentence."""


class AnswerCounts:
    """Counts by kind of attack. `faults` are the answers that should not be, with what was sent, a few of them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.fault_count = 0

    def answer(self, answer: Answer, sent: str = "") -> str:
        """Count an HTTP answer; its label, such as `400 invalid_json`."""
        if answer.status < 400:
            return self._count(str(answer.status))
        code, sentence = code_and_sentence(answer.json())
        label = f"{answer.status} {code or '(no code)'}"
        if code == "internal_error":
            self.fault(f"{label}: {sentence}", sent)
        elif not code and is_sentence(answer):
            # The parser of HTTP speaks plain text, and a page that a person is sent to speaks HTML.
            return self._count(f"{answer.status} (a sentence without a code)")
        elif not code or len(sentence) < SENTENCE:
            self.fault(f"{label}: no code or no sentence: {answer.body[:EXCERPT]!r}", sent)
        return self._count(label)

    def message(self, message: Any, sent: str = "") -> str:
        """Count a message of a socket that says `error`; other messages count by their type."""
        if not isinstance(message, dict) or message.get("type") != "error":
            kind = message.get("type", "?") if isinstance(message, dict) else "(not an object)"
            return self._count(f"socket {kind}")
        code, sentence = str(message.get("code", "")), str(message.get("message", ""))
        label = f"socket error {code or '(no code)'}"
        if code == "internal_error" or not code or len(sentence) < SENTENCE:
            self.fault(f"{label}: {sentence}", sent)
        return self._count(label)

    def note(self, label: str) -> str:
        """Count something that is no answer: a connection that was closed, a frame that was not answered."""
        return self._count(label)

    def fault(self, what: str, sent: str = "") -> None:
        self.fault_count += 1
        if len(self.faults) < FAULTS_KEPT:
            self.faults.append(f"{what[:EXCERPT]} <- {sent[:EXCERPT]}")

    def add(self, other: AnswerCounts) -> None:
        self.counts.update(other.counts)
        self.fault_count += other.fault_count
        self.faults = (self.faults + other.faults)[:FAULTS_KEPT]

    def summary(self, most: int = 12) -> str:
        """The commonest labels with their counts on one line."""
        rest = len(self.counts) - most
        parts = [
            f"{label} x{count}" if count > 1 else label for label, count in self.counts.most_common(most)
        ]
        return ", ".join(parts) + (f", and {rest} more kinds" if rest > 0 else "")

    def _count(self, label: str) -> str:
        self.counts[label] += 1
        return label


def is_sentence(answer: Answer) -> bool:
    """Whether the body is words for a person and not JSON."""
    kind = answer.headers.get("content-type", "")
    return kind.startswith(("text/plain", "text/html")) and len(answer.body) >= SENTENCE


def code_and_sentence(body: Any) -> tuple[str, str]:
    """The code and the sentence of an error body; empty where it has none."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return str(error.get("code") or ""), str(error.get("message") or "")
    return "", ""
