"""No act of an admin is forgotten: every route that only admins may use is in the audit log under a name."""

from typing import Any, cast

import pytest
from fastapi.routing import APIRoute

from duologue.config import load
from duologue.gateway.app import Gateway
from duologue.gateway.audit.acts import ACTS
from duologue.gateway.auth.middleware import admin, keyed_admin
from duologue.gateway.middleware.admin_act import READING
from duologue.gateway.ollama_port import ollama_port
from duologue.tools import routes as tool_routes
from duologue.wire.worker_protocol import LoadSpec

IN_HANDLERS = {
    ("PATCH", "/api/mcp/servers/{name}"),
    ("POST", "/api/mcp/servers"),
    ("DELETE", "/api/mcp/servers/{name}"),
    ("DELETE", "/api/session/logins/{id}"),
    ("PATCH", "/api/assets/ref_audio/{id}"),
    ("PUT", "/api/avatars/{id}"),
}
"""Routes that ask for an admin inside, or only for some requests."""
COMING = {
    ("PATCH", "/api/keys/{id}"),
    ("POST", "/api/admin/workers/{name}/drain"),
    ("DELETE", "/api/admin/workers/{name}/drain"),
    ("POST", "/api/admin/restart"),
    ("POST", "/api/admin/drain"),
    ("DELETE", "/api/admin/drain"),
}
"""Names of routes that are not there yet."""


def routes_of(app) -> list[APIRoute]:
    found, left = [], list(app.routes)
    while left:
        route = left.pop()
        if isinstance(route, APIRoute):
            found.append(route)
        else:
            router = getattr(route, "original_router", None)
            left += [] if router is None else router.routes
    return found


@pytest.fixture(scope="module")
def applications(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    settings = load(None, {}, {"data": str(data), "engine": "scripted"})
    gateway = Gateway(settings, [LoadSpec("w", "scripted", "m")], announce=lambda line: None)
    port: Any = ollama_port(gateway)
    return gateway.app, port._ollama


def guarded(route: APIRoute) -> bool:
    left = [route.dependant]
    while left:
        dependant = left.pop()
        if dependant.call in (admin, keyed_admin):
            return True
        left += dependant.dependencies
    return False


def acts_of_admins(applications) -> set[tuple[str, str]]:
    return {
        (method, route.path.replace(":path}", "}"))
        for app in applications
        for route in routes_of(app)
        if guarded(route)
        for method in (route.methods or set()) - READING
    }


def test_every_act_of_an_admin_has_a_name_in_the_audit_log(applications):
    acts = acts_of_admins(applications)
    assert len(acts) > 20
    unnamed = sorted(acts - set(ACTS))
    assert not unnamed, f"name these in gateway/audit/acts.py: {unnamed}"


def test_every_name_belongs_to_a_route(applications):
    paths = {
        (method, route.path.replace(":path}", "}"))
        for app in applications
        for route in routes_of(app)
        for method in route.methods
    }
    mcp = {
        (method, route.path.replace(":path}", "}"))
        for route in routes_of(tool_routes.router(cast(Any, None), cast(Any, None)))
        for method in route.methods
    }
    assert set(ACTS) - paths - mcp - COMING == set()


def test_acts_are_marked_by_a_guard_or_known_by_their_path(applications):
    marked = acts_of_admins(applications)
    for address, act in ACTS.items():
        if address not in COMING:
            assert address in marked or act.known_by_path or address in IN_HANDLERS, address
