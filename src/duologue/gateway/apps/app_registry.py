"""Which modes are switched on. Owns the switches, keeps them over restarts, and tells sessions when theirs goes off.

Read by every socket before a session begins, changed by `app_routes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from duologue.errors import Forbidden, NotFound
from duologue.gateway.apps.modes import APPS, Abilities, App, AppId, Reason, disabled_reason, standing
from duologue.gateway.cluster.shared_setting import SettingStore, SharedSetting
from duologue.notifier import Notifier


class AppRegistry:
    """All apps are on until `use` has read the stored switches. `on_change` is called after each change, here or at another gateway."""

    def __init__(
        self,
        abilities: Callable[[], Abilities] = Abilities,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._abilities, self._on_change = abilities, on_change
        self._off: frozenset[str] = frozenset()
        self.setting = SharedSetting("apps")
        self._changed = Notifier()

    async def use(self, store: SettingStore) -> None:
        """Read the switches, and keep changes there. Raises Unavailable."""
        self.setting.use(store)
        self._off = _known(await self.setting.read() or {})

    async def reload(self) -> None:
        """Read the switches again: another gateway may have changed them. Raises Unavailable."""
        if (stored := await self.setting.read()) is not None:
            self._change(_known(stored))

    def is_enabled(self, *ids: AppId) -> bool:
        """Whether one of these is switched on."""
        return any(id not in self._off for id in ids)

    def require(self, *ids: AppId) -> None:
        """Raises Forbidden `app_disabled` where all of these are switched off."""
        if not self.is_enabled(*ids):
            told = disabled_reason(self._find(ids[0]))
            raise Forbidden(told.message, code=told.code)

    async def until_disabled(self, *ids: AppId) -> None:
        """Return once all of these are switched off."""
        while self.is_enabled(*ids):
            await self._changed.wait()

    async def switch(self, id: str, enabled: bool) -> dict[str, Any]:
        """Switch an app on or off; gives its row. Raises NotFound, and Unavailable where that cannot be stored."""
        app = self._find(id)
        stored = await self.setting.change(
            lambda old: {"off": sorted(_switched(old.get("off", ()), app.id, enabled))}
        )
        self._change(_switched(self._off, app.id, enabled) if stored is None else _known(stored))
        return self._row(app)

    def _change(self, off: frozenset[str]) -> None:
        if off != self._off:
            self._off = off
            self._changed.notify()
            self._on_change()

    def row(self, id: str) -> dict[str, Any]:
        """One app. Raises NotFound."""
        return self._row(self._find(id))

    def rows(self) -> list[dict[str, Any]]:
        """Every app, with what it needs and why it cannot be used."""
        return [self._row(app) for app in APPS]

    def standings(self) -> dict[str, dict[str, Any]]:
        """Whether each app can be used, by which kind of engine, and why not."""
        return {app.id: self._standing(app) for app in APPS}

    @staticmethod
    def _find(id: str) -> App:
        for app in APPS:
            if app.id == id:
                return app
        known = ", ".join(app.id for app in APPS)
        raise NotFound(f"There is no app {id[:100]!r}. Known: {known}.", code="app_not_found", param="app_id")

    def _row(self, app: App) -> dict[str, Any]:
        enabled = self.is_enabled(app.id)
        return {
            "app_id": app.id,
            "id": app.id,
            "name": app.name,
            "description": app.description,
            "route": app.route,
            "enabled": enabled,
            "needs": list(app.needs),
            "endpoints": list(app.endpoints),
            **self._standing(app),
        }

    def _standing(self, app: App) -> dict[str, Any]:
        found = standing(app, self.is_enabled(app.id), self._abilities())
        return {
            "available": found.reason is None,
            "reason": _reason(found.reason),
            "native": list(found.native),
            "native_reason": _reason(found.native_reason),
            "cascade": found.cascade,
            "cascade_reason": _reason(found.cascade_reason),
        }


def _known(stored: Mapping[str, Any]) -> frozenset[str]:
    """The apps that are off. A newer gateway may have stored others."""
    return frozenset(stored.get("off", ())) & {app.id for app in APPS}


def _switched(off: Iterable[str], id: str, enabled: bool) -> frozenset[str]:
    return frozenset(off) - {id} if enabled else frozenset(off) | {id}


def _reason(reason: Reason | None) -> dict[str, str] | None:
    return None if reason is None else {"code": reason.code, "message": reason.message}
