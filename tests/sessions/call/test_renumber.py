from duologue.sessions.call.renumber import RenumberedMachine
from duologue.turns.decisions import CommitTurn, CutReply, RequestReply, ShowState
from duologue.turns.facts import InterruptRequested, ReplyTextStarted
from duologue.values.call_events import CallSetup


class Echoing:
    """Returns scripted decisions and records its facts."""

    epoch = 2

    def __init__(self, *decisions):
        self.decisions = list(decisions)
        self.facts = []

    def take(self, fact):
        self.facts.append(fact)
        return self.decisions


def test_a_call_that_begins_is_as_the_machine_counts():
    machine = Echoing(RequestReply(1, 1, 0, "hi"))
    numbered = RenumberedMachine(machine, CallSetup())
    assert numbered.take(ReplyTextStarted(1)) == [RequestReply(1, 1, 0, "hi")]
    assert machine.facts == [ReplyTextStarted(1)]
    assert numbered.epoch == 2


def test_a_call_that_goes_on_counts_on():
    machine = Echoing(RequestReply(1, 1, 0, "hi"), CommitTurn(1, "hi"), CutReply(2), ShowState("listening"))
    numbered = RenumberedMachine(machine, CallSetup(epoch=5, reply=10, turn=4))
    assert numbered.take(ReplyTextStarted(10)) == [
        RequestReply(10, 4, 0, "hi"),
        CommitTurn(4, "hi"),
        CutReply(11),
        ShowState("listening"),
    ]
    assert machine.facts == [ReplyTextStarted(1)]
    assert numbered.epoch == 7


def test_a_fact_about_whichever_reply_stays_one():
    machine = Echoing()
    RenumberedMachine(machine, CallSetup(reply=10)).take(InterruptRequested(None, 3))
    assert machine.facts == [InterruptRequested(None, 3)]
