"""Names, sessions and keys of joined workers."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace
from tests.support.joined_stand_in import JOIN

from duologue.gateway.machines.join_table import GONE, GONE_S, Admitted, JoinTable
from duologue.wire.machines.join_protocol import SESSION_UNKNOWN, Refuse


def admitted(
    table: JoinTable, session: str, *, worker: str = "gpu0", key: str = "k", at: float = 0.0
) -> Admitted:
    found = table.admit(replace(JOIN, session=session, worker=worker), "u", key, at)
    assert isinstance(found, Admitted)
    return found


def test_the_first_of_a_name_has_it_and_the_second_gets_a_number():
    table = JoinTable(10)
    first = admitted(table, "one")
    table.reached(first.worker, 1.0)
    second = admitted(table, "two")
    assert (first.worker.name, second.worker.name) == ("box/gpu0", "box/gpu0.2")
    assert (first.comes, second.comes) == ("new", "new")


def test_a_new_process_of_a_key_takes_the_place_of_one_out_of_reach():
    table = JoinTable(10)
    first = admitted(table, "one")
    table.reached(first.worker, 1.0)
    table.lost_sight(first.worker, 2.0)
    second = admitted(table, "two")
    assert second.comes == "again"
    assert second.worker.name == first.worker.name
    # What is then heard of the first one changes nothing.
    table.left(first.worker, "late", 0.0)
    assert table.find("two", "u", "k") is second.worker


def test_what_a_worker_says_of_itself_is_one_line():
    """It is written to the log and to terminals."""
    odd = replace(JOIN, version="1.0\nforged", device="cpu\x1b[2J", placed="\x07")
    found = JoinTable(10).admit(odd, "u", "k", 0.0)
    assert isinstance(found, Admitted)
    told = found.worker
    assert (told.version, told.device, told.placed) == ("1.0 forged", "cpu [2J", " ")


def test_another_key_does_not_take_the_place():
    table = JoinTable(10)
    table.lost_sight(admitted(table, "one").worker, 2.0)
    assert admitted(table, "two", key="other").worker.name == "box/gpu0.2"


def test_a_session_goes_on_for_its_key_alone():
    table = JoinTable(10)
    first = admitted(table, "one")
    assert admitted(table, "one").comes == "resumed"
    assert table.find("one", "u", "k") is first.worker
    assert table.find("one", "u", "other") is None


def test_a_session_that_nobody_knows_begins_anew():
    refuse = JoinTable(10).admit(replace(JOIN, received=5), "u", "k", 0.0)
    assert isinstance(refuse, Refuse)
    assert (refuse.code, refuse.retry_s) == (SESSION_UNKNOWN, 0.0)


def test_those_that_have_gone_are_shown_for_a_while():
    table = JoinTable(1000)
    for number in range(GONE + 10):
        table.left(admitted(table, f"s{number}", worker=f"w{number}").worker, "it left", 0.0)
    assert len(list(table.shown(0.0))) == GONE
    assert len(table) == 0


def test_one_that_has_gone_is_shown_for_an_hour_with_the_moment_it_was_seen_last():
    table = JoinTable(10)
    lost, sent_away = admitted(table, "one").worker, admitted(table, "two", worker="gpu1").worker
    for worker in (lost, sent_away):
        table.reached(worker, 10.0)
    table.lost_sight(lost, 20.0)
    table.left(lost, "out of reach", 40.0)
    table.left(sent_away, "its key was revoked", 50.0)
    assert [(worker.reach, worker.seen) for worker in table.shown(60.0)] == [("gone", 20.0), ("gone", 50.0)]
    assert list(table.shown(45.0 + GONE_S)) == [sent_away]
    assert list(table.shown(50.0 + GONE_S)) == []


class Joining(RuleBasedStateMachine):
    """Whatever joins, breaks and leaves: names are unique, and bounded."""

    def __init__(self) -> None:
        super().__init__()
        self.table = JoinTable(5)
        self.sessions = 0
        self.at = 0.0

    @rule(worker=st.sampled_from(["a", "b"]), key=st.sampled_from(["k", "l"]))
    def join(self, worker: str, key: str) -> None:
        self.sessions += 1
        found = self.table.admit(replace(JOIN, worker=worker, session=str(self.sessions)), "u", key, self.at)
        if isinstance(found, Admitted):
            assert found.worker.key == key
            self.table.reached(found.worker, self.at)
        else:
            assert len(self.table) == 5

    @rule(number=st.integers(0, 4), data=st.sampled_from(["break", "back", "leave"]))
    def change(self, number: int, data: str) -> None:
        workers = [worker for worker in self.table.shown(self.at) if worker.reach != "gone"]
        if number < len(workers):
            worker = workers[number]
            if data == "break":
                self.table.lost_sight(worker, self.at)
            elif data == "back":
                assert self.table.find(worker.session, "u", worker.key) is worker
                self.table.reached(worker, self.at)
            else:
                self.table.left(worker, "left", self.at)

    @invariant()
    def names_are_unique(self) -> None:
        names = [worker.name for worker in self.table.shown(self.at) if worker.reach != "gone"]
        assert len(set(names)) == len(names) == len(self.table) <= 5


TestJoining = Joining.TestCase
