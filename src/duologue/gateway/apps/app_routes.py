"""`/api/apps`, for everyone, and `/api/admin/apps`: the modes of the server and their switches.

Owns these bodies. The MiniCPM-o demo's documentation switches an app by a body with its id, its pages by the path; both work.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from starlette.responses import RedirectResponse

from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.apps.modes import APPS
from duologue.gateway.auth.middleware import admin


class AppSwitch(BaseModel):
    """On or off."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool = Field(description="Whether the app can be used.")


class NamedAppSwitch(AppSwitch):
    """An app, on or off."""

    app_id: str = Field(
        validation_alias=AliasChoices("app_id", "id"), max_length=100, description="The app; also `id`."
    )


AppName = Annotated[str, Path(max_length=100)]


def router(apps: AppRegistry) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["apps"])

    @routes.get("/api/apps", summary="The modes of this server")
    async def usable_apps() -> dict[str, Any]:
        """`apps`: those that can be used. `unavailable`: the others, each with its `reason`."""
        rows = apps.rows()
        return {
            "apps": [row for row in rows if row["available"]],
            "unavailable": [row for row in rows if not row["available"]],
        }

    only_admins = [Depends(admin)]

    @routes.get("/api/admin/apps", summary="Every mode with its switch", dependencies=only_admins)
    async def every_app() -> dict[str, Any]:
        """Every app, also those that are switched off or that the loaded engines cannot do."""
        return {"apps": apps.rows()}

    @routes.get("/api/admin/apps/{app_id}", summary="One mode", dependencies=only_admins)
    async def one_app(app_id: AppName) -> dict[str, Any]:
        """The app."""
        return apps.row(app_id)

    @routes.put("/api/admin/apps", summary="Switch a mode on or off, by its name", dependencies=only_admins)
    async def switch_named(body: NamedAppSwitch) -> dict[str, Any]:
        """Kept over restarts. Running sessions end after their current reply; new ones are refused with `app_disabled`."""
        return await apps.switch(body.app_id, body.enabled)

    @routes.put("/api/admin/apps/{app_id}", summary="Switch a mode on or off", dependencies=only_admins)
    async def switch(app_id: AppName, body: AppSwitch) -> dict[str, Any]:
        """Kept over restarts. Running sessions end after their current reply; new ones are refused with `app_disabled`."""
        return await apps.switch(app_id, body.enabled)

    async def to_page() -> RedirectResponse:
        # Relative: the page may be under a path that a proxy puts before it.
        return RedirectResponse(".", 302)

    for app in APPS:
        routes.add_api_route(app.route, to_page, methods=["GET"], include_in_schema=False)
    return routes
