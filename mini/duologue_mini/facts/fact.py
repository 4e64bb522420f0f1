"""The type of a fact about Duologue, and the pages of the docs that facts come from."""

from dataclasses import dataclass

RUNNING, PROTOCOLS, ERRORS = "docs/running.md", "docs/protocols.md", "docs/errors.md"
MODELS, README, DESIGN, CONTRIBUTING = "docs/models.md", "README.md", "docs/design.md", "CONTRIBUTING.md"
CHANGELOG = "CHANGELOG.md"


@dataclass(frozen=True)
class Fact:
    """`subject` names the topic in a thought; `brief` is the shortest true answer; `answers` are patterns."""

    subject: str
    page: str
    brief: str
    answers: tuple[str, ...]


def fact(subject: str, page: str, brief: str, *answers: str) -> Fact:
    return Fact(subject, page, brief, answers)
