"""The tree, on rows drawn by hypothesis and on a few written by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.history.tree import RowCounts, Tree, TreeNode
from duologue.errors import BadRequest

ROLES = ("system", "user", "assistant", "tool")


@st.composite
def rows(draw, least=1):
    """Rows whose parents came before them, as a conversation grows, in any order."""
    count = draw(st.integers(least, 40))
    grown: list[TreeNode] = []
    for number in range(count):
        parent = draw(st.sampled_from([None, *(node.id for node in grown)]))
        grown.append(TreeNode(f"m{number}", parent, draw(st.sampled_from(ROLES)), number + 1))
    return draw(st.permutations(grown))


@given(rows())
def test_a_path_leads_from_the_root_to_its_leaf(nodes):
    tree = Tree(nodes)
    for node in nodes:
        path = tree.path(node.id)
        assert path[-1] == node
        assert path[0].parent is None
        assert all(below.parent == above.id for above, below in itertools.pairwise(path))


@given(rows())
def test_every_row_is_a_child_of_its_parent_and_siblings_stand_by_age(nodes):
    tree = Tree(nodes)
    for node in nodes:
        siblings = tree.siblings(node.id)
        assert node in siblings
        assert siblings == tree.children(node.parent)
        assert list(siblings) == sorted(siblings, key=lambda node: node.sequence)


@given(rows())
def test_what_is_below_a_row_is_what_has_it_on_its_path(nodes):
    tree = Tree(nodes)
    for node in nodes:
        below = tree.descendants(node.id)
        assert {found.id for found in below} == {
            other.id for other in nodes if other != node and node in tree.path(other.id)
        }
        seen = {node.id}
        for found in below:
            assert found.parent in seen
            seen.add(found.id)


@given(rows())
def test_the_newest_leaf_has_no_children_and_none_below_is_newer(nodes):
    tree = Tree(nodes)
    for at in (None, *(node.id for node in nodes)):
        newest = tree.newest_leaf(at)
        assert newest is not None
        assert tree.children(newest) == ()
        assert at is None or at in {node.id for node in tree.path(newest)}
        leaves = [node for node in nodes if not tree.children(node.id)]
        within = [node for node in leaves if at is None or at in {step.id for step in tree.path(node.id)}]
        assert tree.node(newest) == max(within, key=lambda node: node.sequence)


@given(rows(), st.data())
def test_what_is_leaf_without_a_deletion_is_a_leaf_of_what_remains(nodes, data):
    tree = Tree(nodes)
    gone = data.draw(st.sampled_from(nodes))
    dead = {gone.id, *(node.id for node in tree.descendants(gone.id))}
    rest = Tree(node for node in nodes if node.id not in dead)
    left = tree.leaf_without(gone.id)
    if left is None:
        assert not rest.children(None)
    else:
        assert rest.children(left) == ()
        assert gone.parent is None or gone.parent in {node.id for node in rest.path(left)}


@given(rows(), st.data())
def test_a_fork_is_the_path_once_more_under_new_ids(nodes, data):
    tree = Tree(nodes)
    leaf = data.draw(st.sampled_from(nodes))
    numbers = itertools.count()
    copies = tree.fork(leaf.id, lambda: f"n{next(numbers)}")
    path = tree.path(leaf.id)
    assert list(copies) == [node.id for node in path]
    forked = Tree(copies.values())
    assert [node.role for node in forked.path(copies[leaf.id].id)] == [node.role for node in path]
    assert not {node.id for node in copies.values()} & {node.id for node in nodes}


@given(rows())
def test_counts_add_up(nodes):
    counts = Tree(nodes).counts(node.id for node in nodes)
    others = sum(1 for node in nodes if node.role == "system")
    assert counts.messages == len(nodes)
    assert counts.user + counts.assistant + counts.tool + others == len(nodes)


def test_an_empty_conversation_has_no_leaf_and_an_empty_path():
    tree = Tree(())
    assert tree.newest_leaf(None) is None
    assert tree.path(None) == ()
    assert tree.counts(()) == RowCounts()
    assert len(tree) == 0


def test_a_path_of_ten_thousand_rows_is_no_trouble():
    tree = Tree(TreeNode(str(at), str(at - 1) if at else None, "user", at) for at in range(10_000))
    assert tree.newest_leaf(None) == "9999"
    assert len(tree.path("9999")) == 10_000
    assert len(tree.descendants("0")) == 9_999


@pytest.mark.parametrize(
    "broken",
    [
        [TreeNode("a", None, "user", 1), TreeNode("a", None, "user", 2)],
        [TreeNode("a", "gone", "user", 1)],
        [TreeNode("a", "b", "user", 1), TreeNode("b", "a", "assistant", 2)],
        [TreeNode("a", "a", "user", 1)],
    ],
    ids=["an id twice", "a missing parent", "a circle", "its own parent"],
)
def test_rows_that_are_no_tree_are_refused(broken):
    with pytest.raises(BadRequest) as caught:
        Tree(broken)
    assert caught.value.code == "broken_tree"


@pytest.mark.parametrize(
    "ask", ["path", "children", "siblings", "newest_leaf", "descendants", "leaf_without"]
)
def test_a_row_that_is_not_there_is_a_key_error(ask):
    tree = Tree([TreeNode("a", None, "user", 1)])
    assert "b" not in tree
    with pytest.raises(KeyError):
        getattr(tree, ask)("b")
