"""The tree of a conversation's rows: paths, branches, and the rows below a row.

Pure; used by editing, run plans and the stores' readers. A row has only its parent; everything else is derived here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from duologue.errors import BadRequest
from duologue.values.messages import Role


class TreeRow(Protocol):
    """What a tree needs of a row; `values.conversations.StoredMessage` is one."""

    @property
    def id(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def role(self) -> Role: ...
    @property
    def sequence(self) -> int: ...


class TreeNode(Struct, frozen=True):
    """One row: `sequence` orders siblings, `parent` is None for a child of the root."""

    id: str
    parent: str | None
    role: Role
    sequence: int = 0


class RowCounts(Struct, frozen=True):
    """The number of rows, in total and by role. The rest of `messages` are system rows."""

    messages: int = 0
    user: int = 0
    assistant: int = 0
    tool: int = 0


class Tree:
    """Rows as a tree, from any order. Raises BadRequest(code="broken_tree") for duplicate ids, missing parents and cycles. The
    methods raise KeyError for an unknown row."""

    def __init__(self, rows: Iterable[TreeRow]) -> None:
        self._nodes: dict[str, TreeNode] = {}
        self._children: dict[str | None, list[TreeNode]] = {}
        for row in sorted(rows, key=lambda row: row.sequence):
            if row.id in self._nodes:
                raise _broken(f"the message {row.id} occurs twice")
            node = TreeNode(row.id, row.parent, row.role, row.sequence)
            self._nodes[node.id] = node
            self._children.setdefault(node.parent, []).append(node)
        for parent in self._children:
            if parent is not None and parent not in self._nodes:
                raise _broken(f"the message {parent} is missing, and others follow it")
        if sum(1 for _ in self._below(None)) != len(self._nodes):
            raise _broken("some messages are their own ancestors")

    def __contains__(self, id: str) -> bool:
        return id in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, id: str) -> TreeNode:
        return self._nodes[id]

    def path(self, leaf: str | None) -> tuple[TreeNode, ...]:
        """From the child of the root down to `leaf`; empty for None."""
        nodes = []
        id = leaf
        while id is not None:
            node = self._nodes[id]
            nodes.append(node)
            id = node.parent
        return tuple(reversed(nodes))

    def children(self, id: str | None) -> tuple[TreeNode, ...]:
        """The rows directly below `id` (None: the root), oldest first."""
        if id is not None:
            self._nodes[id]  # raises KeyError
        return tuple(self._children.get(id, ()))

    def siblings(self, id: str) -> tuple[TreeNode, ...]:
        """The rows with the same parent as `id`, itself included, oldest first."""
        return self.children(self._nodes[id].parent)

    def newest_leaf(self, id: str | None) -> str | None:
        """The newest row without children, at or below `id` (None: in the whole tree)."""
        below = self._below(id) if id is None else (self._nodes[id], *self._below(id))
        leaves = [node for node in below if node.id not in self._children]
        return max(leaves, key=lambda node: node.sequence).id if leaves else None

    def descendants(self, id: str) -> tuple[TreeNode, ...]:
        """Every row below `id`, parents before their children, without `id` itself."""
        self._nodes[id]  # raises KeyError
        return tuple(self._below(id))

    def counts(self, ids: Iterable[str]) -> RowCounts:
        """How many of `ids` there are by role."""
        roles = [self._nodes[id].role for id in ids]
        return RowCounts(len(roles), roles.count("user"), roles.count("assistant"), roles.count("tool"))

    def leaf_without(self, id: str) -> str | None:
        """The leaf to show when `id` and everything below it is deleted: the newest leaf beside it, else its parent."""
        parent = self._nodes[id].parent
        deleted = {id, *(node.id for node in self.descendants(id))}
        beside = [
            node for node in self._below(parent) if node.id not in deleted and node.id not in self._children
        ]
        return max(beside, key=lambda node: node.sequence).id if beside else parent

    def fork(self, leaf: str, new_id: Callable[[], str]) -> dict[str, TreeNode]:
        """A copy of the path to `leaf` under new ids: by the old id, in the order of the path."""
        copies: dict[str, TreeNode] = {}
        parent: str | None = None
        for node in self.path(leaf):
            copy = TreeNode(new_id(), parent, node.role, node.sequence)
            copies[node.id] = copy
            parent = copy.id
        return copies

    def _below(self, id: str | None) -> Iterable[TreeNode]:
        waiting = list(reversed(self._children.get(id, ())))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(self._children.get(node.id, ())))


def _broken(reason: str) -> BadRequest:
    return BadRequest(f"These messages are not a conversation: {reason}.", code="broken_tree")
