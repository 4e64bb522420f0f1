from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.history.tree import Tree
from duologue.conversations.importing.tree_repair import ImportedNode, build_tree, leaf_of, parents_first
from duologue.values.conversations import StoredMessage, StoredToolCall, ToolCallRecord


def row(role="user", created=0, **more) -> StoredMessage:
    return StoredMessage("", "", None, role, created=created, **more)


def parents(tree) -> list[int | None]:
    """Which row each row answers, by their places."""
    places = {one.id: place for place, one in enumerate(tree.rows)}
    return [None if one.parent is None else places[one.parent] for one in tree.rows]


def test_children_of_what_is_no_message_move_up():
    nodes = [
        ImportedNode("r", None, None),
        ImportedNode("a", "r", row()),
        ImportedNode("x", "a", None),
        ImportedNode("b", "x", row()),
    ]
    assert parents(build_tree("u", "c", nodes)) == [None, 0]


def test_a_lost_parent_begins_a_branch_and_is_told():
    tree = build_tree("u", "c", [ImportedNode("a", "gone", row()), ImportedNode("b", "a", row())])
    assert parents(tree) == [None, 0]
    assert "parent is missing" in tree.problems[0]


def test_a_cycle_of_parents_is_cut_and_reported():
    tree = build_tree(
        "u",
        "c",
        [ImportedNode("a", "b", row()), ImportedNode("b", "a", row()), ImportedNode("c", "c", row())],
    )
    assert parents(tree) == [None, 0, None]
    assert "their own ancestors" in tree.problems[0]


def test_a_message_that_came_twice_is_kept_once():
    tree = build_tree(
        "u", "c", [ImportedNode("a", None, row(model="first")), ImportedNode("a", None, row(model="second"))]
    )
    assert [one.model for one in tree.rows] == ["first"]
    assert tree.problems


def test_siblings_come_by_time_and_parents_first():
    nodes = [
        ImportedNode("late", "a", row(created=9)),
        ImportedNode("early", "a", row(created=5)),
        ImportedNode("a", None, row(created=7)),
    ]
    assert [one.created for one in build_tree("u", "c", nodes).rows] == [7, 5, 9]


def test_a_row_without_a_time_has_its_parents():
    nodes = [
        ImportedNode("a", None, row()),
        ImportedNode("b", "a", row(created=70)),
        ImportedNode("c", "b", row()),
    ]
    assert [one.created for one in build_tree("u", "c", nodes, created=50).rows] == [50, 70, 70]


def test_the_leaf_ends_the_branch_that_was_looked_at():
    nodes = [
        ImportedNode("a", None, row(created=1)),
        ImportedNode("b", "a", row(created=2)),
        ImportedNode("c", "b", row(created=3)),
        ImportedNode("d", "a", row(created=4)),
    ]
    ids = {one.created: one.id for one in build_tree("u", "c", nodes).rows}
    assert build_tree("u", "c", nodes, "b").leaf == ids[3]
    assert build_tree("u", "c", nodes, "a").leaf == ids[4]
    assert build_tree("u", "c", nodes, "unknown").leaf == ids[4]
    assert build_tree("u", "c", []).leaf is None
    assert leaf_of([], None) is None


def test_a_tools_row_learns_which_call_it_answers():
    call = StoredToolCall("1", "clock", "{}")
    nodes = [
        ImportedNode("a", None, row("assistant", tool_calls=(call,))),
        ImportedNode("b", "a", row("tool", tool_call_id="1", call=ToolCallRecord("", state="done"))),
        ImportedNode("c", "b", row("tool", tool_call_id="2", call=ToolCallRecord("", state="done"))),
    ]
    assert [one.call.name for one in build_tree("u", "c", nodes).rows[1:]] == ["clock", ""]


keys = st.text("abcdef", max_size=1)


@given(st.lists(st.tuples(keys, st.none() | keys, st.booleans(), st.integers(0, 5)), max_size=20))
def test_whatever_comes_a_tree_goes_out(raw):
    nodes = [
        ImportedNode(key, parent, row(created=created) if real else None)
        for key, parent, real, created in raw
    ]
    tree = build_tree("u", "c", nodes)
    seen: set[str | None] = {None}
    for one in tree.rows:
        assert one.parent in seen
        seen.add(one.id)
    assert tree.leaf in seen
    assert len(Tree(tree.rows)) == len({key for key, _, _, _ in raw}) - len(
        {node.key for place, node in enumerate(nodes) if node.row is None and _is_first(nodes, place)}
    )


def _is_first(nodes, place) -> bool:
    return all(node.key != nodes[place].key for node in nodes[:place])


@given(st.dictionaries(st.integers(0, 9).map(str), st.none() | st.integers(0, 9).map(str)))
def test_the_order_holds_every_key_once(tree):
    tree = {key: parent if parent in tree else None for key, parent in tree.items()}
    order, cut = parents_first(tree, dict.fromkeys(tree, 0))
    assert sorted(order) == sorted(tree)
    for key in set(tree) - set(cut):
        assert tree[key] is None or order.index(tree[key]) < order.index(key)
