"""A path as a history any template takes."""

from duologue.conversations.history.prompt_messages import history
from duologue.values.conversations import StoredMessage, StoredToolCall, TextContent, ToolCallRecord


def row(id: str, role: str, text: str = "", **fields) -> StoredMessage:
    content = (TextContent(text),) if text else ()
    return StoredMessage(id, "c", None, role, content, **fields)  # type: ignore[arg-type]


def call(id: str, name: str = "clock") -> StoredToolCall:
    return StoredToolCall(id, name, "{}")


def told(*rows: StoredMessage) -> list[tuple[str, str]]:
    return [
        (entry.role, "".join(part.text for part in entry.content if isinstance(part, TextContent)))
        for entry in history(rows)
    ]


def test_a_plain_chat_is_as_it_was_said():
    rows = row("s", "system", "Be brief."), row("u", "user", "Hi"), row("a", "assistant", "Hello")
    assert told(*rows) == [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello")]


def test_reasoning_and_calls_are_kept():
    rows = (
        row("u", "user", "What time is it?"),
        row("a", "assistant", reasoning="I look.", tool_calls=(call("1"),)),
        row("t", "tool", "Noon", tool_call_id="1"),
        row("b", "assistant", "It is noon."),
    )
    asked = history(rows)[1]
    assert (asked.reasoning, asked.tool_calls) == ("I look.", (call("1"),))
    answer = history(rows)[2]
    assert (answer.role, answer.tool_call_id, answer.name) == ("tool", "1", "clock")


def test_an_active_summary_stands_for_everything_above_it():
    rows = (
        row("s", "system", "Be brief."),
        row("u", "user", "Long ago"),
        row("a", "assistant", "Indeed"),
        row("z", "user", "They spoke of old times.", kind="summary"),
        row("v", "user", "And now?"),
    )
    assert told(*rows) == [
        ("system", "Be brief.\n\nThey spoke of old times."),
        ("user", "And now?"),
    ]


def test_a_summary_without_a_system_message_makes_one():
    rows = (
        row("u", "user", "Long ago"),
        row("z", "user", "Old times.", kind="summary"),
        row("v", "user", "Now"),
    )
    assert [role for role, _ in told(*rows)] == ["system", "user"]


def test_a_summary_that_is_off_says_nothing():
    rows = (
        row("u", "user", "Long ago"),
        row("a", "assistant", "Indeed"),
        row("z", "user", "Old times.", kind="summary", active=False),
        row("v", "user", "Now"),
    )
    assert told(*rows) == [("user", "Long ago"), ("assistant", "Indeed"), ("user", "Now")]


def test_a_reply_that_failed_without_a_word_is_left_out_and_the_questions_are_one():
    rows = row("u", "user", "Hi"), row("a", "assistant", status="failed"), row("v", "user", "Hello?")
    assert told(*rows) == [("user", "Hi\n\nHello?")]


def test_what_was_said_before_it_broke_off_counts():
    rows = (
        row("u", "user", "Hi"),
        row("a", "assistant", "Hel", status="interrupted"),
        row("v", "user", "Yes?"),
    )
    assert told(*rows) == [("user", "Hi"), ("assistant", "Hel"), ("user", "Yes?")]


def test_thoughts_alone_are_left_out_unless_they_go_on():
    thought = row("a", "assistant", reasoning="Hmm", status="stopped")
    assert told(row("u", "user", "Hi"), thought, row("v", "user", "So?")) == [("user", "Hi\n\nSo?")]
    assert told(row("u", "user", "Hi"), thought) == [("user", "Hi"), ("assistant", "")]


def test_a_call_without_a_result_is_given_one():
    rows = (
        row("u", "user", "Hi"),
        row("a", "assistant", tool_calls=(call("1"), call("2"), call("3"))),
        row("t", "tool", "Noon", tool_call_id="2"),
        row("v", "user", "Go on"),
    )
    entries = history(rows)
    assert [(entry.role, entry.tool_call_id) for entry in entries] == [
        ("user", None),
        ("assistant", None),
        ("tool", "1"),
        ("tool", "2"),
        ("tool", "3"),
        ("user", None),
    ]
    assert "has no result" in told(*rows)[2][1]
    assert told(*rows)[3][1] == "Noon"


def test_a_result_without_words_says_how_it_went():
    rows = (
        row("a", "assistant", tool_calls=(call("1"), call("2"), call("3"))),
        row("t", "tool", tool_call_id="1", call=ToolCallRecord("clock", state="denied")),
        row("t2", "tool", tool_call_id="2", call=ToolCallRecord("clock", state="done")),
        row("t3", "tool", tool_call_id="3", call=ToolCallRecord("clock", state="running")),
    )
    assert [text for _, text in told(*rows)[1:]] == [
        "The user did not allow this call.",
        "The tool ran and gave no output.",
        "The call has no result: the reply ended before it was done.",
    ]


def test_a_model_that_names_all_its_calls_alike_gets_each_result_once():
    rows = (
        row("a", "assistant", tool_calls=(call("call", "one"), call("call", "two"))),
        row("t", "tool", "first", tool_call_id="call"),
        row("t2", "tool", "second", tool_call_id="call"),
        row("b", "assistant", tool_calls=(call("call", "three"),)),
        row("t3", "tool", "third", tool_call_id="call"),
    )
    assert [text for role, text in told(*rows) if role == "tool"] == ["first", "second", "third"]


def test_a_result_nobody_asked_for_is_left_out():
    rows = (
        row("a", "assistant", "Hello"),
        row("t", "tool", "Noon", tool_call_id="1"),
        row("u", "user", "Hi"),
        row("t2", "tool", "One", tool_call_id="1"),
    )
    assert told(*rows) == [("assistant", "Hello"), ("user", "Hi")]


def test_nothing_is_nothing():
    assert history(()) == ()
