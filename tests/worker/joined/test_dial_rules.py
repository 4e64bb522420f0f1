"""What a joined worker does after which end of a connection."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.errors import Problem, StartFailed, Unauthorized
from duologue.wire.machines.join_protocol import ALREADY_JOINED, SESSION_UNKNOWN, Refuse, Welcome
from duologue.worker.joined.dial_rules import (
    LONGEST_PAUSE,
    Again,
    Broken,
    DialRules,
    GiveUp,
    GrowingPause,
    Rest,
)

LOST = Broken("the connection broke")
WRONG = Broken("no", StartFailed("Change something."))


def joined(gateway: str = "g1", lease_s: float = 20.0) -> DialRules:
    rules = DialRules()
    rules.welcomed(Welcome(7, gateway, lease_s), frozenset())
    return rules


def test_a_broken_connection_is_dialled_again_with_the_same_session() -> None:
    decision = joined().ended(LOST, 100.0, 0.5)
    assert isinstance(decision, Again)
    assert not decision.fresh


def test_the_session_ends_with_its_lease_which_begins_when_the_connection_breaks() -> None:
    rules = joined(lease_s=20.0)
    assert rules.ends_at is None
    rules.ended(LOST, 100.0, 0.5)
    rules.ended(LOST, 110.0, 0.5)
    assert rules.ends_at == 120.0
    rules.welcomed(Welcome(7, "g1", 20.0), frozenset())
    assert rules.ends_at is None


def test_a_worker_that_was_never_let_in_waits_for_ever() -> None:
    rules = DialRules()
    rules.ended(LOST, 100.0, 0.5)
    assert rules.ends_at is None


def test_another_process_of_the_gateway_knows_nothing_of_the_session() -> None:
    rules = joined("g1")
    assert rules.welcomed(Welcome(7, "g1", 20.0), frozenset()) == "same"
    assert rules.welcomed(Welcome(7, "g2", 20.0), frozenset()) == "other"
    rules.fresh()
    assert rules.welcomed(Welcome(7, "g2", 20.0), frozenset()) == "same"


def test_a_gateway_that_does_not_know_the_session_gets_a_fresh_one_but_not_in_a_circle() -> None:
    rules = joined()
    refuse = Refuse(SESSION_UNKNOWN, "Who?", 0)
    assert rules.ended(refuse, 0.0, 0.5) == Again(0.0, fresh=True, reason="Who?")
    rules.fresh()
    decision = rules.ended(refuse, 0.0, 0.5)
    assert isinstance(decision, Again)
    assert decision.fresh
    assert decision.pause > 0


def test_a_gateway_that_was_joined_by_another_address_is_left_alone() -> None:
    assert DialRules().welcomed(Welcome(7, "g1", 20.0), frozenset({"g1"})) == "twice"
    assert DialRules().ended(Refuse(ALREADY_JOINED, "", 5.0), 0.0, 0.5) == Rest(5.0)


def test_a_refusal_says_when_to_ask_again_or_never() -> None:
    decision = DialRules().ended(Refuse("full", "Later.", 7.0), 0.0, 0.5)
    assert isinstance(decision, Again)
    assert decision.pause == 7.0
    final = DialRules().ended(Refuse("protocol", "Never."), 0.0, 0.5)
    assert isinstance(final, GiveUp)
    assert (final.problem.code, final.problem.message) == ("protocol", "Never.")


def test_what_a_person_has_to_mend_ends_a_worker_that_was_never_let_in() -> None:
    assert isinstance(DialRules().ended(WRONG, 0.0, 0.5), GiveUp)
    assert isinstance(joined().ended(WRONG, 0.0, 0.5), Again)


def test_a_key_that_is_refused_ends_it_at_any_time() -> None:
    problem: Problem = Unauthorized("The key is refused.")
    assert joined().ended(Broken("no", problem), 0.0, 0.5) == GiveUp(problem)


def test_a_session_that_is_over_begins_anew_after_a_pause() -> None:
    decision = joined().ended(Broken("a gap", over=True), 0.0, 0.5)
    assert isinstance(decision, Again)
    assert decision.fresh
    assert decision.pause > 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_pauses_grow_and_end_at_the_longest(chances: list[float]) -> None:
    pause = GrowingPause()
    pauses = [pause.next(chance) for chance in chances]
    assert all(0 < one <= LONGEST_PAUSE for one in pauses)
    assert all(later >= earlier / 2 for earlier, later in pairwise(pauses))
    pause.reset()
    assert pause.next(1.0) == pytest.approx(0.1)
