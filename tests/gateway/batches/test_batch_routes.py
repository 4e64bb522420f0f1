"""`/v1/batches` over HTTP."""

from __future__ import annotations

import pytest
from tests.gateway.batches.conftest import URL, Place, lines
from tests.support.stored_files import clients, stored

from duologue.gateway.batches import batch_routes

pytestmark = pytest.mark.anyio


async def test_a_batch_is_made_listed_and_cancelled(place: Place):
    async with place.running() as service, clients(batch_routes.router(service)) as http:
        file = await stored(place.files, lines(1, hold=1))
        body = {"input_file_id": file.id, "endpoint": URL, "completion_window": "24h", "metadata": {"a": "b"}}
        made = (await http.post("/batches", json=body)).json()
        assert (made["object"], made["status"], made["metadata"]) == ("batch", "validating", {"a": "b"})
        await place.requests.until(lambda: place.requests.held == 1)
        seen = (await http.get(f"/batches/{made['id']}")).json()
        assert (seen["status"], seen["request_counts"]["total"]) == ("in_progress", 1)
        page = (await http.get("/batches", params={"limit": 1})).json()
        assert ([batch["id"] for batch in page["data"]], page["has_more"]) == ([made["id"]], False)
        assert (await http.get("/batches", params={"after": made["id"]})).json()["data"] == []
        other = await http.get(f"/batches/{made['id']}", headers={"user": "ben"})
        assert (other.status_code, other.json()["error"]["code"]) == (404, "batch_not_found")
        assert (await http.post(f"/batches/{made['id']}/cancel")).json()["status"] in (
            "cancelling",
            "cancelled",
        )


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input_file_id"),
        ({"input_file_id": "file-x", "endpoint": URL, "completion_window": "1h"}, "completion_window"),
        ({"input_file_id": "file-x", "endpoint": "/v1/images"}, "endpoint"),
        ({"input_file_id": "file-x", "endpoint": URL}, "input_file_id"),
    ],
)
async def test_what_is_wrong_is_named(place: Place, body, param):
    async with place.running() as service, clients(batch_routes.router(service)) as http:
        answer = await http.post("/batches", json=body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_a_page_has_so_many_at_most(place: Place):
    async with place.running() as service, clients(batch_routes.router(service)) as http:
        assert (await http.get("/batches", params={"limit": 101})).status_code == 400
