"""One stored object that any gateway of a database may read and change.

Holds what admins switch while the server runs: modes (`apps`), drains (`life`), chat templates (`tuning`). `gateway/sharing.py` tells the other gateways about
each change, and has their changes read here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class SettingStore(Protocol):
    """Where it is kept: `store.server_settings`. Raises Unavailable."""

    async def get(self, name: str) -> dict[str, Any]: ...

    async def change(
        self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]: ...


class SharedSetting:
    """`name`: that of the stored object."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._store: SettingStore | None = None
        self._changes = 0
        """How often this gateway has changed it."""
        self.on_stored: Callable[[], None] = lambda: None
        """Called when this gateway has stored a change."""

    def use(self, store: SettingStore) -> None:
        """Keep the object in this store from now on. Before, nothing is stored."""
        self._store = store

    @property
    def is_stored(self) -> bool:
        return self._store is not None

    async def read(self) -> dict[str, Any] | None:
        """What is stored; None without a store. Raises Unavailable."""
        if self._store is None:
            return None
        before = -1
        while before != self._changes:
            # A change of this gateway was stored during the read, so the result is old.
            before = self._changes
            stored = await self._store.get(self._name)
        return stored

    async def change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any] | None:
        """Apply `change` to the stored object, which another gateway may just have changed, and store the result. Returns it; None without a store. Raises Unavailable."""
        if self._store is None:
            return None
        stored = await self._store.change(self._name, change)
        self._changes += 1
        self.on_stored()
        return stored
