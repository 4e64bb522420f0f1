"""The conversations API as one router: every route is there, documented, and its own."""

import pytest
from tests.support.conversation_service import Site

pytestmark = pytest.mark.anyio


async def test_every_route_of_the_api_is_there(site: Site) -> None:
    described = site.app.openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    expected = """
        GET /api/conversations | POST /api/conversations | POST /api/conversations/bulk
        GET /api/conversations/{id} | PATCH /api/conversations/{id} | DELETE /api/conversations/{id}
        POST /api/conversations/{id}/restore | POST /api/conversations/{id}/fork | PUT /api/conversations/{id}/system
        PATCH /api/conversations/{id}/messages/{message} | DELETE /api/conversations/{id}/messages/{message}
        GET /api/conversations/{id}/messages/{message}/deletion | GET /api/conversations/{id}/context
        POST /api/conversations/{id}/compact | POST /api/conversations/{id}/title | POST /api/conversations/{id}/runs
        GET /api/runs/{run} | GET /api/runs/{run}/events | POST /api/runs/{run}/stop | POST /api/runs/{run}/steer
        GET /api/approvals | POST /api/approvals/{id} | GET /api/conversations/{id}/pending
        GET /api/conversations/{id}/pending/{pending} | PATCH /api/conversations/{id}/pending/{pending}
        DELETE /api/conversations/{id}/pending/{pending} | GET /api/events | GET /api/search | GET /api/tags
        GET /api/folders | PUT /api/folders/{id} | DELETE /api/folders/{id} | GET /api/drafts/{conversation}
        PUT /api/drafts/{conversation} | DELETE /api/drafts/{conversation} | GET /api/settings | PATCH /api/settings
        GET /api/permissions | DELETE /api/permissions | POST /api/import | GET /api/export
        GET /api/conversations/{id}/export | POST /api/blobs | GET /api/blobs/{hash}
        GET /api/blobs/{hash}/thumbnail | GET /api/mcp
    """
    wanted = {route.strip() for line in expected.strip().splitlines() for route in line.split("|")}
    assert wanted <= routes, wanted - routes


async def test_the_documentation_describes_bodies_and_answers(site: Site) -> None:
    described = site.app.openapi()["paths"]
    runs = described["/api/conversations/{id}/runs"]["post"]
    verbs = runs["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert [verb["properties"]["verb"]["const"] for verb in verbs] == [
        "send",
        "regenerate",
        "continue",
        "edit",
    ]
    events = described["/api/runs/{run}/events"]["get"]["responses"]["200"]["content"]
    assert "anyOf" in events["text/event-stream"]["schema"]
    listed = described["/api/conversations"]["get"]
    assert {parameter["name"] for parameter in listed["parameters"]} >= {
        "archived",
        "folder",
        "tag",
        "limit",
        "before",
    }


async def test_every_route_says_in_a_line_what_it_is(site: Site) -> None:
    described = site.app.openapi()["paths"]
    assert all(operation["summary"] for methods in described.values() for operation in methods.values())
