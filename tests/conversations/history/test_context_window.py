"""The context: what a model reads of a path, how full that is, and what is folded when it is too much."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.history.context_window import (
    ContextPart,
    estimate,
    fold,
    gauge,
    sent,
    size,
    turns,
)
from duologue.values.conversations import (
    DocumentContent,
    ImageContent,
    ResourceContent,
    StoredMessage,
    StoredToolCall,
    TextContent,
)


def row(name: str, text: str = "some words", **fields: object) -> StoredMessage:
    """A row by its name: s system, u user, a assistant, t tool, S summary; a number follows."""
    roles = {"s": "system", "u": "user", "a": "assistant", "t": "tool", "S": "system"}
    kind = "summary" if name[0] == "S" else "message"
    return StoredMessage(name, "c", None, roles[name[0]], (TextContent(text),), kind=kind, **fields)  # type: ignore[arg-type]


def path(names: str, text: str = "some words") -> list[StoredMessage]:
    return [row(name, text) for name in names.split()]


def names(rows: object) -> str:
    return " ".join(row.id for row in rows)  # type: ignore[attr-defined]


def test_a_model_gets_the_system_message_and_everything_from_the_last_active_summary() -> None:
    rows = path("s1 u1 a1 S1 u2 a2 S2 u3")
    assert names(sent(rows)) == "s1 S2 u3"
    rows[6] = row("S2", active=False)
    assert names(sent(rows)) == "s1 S1 u2 a2 S2 u3"
    assert names(sent(path("u1 a1"))) == "u1 a1"


def test_the_gauge_tells_parts_that_add_up_to_what_was_counted() -> None:
    rows = [*path("s1 u1 a1"), row("t1", "x" * 360), row("a2")]
    full = gauge(rows, tokens=1000, context=4096, estimated=False, tools=50)
    assert sum(part.tokens for part in full.parts) == 1000
    assert {part.what for part in full.parts} == {"system", "tools", "user", "assistant", "tool"}
    assert full.reply_room == 3096
    assert max(full.parts, key=lambda part: part.tokens).what == "tool"


def test_files_are_a_part_of_their_own() -> None:
    picture = StoredMessage("u", "c", None, "user", (TextContent("look"), ImageContent("b", "image/png")))
    parts = gauge([picture], tokens=305, context=512, estimated=True).parts
    assert parts == (ContextPart("user", 5), ContextPart("files", 300))


def test_what_words_do_not_take_is_the_files() -> None:
    document = StoredMessage(
        "u", "c", None, "user", (TextContent("read"), DocumentContent("b", "text/plain", text="t"))
    )
    for tokens in (50, 5000):
        parts = {
            part.what: part.tokens
            for part in gauge([document], tokens=tokens, context=9999, estimated=False).parts
        }
        assert parts == {"user": 5, "files": tokens - 5}


def test_an_empty_path_has_no_parts() -> None:
    assert gauge([], tokens=0, context=100, estimated=False).parts == ()


def test_a_prompt_over_its_context_leaves_no_room() -> None:
    assert gauge(path("u1"), tokens=200, context=100, estimated=False).reply_room == 0


def test_every_kind_of_content_takes_something() -> None:
    kinds = (
        DocumentContent("b", "application/pdf", pages=("1", "2"), given="pages"),
        DocumentContent("b", "text/plain", text="t"),
        ResourceContent("s", "u", text="words of it"),
        ResourceContent("s", "u", blob="b"),
    )
    for content in kinds:
        assert size(StoredMessage("u", "c", None, "user", (content,))) > 4
    calls = row("a1", "", tool_calls=(StoredToolCall("1", "look", "{}" * 100),))
    assert size(calls) > 50


def test_the_oldest_turns_are_folded_until_the_rest_fits() -> None:
    rows = path("s1 u1 a1 u2 a2 u3 a3 u4")
    each = size(rows[1])
    plan = fold(rows, tokens=estimate(rows), room=3 * each)
    assert plan is not None
    assert names(plan.folded) == "u1 a1 u2 a2"
    assert names(plan.kept) == "u3 a3 u4"
    assert plan.last.id == "a2"


def test_a_turn_is_never_cut() -> None:
    rows = path("u1 a1 t1 t2 a2 t3 a3 u2 a4")
    plan = fold(rows, tokens=estimate(rows), room=1)
    assert plan is not None
    assert names(plan.folded) == "u1 a1 t1 t2 a2 t3 a3"


def test_the_last_turn_is_always_kept() -> None:
    assert fold(path("s1 u1 a1 t1 a2"), tokens=10**6, room=0) is None
    assert fold(path("u1"), tokens=10**6, room=0) is None
    assert fold([], tokens=0, room=0) is None


def test_an_earlier_summary_is_folded_with_what_followed_it() -> None:
    plan = fold(path("s1 u1 a1 S1 u2 a2 u3"), tokens=1000, room=0)
    assert plan is not None
    assert names(plan.folded) == "S1 u2 a2"


def test_a_summary_alone_is_not_folded_again() -> None:
    assert fold(path("u1 a1 S1 u2 a2"), tokens=1000, room=0) is None


def test_folding_that_gains_nothing_is_not_planned() -> None:
    rows = path("u1 a1 u2")
    assert fold(rows, tokens=estimate(rows), room=0, least=10_000) is None


def test_what_was_really_counted_decides_and_not_the_estimate() -> None:
    rows = path("u1 a1 u2 a2 u3")
    each = size(rows[0])
    easy, hard = (fold(rows, tokens=tokens, room=3 * each) for tokens in (5 * each, 50 * each))
    assert easy is not None
    assert hard is not None
    assert names(easy.kept) == "u2 a2 u3"
    assert names(hard.kept) == "u3"


def test_rows_come_in_turns() -> None:
    assert [names(turn) for turn in turns(path("a0 u1 a1 t1 a2 u2"))] == ["a0", "u1 a1 t1 a2", "u2"]


@given(st.lists(st.sampled_from("suatS"), max_size=20), st.integers(0, 500), st.integers(0, 5000))
def test_whatever_the_path_a_fold_loses_nothing_and_keeps_a_turn(
    kinds: list[str], room: int, tokens: int
) -> None:
    rows = [row(f"{kind}{number}") for number, kind in enumerate(kinds)]
    plan = fold(rows, tokens=tokens, room=room)
    if plan is not None:
        whole = [part.id for part in sent(rows) if part.id[0] != "s"]
        assert [part.id for part in (*plan.folded, *plan.kept)] == whole
        assert plan.kept[0].id[0] == "u"
        assert any(part.kind == "message" for part in plan.folded)
