"""Which rows a step reads and writes."""

from duologue.engines.huggingface.batch_plan import ALONE, ROOM, RowState, StepPlan, plan_step


def test_every_reply_is_written_and_one_prompt_read() -> None:
    rows = [RowState(1, False), RowState(2, True), RowState(3, False), RowState(4, True)]
    assert plan_step(rows) == StepPlan(2, (1, 3))


def test_prompts_take_turns() -> None:
    rows = [RowState(number, True) for number in (2, 5, 7)]
    read, last = [], -1
    for _ in range(5):
        last = plan_step(rows, last).reading or 0
        read.append(last)
    assert read == [2, 5, 7, 2, 5]


def test_a_prompt_alone_is_read_in_larger_parts() -> None:
    assert plan_step([RowState(0, True)]).share == ALONE
    assert plan_step([RowState(0, True), RowState(1, False)]).share == 1


def test_who_does_not_read_waits_and_nobody_else_does() -> None:
    rows = [RowState(0, False, ROOM), RowState(1, False, ROOM - 1), RowState(2, True, ROOM)]
    assert plan_step(rows) == StepPlan(None, (1,))
    assert plan_step(rows[:1]).is_empty
    assert plan_step([]).is_empty
