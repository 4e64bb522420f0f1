"""What keys were charged reaches the other gateways, and is believed within reason."""

import pytest

from duologue.gateway.scheduling.eta import BASES, Estimator
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.scheduling.shared_service import AT_A_TIME, LARGEST, SharedService
from duologue.store.cluster.notices import Notices
from duologue.values.cluster.notices import Notice, SlotsServed


class Sent(Notices):
    def __init__(self) -> None:
        super().__init__(None, "")
        self.posted: list[Notice] = []

    def post(self, notice: Notice) -> None:
        self.posted.append(notice)

    def hear(self, notice: Notice) -> None:
        for handler in self._handlers.get(type(notice), ()):
            handler(notice)


class Told(Scheduler):
    def __init__(self) -> None:
        super().__init__(100, Estimator(BASES))
        self.news: dict[tuple[str, int], dict[str, float]] = {}
        self.heard: list[tuple[str, int, dict[str, float]]] = []
        self.tells = False

    def charged(self, *, tells: bool) -> dict[tuple[str, int], dict[str, float]]:
        self.tells = tells
        return self.news

    def served_elsewhere(self, model, place, seconds) -> None:
        self.heard.append((model, place, dict(seconds)))


@pytest.fixture
def parts() -> tuple[Told, Sent, SharedService]:
    scheduler, sent = Told(), Sent()
    return scheduler, sent, SharedService(scheduler, sent, "models", lambda: True)


def test_many_keys_are_told_in_several_notices(parts):
    scheduler, sent, service = parts
    scheduler.news = {("m", 1): {f"key{number}": 1.0 for number in range(AT_A_TIME + 1)}}
    service.tell()
    assert scheduler.tells
    assert [len(notice.seconds) for notice in sent.posted] == [AT_A_TIME, 1]


def test_what_others_were_charged_is_passed_on_for_this_pool_alone(parts):
    scheduler, sent, _ = parts
    sent.hear(SlotsServed("voice", "m", 1, {"a": 1.0}))
    sent.hear(SlotsServed("models", "m", 1, {"a": 1.0, "b": 1e300}))
    assert scheduler.heard == [("m", 1, {"a": 1.0, "b": LARGEST})]
