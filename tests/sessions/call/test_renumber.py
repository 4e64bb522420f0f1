from duologue.sessions.call.renumber import Renumbered
from duologue.turns.facts_and_decisions import Ask, CutSound, Interrupted, KeepUser, Show, TextCame
from duologue.values.call_events import CallSetup


class Echoing:
    """Decides what it was told to, and remembers what it was told."""

    epoch = 2

    def __init__(self, *decisions):
        self.decisions = list(decisions)
        self.facts = []

    def take(self, fact):
        self.facts.append(fact)
        return self.decisions


def test_a_call_that_begins_is_as_the_machine_counts():
    machine = Echoing(Ask(1, 1, 0, "hi"))
    numbered = Renumbered(machine, CallSetup())
    assert numbered.take(TextCame(1)) == [Ask(1, 1, 0, "hi")]
    assert machine.facts == [TextCame(1)]
    assert numbered.epoch == 2


def test_a_call_that_goes_on_counts_on():
    machine = Echoing(Ask(1, 1, 0, "hi"), KeepUser(1, "hi"), CutSound(2), Show("listening"))
    numbered = Renumbered(machine, CallSetup(epoch=5, reply=10, turn=4))
    assert numbered.take(TextCame(10)) == [
        Ask(10, 4, 0, "hi"),
        KeepUser(4, "hi"),
        CutSound(11),
        Show("listening"),
    ]
    assert machine.facts == [TextCame(1)]
    assert numbered.epoch == 7


def test_a_fact_about_whichever_reply_stays_one():
    machine = Echoing()
    Renumbered(machine, CallSetup(reply=10)).take(Interrupted(None, 3))
    assert machine.facts == [Interrupted(None, 3)]
