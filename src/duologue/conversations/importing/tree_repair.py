"""Other programs' messages as rows of one tree: ids, parents and order made right, whatever was wrong with them.

Pure. Owns the repair: a parent that is missing, dropped or its own descendant. Knows no format.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from duologue.conversations.importing.values import derived
from duologue.values.conversations import StoredMessage


class ImportedNode(Struct, frozen=True):
    """A message by the key it has where it comes from. `row` None: it is no message, and its children move up to its
    parent. Ids, parent and conversation of the row are made here."""

    key: str
    parent: str | None
    row: StoredMessage | None


class Grown(Struct, frozen=True):
    """The rows, parents first and siblings by time; the leaf of the branch that was looked at."""

    rows: tuple[StoredMessage, ...]
    leaf: str | None
    troubles: tuple[str, ...] = ()


def grown(
    user: str,
    conversation: str,
    nodes: Iterable[ImportedNode],
    current: str | None = None,
    *,
    created: int = 0,
) -> Grown:
    """The rows of `conversation`, which has its id already. `current` is the key of a message on the branch shown;
    without it, it is the newest. A row without a time has its parent's, or `created`."""
    known: dict[str, ImportedNode] = {}
    twice = 0
    for node in nodes:
        twice += known.setdefault(node.key, node) is not node
    lost = {key for key, node in known.items() if node.parent is not None and node.parent not in known}
    parents = {key: None if key in lost else node.parent for key, node in known.items()}
    order, cut = parents_first(parents, {key: _time(node) for key, node in known.items()})
    parents |= dict.fromkeys(cut)
    kept: dict[str, str | None] = {}
    """The nearest message at or above each node."""
    rows: list[StoredMessage] = []
    times: dict[str | None, int] = {None: created}
    for key in order:
        node, parent = known[key], parents[key]
        above = kept[parent] if parent is not None else None
        if node.row is None:
            kept[key] = above
            continue
        id = kept[key] = derived(user, conversation, key)
        times[id] = node.row.created or times[above]
        rows.append(
            msgspec.structs.replace(
                node.row, id=id, conversation=conversation, parent=above, created=times[id], sequence=0
            )
        )
    troubles = [
        f"{words}: {number}."
        for number, words in (
            (twice, "messages that came twice, of which the first was kept"),
            (len(lost), "messages whose parent is missing, which now begin a branch"),
            (len(cut), "messages that followed each other in a circle, which was cut"),
        )
        if number
    ]
    rows = _answered(rows)
    leaf = leaf_of(rows, kept.get(current) if current is not None else None)
    return Grown(tuple(rows), leaf, tuple(troubles))


def parents_first(
    parents: Mapping[str, str | None], times: Mapping[str, int]
) -> tuple[list[str], tuple[str, ...]]:
    """The keys, each after its parent and otherwise by time and in the order given; and the keys whose parent had to
    be taken away, because it was below them. Every parent must be a key."""
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
    left = iter(parents)
    while True:
        while ready:
            _, _, key = heapq.heappop(ready)
            order.append(key)
            done.add(key)
            for child in children.get(key, ()):
                if child not in done:
                    heapq.heappush(ready, (times[child], places[child], child))
        circled = next((key for key in left if key not in done), None)
        if circled is None:
            return order, tuple(cut)
        cut.append(circled)
        ready.append((times[circled], places[circled], circled))


def leaf_of(rows: Sequence[StoredMessage], current: str | None) -> str | None:
    """The end of the branch that goes through the row `current`: its newest leaf. Of all rows, without it."""
    newest: dict[str | None, str] = {row.parent: row.id for row in rows}
    if current is None:
        ends = [row for row in rows if row.id not in newest]
        return max(ends, key=lambda row: row.created).id if ends else None
    while current in newest:
        current = newest[current]
    return current


def _answered(rows: list[StoredMessage]) -> list[StoredMessage]:
    """The rows, each tool's with the name and arguments of the call it answers."""
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
