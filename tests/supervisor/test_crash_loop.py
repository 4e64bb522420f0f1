"""When a worker is given up, what is said about it, and when it is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.supervisor.crash_loop import CRASHES, LONGEST, STARTS, STEADY, Cause, CrashLoop, Verdict

KILLED = Cause(-9)


def test_one_end_after_long_work_is_repaired_at_once():
    loop = CrashLoop("m")
    loop.started()
    loop.ready(0.0)
    assert loop.ended(Cause(-11), 100.0) == Verdict(0.0)


def test_a_worker_that_never_gets_ready_is_given_up_with_its_cause():
    loop = CrashLoop("small")
    for number in range(STARTS):
        loop.started()
        verdict = loop.ended(Cause(70, last_line="ValueError: no such tensor."), float(number))
        assert verdict.given_up == (number == STARTS - 1)
    assert verdict.sentence == (
        "The worker of small ended 3 times before it was ready, at last with this: exit code 70. Its log ended with: "
        "ValueError: no such tensor. It is tried again, at most five minutes apart, or at once when an admin restarts it."
    )


def test_a_worker_that_falls_soon_after_it_was_ready_is_given_up_too():
    loop, verdicts = CrashLoop("m"), []
    for number in range(CRASHES):
        loop.started()
        loop.ready(10.0 * number)
        verdicts.append(loop.ended(KILLED, 10.0 * number + STEADY / 2))
    assert [verdict.given_up for verdict in verdicts] == [False] * (CRASHES - 1) + [True]
    assert "soon after it was ready, 5 times in a row" in verdicts[-1].sentence
    assert "signal 9" in verdicts[-1].sentence


def test_memory_that_ran_out_is_named_with_what_helps():
    loop = CrashLoop("m")
    for _ in range(STARTS):
        loop.started()
        verdict = loop.ended(Cause(-9, out_of_memory=True), 0.0)
    assert "the system was out of memory" in verdict.sentence
    assert "Choose a smaller model" in verdict.sentence


def test_memory_is_not_blamed_for_another_end():
    assert "memory" not in str(Cause(1, out_of_memory=True))
    assert str(Cause(reason="its engine gave no step for 300 s")) == "its engine gave no step for 300 s"
    assert str(Cause()) == "it was still running"


def test_an_admin_begins_the_count_anew():
    loop = CrashLoop("m")
    for _ in range(STARTS):
        loop.started()
        loop.ended(KILLED, 0.0)
    loop.reset()
    loop.started()
    assert loop.ended(KILLED, 0.0) == Verdict(0.0)


def test_a_model_that_could_not_be_loaded_is_tried_again_ever_more_rarely():
    loop = CrashLoop("m")
    assert [loop.load_failed().pause for _ in range(6)] == [30.0, 60.0, 120.0, 240.0, 300.0, 300.0]


# What a worker does: it ends before it is ready (None), or so many seconds after.
LIVES = st.lists(st.one_of(st.none(), st.floats(0.0, 1000.0)), max_size=40)


@given(LIVES)
def test_whatever_happens_a_worker_is_tried_again_within_five_minutes(lives):
    loop, at = CrashLoop("m"), 0.0
    for life in lives:
        loop.started()
        if life is not None:
            loop.ready(at)
            at += life
        verdict = loop.ended(KILLED, at)
        assert 0.0 <= verdict.pause <= LONGEST
        assert verdict.given_up == bool(verdict.sentence)
        at += verdict.pause


@given(LIVES)
def test_one_steady_life_forgives_everything(lives):
    loop, at = CrashLoop("m"), 0.0
    # Twice the bound: a life of exactly that length may be measured shorter, times being sums of floats.
    for life in [*lives, 2 * STEADY]:
        loop.started()
        if life is not None:
            loop.ready(at)
            at += life
        verdict = loop.ended(KILLED, at)
    assert verdict == Verdict(0.0)


@given(LIVES)
def test_pauses_never_shrink_while_nothing_gets_better(lives):
    loop, pauses = CrashLoop("m"), []
    for life in lives:
        loop.started()
        if life is not None and life < STEADY:
            loop.ready(0.0)
            pauses.append(loop.ended(KILLED, life).pause)
    assert pauses == sorted(pauses)
