"""A meter that notes what it is told, for tests of what is metered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from duologue.errors import Problem


class RecordedRequest:
    def __init__(self, kind: str, model: str, user: str, tokens: int, *, part: bool) -> None:
        self.kind, self.model, self.user, self.tokens, self.part = kind, model, user, tokens, part
        self.seconds_heard = self.seconds_spoken = 0.0
        self.used = (0, 0, 0)
        self.has_failed = self.has_ended = False

    def wrote(self, tokens: int) -> None:
        pass

    def counted(self, *, prompt: int = 0, cached: int = 0, completion: int = 0, instead_of: int = 0) -> None:
        self.used = (prompt, cached, completion)

    def heard(self, seconds: float) -> None:
        self.seconds_heard += seconds

    def spoke(self, seconds: float) -> None:
        self.seconds_spoken += seconds

    def failed(self) -> None:
        self.has_failed = True


class RecordingMeter:
    """Implements `RequestMeter`. `refuses`: what each request that is no part of another one is refused with."""

    def __init__(self, refuses: Problem | None = None) -> None:
        self.requests: list[RecordedRequest] = []
        self._refuses = refuses

    async def ready(self, user: str, tokens: int = 0) -> None:
        pass

    @contextmanager
    def request(
        self, kind: str, model: str, *, user: str, tokens: int = 0, part: bool = False
    ) -> Iterator[RecordedRequest]:
        if self._refuses is not None and not part:
            raise self._refuses
        request = RecordedRequest(kind, model, user, tokens, part=part)
        self.requests.append(request)
        try:
            yield request
        finally:
            request.has_ended = True
