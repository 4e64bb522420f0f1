"""Builds one valid tree of rows from the messages of another program: ids, parents and order.

Pure; used by the readers of all formats. Repairs a parent that is missing, dropped, or a descendant of its own child.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from duologue.conversations.importing.values import derived_id
from duologue.values.conversations import StoredMessage


class ImportedNode(Struct, frozen=True):
    """A message under its key in the source file. `row` None: it is not a message, and its children move up to its parent.
    The ids, parent and conversation of the row are set by `build_tree`."""

    key: str
    parent: str | None
    row: StoredMessage | None


class ImportedTree(Struct, frozen=True):
    """The rows, parents first and siblings by time, and the leaf of the branch that was shown."""

    rows: tuple[StoredMessage, ...]
    leaf: str | None
    problems: tuple[str, ...] = ()


def build_tree(
    user: str,
    conversation: str,
    nodes: Iterable[ImportedNode],
    current: str | None = None,
    *,
    created: int = 0,
) -> ImportedTree:
    """The rows of the conversation with the id `conversation`. `current`: the key of a message on the branch that was shown;
    by default the newest. A row without a time gets that of its parent, or `created`."""
    known: dict[str, ImportedNode] = {}
    duplicates = 0
    for node in nodes:
        duplicates += known.setdefault(node.key, node) is not node
    orphans = {key for key, node in known.items() if node.parent is not None and node.parent not in known}
    parents = {key: None if key in orphans else node.parent for key, node in known.items()}
    order, cut = parents_first(parents, {key: _time(node) for key, node in known.items()})
    parents |= dict.fromkeys(cut)
    row_ids: dict[str, str | None] = {}
    """The id of the nearest row at or above each node."""
    rows: list[StoredMessage] = []
    times: dict[str | None, int] = {None: created}
    for key in order:
        node, parent = known[key], parents[key]
        above = row_ids[parent] if parent is not None else None
        if node.row is None:
            row_ids[key] = above
            continue
        id = row_ids[key] = derived_id(user, conversation, key)
        times[id] = node.row.created or times[above]
        rows.append(
            msgspec.structs.replace(
                node.row, id=id, conversation=conversation, parent=above, created=times[id], sequence=0
            )
        )
    problems = [
        f"{sentence}: {number}."
        for number, sentence in (
            (duplicates, "messages with the same id, of which the first was used"),
            (len(orphans), "messages whose parent is missing, which now start a branch"),
            (len(cut), "messages that were their own ancestors, which now start a branch"),
        )
        if number
    ]
    rows = _with_call_names(rows)
    leaf = leaf_of(rows, row_ids.get(current) if current is not None else None)
    return ImportedTree(tuple(rows), leaf, tuple(problems))


def parents_first(
    parents: Mapping[str, str | None], times: Mapping[str, int]
) -> tuple[list[str], tuple[str, ...]]:
    """The keys, each after its parent, otherwise by time and then in the given order; and the keys that lost their parent,
    because the parent was below them. Every parent must be a key."""
    places = {key: number for number, key in enumerate(parents)}
    children: dict[str, list[str]] = {}
    for key, parent in parents.items():
        if parent is not None:
            children.setdefault(parent, []).append(key)
    ready = [(times[key], places[key], key) for key, parent in parents.items() if parent is None]
    heapq.heapify(ready)
    order: list[str] = []
    cut: list[str] = []
    done: set[str] = set()
    remaining = iter(parents)
    while True:
        while ready:
            _, _, key = heapq.heappop(ready)
            order.append(key)
            done.add(key)
            for child in children.get(key, ()):
                if child not in done:
                    heapq.heappush(ready, (times[child], places[child], child))
        # Whatever is left now is in a cycle, or below one: cut it at the first key.
        in_cycle = next((key for key in remaining if key not in done), None)
        if in_cycle is None:
            return order, tuple(cut)
        cut.append(in_cycle)
        ready.append((times[in_cycle], places[in_cycle], in_cycle))


def leaf_of(rows: Sequence[StoredMessage], current: str | None) -> str | None:
    """The newest leaf of the branch through the row `current`; of all rows when it is None."""
    newest: dict[str | None, str] = {row.parent: row.id for row in rows}
    if current is None:
        ends = [row for row in rows if row.id not in newest]
        return max(ends, key=lambda row: row.created).id if ends else None
    while current in newest:
        current = newest[current]
    return current


def _with_call_names(rows: list[StoredMessage]) -> list[StoredMessage]:
    """The rows, where each tool row has the name and arguments of its tool call."""
    calls = {call.id: call for row in rows for call in row.tool_calls}
    return [
        msgspec.structs.replace(
            row, call=msgspec.structs.replace(row.call, name=call.name, arguments=call.arguments)
        )
        if row.call is not None and not row.call.name and (call := calls.get(row.tool_call_id)) is not None
        else row
        for row in rows
    ]


def _time(node: ImportedNode) -> int:
    return node.row.created if node.row is not None else 0
