"""The OpenAPI document: stable names, described errors, and a schema of each name once."""

from threading import get_ident
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from duologue.http.openapi import FLAG, documented, json_body, whole_numbers
from duologue.http.openapi_document import completed, describe_completely, operation_id
from duologue.threads import ThreadLane
from duologue.wire.api import ID_SCHEMA


class Inner(BaseModel):
    name: str


class Outer(BaseModel):
    inner: Inner
    others: list[Inner] = []


class OtherInner(BaseModel, title="Inner"):
    number: int


def document() -> dict[str, Any]:
    app = FastAPI(generate_unique_id_function=operation_id)

    @app.post("/v1/things", openapi_extra=json_body(Outer, status=201))
    async def make() -> None: ...

    @app.post("/v1/messages", openapi_extra=json_body(Outer))
    async def say() -> None: ...

    @app.put(
        "/api/conversations/{id}",
        openapi_extra=documented(
            body=OtherInner,
            query={"quiet": ("whether", FLAG), "limit": ("how many", whole_numbers(5))},
            also={204: "There is none"},
        ),
    )
    async def change(id: str) -> None: ...

    return completed(app.openapi())


def test_operations_are_named_by_their_method_and_path() -> None:
    paths = document()["paths"]
    assert paths["/v1/things"]["post"]["operationId"] == "post_v1_things"
    assert paths["/api/conversations/{id}"]["put"]["operationId"] == "put_api_conversations_id"


def test_errors_have_the_shape_of_their_dialect_and_no_status_is_invented() -> None:
    made = document()
    create, change = made["paths"]["/v1/things"]["post"], made["paths"]["/api/conversations/{id}"]["put"]
    assert set(create["responses"]) == {"201", "default"}
    assert set(change["responses"]) == {"200", "204", "default"}
    for operation, name in ((create, "OpenAIError"), (change, "Error")):
        schema = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{name}"}
        assert made["components"]["schemas"][name]["required"] == ["error"]
    said = made["paths"]["/v1/messages"]["post"]["responses"]["default"]["content"]["application/json"][
        "schema"
    ]
    assert said == {"$ref": "#/components/schemas/AnthropicError"}
    assert made["components"]["schemas"]["AnthropicError"]["required"] == ["type", "error"]
    assert "HTTPValidationError" not in made["components"]["schemas"]


def test_a_schema_is_written_once_and_another_of_its_name_gets_a_number() -> None:
    made = document()
    schemas = made["components"]["schemas"]
    inner = {"$ref": "#/components/schemas/Inner"}
    assert schemas["Outer"]["properties"]["inner"] == inner
    assert schemas["Outer"]["properties"]["others"]["items"] == inner
    assert set(schemas["Inner"]["properties"]) == {"name"}
    assert set(schemas["Inner2"]["properties"]) == {"number"}
    assert schemas["Inner2"]["title"] == "Inner2"


def test_what_few_generators_read_is_written_in_words_that_all_do() -> None:
    pair = {"type": "array", "prefixItems": [{"type": "integer"}], "items": False, "maxItems": 1.0}
    answer = {"description": "A pair", "content": {"application/json": {"schema": pair}}}
    made = completed({"paths": {"/pair": {"get": {"operationId": "x", "responses": {"200": answer}}}}})
    schema = made["paths"]["/pair"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["items"] == {"anyOf": [{"type": "integer"}]}
    assert repr(schema["maxItems"]) == "1"


def test_parameters_say_what_they_take() -> None:
    parameters = document()["paths"]["/api/conversations/{id}"]["put"]["parameters"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in parameters}
    assert schemas == {
        "id": ID_SCHEMA,
        "quiet": {"type": "boolean"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 5},
    }


@pytest.mark.anyio
async def test_the_document_is_made_once_and_in_a_thread_for_all_who_ask() -> None:
    app = FastAPI(openapi_url=None, generate_unique_id_function=operation_id)

    @app.get("/v1/things")
    async def read() -> None: ...

    threads: list[int] = []
    describe_completely(app, ThreadLane(1).run, lambda document: threads.append(get_ident()))
    answers: list[httpx.Response] = []

    async def ask(http: httpx.AsyncClient) -> None:
        answers.append(await http.get("/openapi.json"))

    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(3):
            tasks.start_soon(ask, http)
    assert len(threads) == 1
    assert get_ident() not in threads
    assert [answer.json() for answer in answers] == [app.openapi()] * 3
    assert "default" in app.openapi()["paths"]["/v1/things"]["get"]["responses"]
