"""The loop, driven by hypothesis through everything that can happen, and by hand through what must."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.agent import loop
from duologue.conversations.agent.loop import (
    AddToolCalls,
    Agent,
    AskApproval,
    CancelTurn,
    EndToolCall,
    Finish,
    RunToolCall,
    StartTurn,
    TakeSteering,
    ToolCallVerdict,
    judge_tool_call,
)
from duologue.values.conversations import RowError, StoredToolCall

RUN, ASK, REJECT = (
    ToolCallVerdict("run"),
    ToolCallVerdict("ask"),
    ToolCallVerdict("reject", text="no such tool"),
)
ERROR = RowError("model", "engine_failed", "It broke.")


def agent(max_turns=3, parallel=2):
    machine = Agent(max_turns=max_turns, parallel=parallel)
    assert machine.begin() == [StartTurn()]
    return machine


def test_a_turn_without_calls_is_the_end():
    assert agent().turn_ended(()) == [Finish("done")]


def test_calls_run_up_to_the_cap_and_the_next_when_one_ends():
    machine = agent()
    assert machine.turn_ended([RUN, RUN, RUN]) == [AddToolCalls(), RunToolCall(0), RunToolCall(1)]
    assert machine.tool_call_ended(1) == [RunToolCall(2)]
    assert machine.tool_call_ended(0) == []
    assert machine.tool_call_ended(2) == [StartTurn()]
    assert machine.turn_ended(()) == [Finish("done")]
    assert (machine.turns, machine.tool_calls) == (2, 3)


def test_a_question_holds_up_nobody_else():
    machine = agent(parallel=1)
    assert machine.turn_ended([ASK, RUN]) == [AddToolCalls(), AskApproval(0), RunToolCall(1)]
    assert machine.tool_call_ended(1) == []
    assert machine.approval_decided(0, "allowed") == [RunToolCall(0)]
    assert machine.tool_call_ended(0) == [StartTurn()]


@pytest.mark.parametrize(
    ("answer", "state", "text"),
    [("denied", "denied", loop.DENIED), ("expired", "expired", loop.EXPIRED)],
)
def test_a_call_that_may_not_run_is_told_to_the_model_and_the_loop_goes_on(answer, state, text):
    machine = agent()
    machine.turn_ended([ASK])
    assert machine.approval_decided(0, answer) == [EndToolCall(0, state, text), StartTurn()]


def test_a_call_nobody_can_make_is_told_to_the_model_and_the_loop_goes_on():
    assert agent().turn_ended([REJECT]) == [
        AddToolCalls(),
        EndToolCall(0, "failed", "no such tool"),
        StartTurn(),
    ]


def test_the_limit_comes_after_the_results_of_the_last_turn_allowed():
    machine = agent(max_turns=2)
    machine.turn_ended([RUN])
    assert machine.tool_call_ended(0) == [StartTurn()]
    machine.turn_ended([RUN])
    assert machine.tool_call_ended(0) == [Finish("limit")]


def test_a_new_message_skips_what_has_not_begun_and_waits_for_what_has():
    machine = agent(parallel=1)
    machine.turn_ended([RUN, RUN, ASK])
    assert machine.steered() == [
        EndToolCall(1, "skipped", loop.STEERED),
        EndToolCall(2, "skipped", loop.STEERED),
    ]
    assert machine.tool_call_ended(0) == [TakeSteering(), StartTurn()]


def test_a_new_message_during_a_turn_goes_in_when_the_turn_has_ended():
    machine = agent()
    assert machine.steered() == []
    assert machine.turn_ended(()) == [TakeSteering(), StartTurn()]
    assert machine.steered() == []
    assert machine.turn_ended([RUN]) == [
        AddToolCalls(),
        EndToolCall(0, "skipped", loop.STEERED),
        TakeSteering(),
        StartTurn(),
    ]


def test_a_new_message_that_was_taken_back_changes_nothing():
    machine = agent()
    machine.steered()
    machine.unsteered()
    assert machine.turn_ended([RUN]) == [AddToolCalls(), RunToolCall(0)]


def test_a_new_message_at_the_limit_begins_the_count_anew():
    machine = agent(max_turns=1)
    machine.turn_ended([RUN])
    machine.steered()
    assert machine.tool_call_ended(0) == [TakeSteering(), StartTurn()]


def test_stopping_a_turn_cuts_it():
    assert agent().end("stopped") == [CancelTurn(), Finish("stopped")]


def test_stopping_among_calls_ends_each_of_them():
    machine = agent(parallel=1)
    machine.turn_ended([RUN, RUN, ASK])
    assert machine.end("stopped") == [
        EndToolCall(0, "skipped", loop.STOPPED_RUNNING, running=True),
        EndToolCall(1, "skipped", loop.STOPPED),
        EndToolCall(2, "skipped", loop.STOPPED),
        Finish("stopped"),
    ]
    assert machine.tool_call_ended(0) == []
    assert machine.end("stopped") == []


def test_a_failed_turn_ends_the_run():
    assert agent().turn_failed(ERROR) == [Finish("failed", ERROR)]


def test_open_calls_of_an_earlier_run_are_taken_up():
    machine = Agent(max_turns=1, parallel=4)
    assert machine.resume([RUN]) == [AddToolCalls(), RunToolCall(0)]


FACTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("turn_ended"), st.lists(st.sampled_from([RUN, ASK, REJECT]), max_size=5).map(tuple)
        ),
        st.tuples(st.just("call_ended"), st.integers(0, 4)),
        st.tuples(
            st.just("answered"),
            st.tuples(st.integers(0, 4), st.sampled_from(["allowed", "denied", "expired"])),
        ),
        st.tuples(st.just("steered"), st.none()),
        st.tuples(st.just("turn_failed"), st.just(ERROR)),
        st.tuples(st.just("end"), st.sampled_from(["stopped", "interrupted", "failed"])),
    ),
    max_size=60,
)


@given(FACTS, st.integers(1, 3), st.integers(1, 3))
def test_whatever_happens_the_history_is_well_formed(facts, max_turns, parallel):
    """Plays a shell that keeps books: every call ends once, nothing begins while a call is open, one end comes last."""
    machine = Agent(max_turns=max_turns, parallel=parallel)
    open_calls: dict[int, str] = {}
    turn, over, spent, added = False, False, 0, 0

    def carry_out(actions):
        nonlocal turn, over, spent, open_calls
        for action in actions:
            assert not over, "nothing comes after the end"
            match action:
                case StartTurn():
                    assert not turn
                    assert not open_calls
                    turn = True
                case AddToolCalls():
                    open_calls = dict.fromkeys(range(added), "ready")
                    spent += 1
                    assert spent <= max_turns
                case AskApproval(call):
                    assert open_calls[call] == "ready"
                    open_calls[call] = "asked"
                case RunToolCall(call):
                    assert open_calls[call] in ("ready", "allowed")
                    open_calls[call] = "running"
                    assert list(open_calls.values()).count("running") <= parallel
                case EndToolCall(call, _, text, running):
                    assert text
                    assert (open_calls.pop(call) == "running") == running
                case TakeSteering():
                    assert not open_calls
                    spent = 0
                case CancelTurn():
                    assert turn
                    turn = False
                case Finish():
                    assert not turn
                    assert not open_calls
                    over = True

    carry_out(machine.begin())
    for kind, value in facts:
        match kind:
            case "turn_ended" if turn:
                turn, added = False, len(value)
                carry_out(machine.turn_ended(value))
            case "turn_failed" if turn:
                turn = False
                carry_out(machine.turn_failed(value))
            case "call_ended" if open_calls.get(value) == "running":
                del open_calls[value]
                carry_out(machine.tool_call_ended(value))
            case "answered" if open_calls.get(value[0]) == "asked":
                if value[1] == "allowed":
                    open_calls[value[0]] = "allowed"
                carry_out(machine.approval_decided(*value))
            case "steered":
                carry_out(machine.steered())
            case "end":
                carry_out(machine.end(value))
                assert over
        if not over and not turn:
            assert open_calls, "a run that does nothing and waits for nothing would hang"
            assert {"asked", "running"} & set(open_calls.values())


def test_an_unknown_tool_is_rejected_with_the_names_there_are():
    judged = judge_tool_call(StoredToolCall("1", "clok", "{}"), {"clock": True, "fetch": False})
    assert judged.verdict == "reject"
    assert "clok" in judged.text
    assert "clock, fetch" in judged.text


@pytest.mark.parametrize("arguments", ["{", "[1]", '"x"', "{'a': 1}", "nothing"])
def test_arguments_that_are_no_json_object_are_rejected_with_the_fault(arguments):
    judged = judge_tool_call(StoredToolCall("1", "clock", arguments), {"clock": True})
    assert judged.verdict == "reject"
    assert "JSON" in judged.text


@pytest.mark.parametrize(("arguments", "expected"), [("", {}), ("  ", {}), ('{"a": [1]}', {"a": [1]})])
def test_a_call_runs_or_asks_as_its_tool_may(arguments, expected):
    assert judge_tool_call(StoredToolCall("1", "clock", arguments), {"clock": True}) == ToolCallVerdict(
        "run", expected
    )
    assert judge_tool_call(StoredToolCall("1", "clock", arguments), {"clock": False}) == ToolCallVerdict(
        "ask", expected
    )
