"""The route of the help."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

from duologue.gateway.help import help_routes
from duologue.gateway.help.search import HelpSearch
from duologue.gateway.help.sections import HelpSection


def test_sections_are_found_with_page_title_and_text():
    app = FastAPI()
    app.include_router(help_routes.router(HelpSearch([HelpSection("Running", "Ports", "Port 8006.")])))
    client = TestClient(app)
    found = {"page": "Running", "title": "Ports", "text": "Port 8006."}
    assert client.get("/api/help", params={"q": "which port"}).json() == {
        "query": "which port",
        "sections": [found],
    }
    assert client.get("/api/help").json() == {"query": "", "sections": []}
    assert client.get("/api/help", params={"q": "x" * 301}).status_code == 422
