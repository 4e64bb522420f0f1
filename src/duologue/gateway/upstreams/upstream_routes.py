"""`/api/upstreams`, for admins: model servers that are connected, can be connected, and whether one would work.

Owns these bodies and the field names of the rows. No answer has a key in it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Path, Request
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from starlette.responses import Response

from duologue.config.model_preset import PresetSettings
from duologue.errors import BadRequest, Problem
from duologue.gateway.auth.middleware import admin
from duologue.gateway.upstreams.connected_server import ConnectedServer, TestedServer
from duologue.gateway.upstreams.providers import KINDS, OTHER, PROVIDERS, title_of
from duologue.gateway.upstreams.service import UpstreamService
from duologue.gateway.upstreams.upstream_problem import UpstreamProblem
from duologue.models.upstream_models import LONGEST_NAME, MOST_MODELS
from duologue.values.requests import ModelPreset, RawFormat, UpstreamModel

Name = Annotated[str, Path(max_length=64)]
ModelName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Chosen = Annotated[list[ModelName], Field(max_length=MOST_MODELS)]
Kinds = Annotated[list[Literal["image", "audio", "video"]], Field(max_length=3)]
Modalities = Annotated[dict[ModelName, Kinds], Field(max_length=MOST_MODELS)]
Given = Annotated[list[Literal["audio"]], Field(max_length=1)]
Outputs = Annotated[dict[ModelName, Given], Field(max_length=MOST_MODELS)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Key = Annotated[SecretStr, Field(max_length=4096)]
URL = "The server's address, with or without /v1."


class Timeouts(BaseModel):
    """How long a server is waited for; absent fields are as in the settings `upstream.*`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    connect_timeout: Seconds | None = Field(default=None, description="Seconds to reach it; 10.")
    first_timeout: Seconds | None = Field(
        default=None, description="Seconds it may send nothing before the first word of a reply; 600."
    )
    idle_timeout: Seconds | None = Field(
        default=None, description="Seconds it may send nothing in the middle of a reply; 300."
    )
    retries: Annotated[int, Field(ge=0, le=10)] | None = Field(
        default=None, description="How often a request is sent again that it did not begin to answer; 2."
    )


class Writing(BaseModel):
    """How a model writes whose server leaves thoughts or tool calls in its text; absent fields are found out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool_format: str = Field(
        default="", max_length=40, description="The name of a tool-call format; `none`: calls are text."
    )
    thoughts: str = Field(
        default="", max_length=60, description="The marker that opens its thoughts; `none`: they are text."
    )
    opens_thoughts: bool = Field(
        default=False, description="Whether its template opens the thought, so that its text begins inside."
    )


class NewUpstream(BaseModel):
    """A server to connect."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str = Field(min_length=1, max_length=500, description=URL)
    kind: str = Field(
        default=OTHER,
        max_length=40,
        description="What it is: a kind of `providers`, or one that was found.",
        json_schema_extra={"enum": [*sorted(KINDS)]},
    )
    name: str = Field(default="", max_length=40, description="Its name here; by default after its kind.")
    key: Key | None = Field(
        default=None, description="The key it asks for. It is stored encrypted and never shown again."
    )
    models: Chosen | None = Field(
        default=None, description="The models to use, by its names; by default all."
    )
    timeouts: Timeouts = Field(default=Timeouts(), description="How long it is waited for.")


class UpstreamChange(BaseModel):
    """Changes of a connected server; absent fields stay as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str | None = Field(default=None, min_length=1, max_length=500, description=URL)
    key: Key | None = Field(default=None, description="Another key; an empty one removes it.")
    models: Chosen | None = Field(default=None, description="The models to use; null: all.")
    modalities: Modalities | None = Field(
        default=None,
        description="What models take besides text, by name, where their server does not say it or is wrong; of all others it is "
        "asked. Replaces what was said before.",
    )
    outputs: Outputs | None = Field(
        default=None,
        description="What models give besides text, by name: audio where one speaks. Otherwise as `modalities`.",
    )
    formats: Annotated[dict[ModelName, Writing], Field(max_length=MOST_MODELS)] | None = Field(
        default=None,
        description="How models write whose thoughts or tool calls it leaves in the text, by name. Otherwise as `modalities`.",
    )
    presets: Annotated[dict[ModelName, PresetSettings], Field(max_length=MOST_MODELS)] | None = Field(
        default=None,
        description="The presets of models, by name, as the settings `sampling` and `force_enable_thinking` are of a model here. "
        "Otherwise as `modalities`.",
    )
    timeouts: Timeouts | None = Field(
        default=None, description="How long it is waited for. Replaces what was said before."
    )
    enabled: bool | None = Field(default=None, description="Whether its models are served.")


class UpstreamTest(BaseModel):
    """A server to try."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str = Field(min_length=1, max_length=500, description=URL)
    kind: str = Field(
        default=OTHER,
        max_length=40,
        description="As when it is connected.",
        json_schema_extra={"enum": [*sorted(KINDS)]},
    )
    key: Key | None = Field(default=None, description="Its key.")
    name: str = Field(
        default="", max_length=40, description="A connected server whose stored key is used for its address."
    )
    model: str = Field(default="", max_length=200, description="The model to ask; by default a small one.")


def router(upstreams: UpstreamService) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/api/upstreams", tags=["models"], dependencies=[Depends(admin)])

    @routes.get("", summary="Connected model servers")
    async def list_upstreams() -> dict[str, Any]:
        """The connected servers with state and models, and the hosted services that need only a key."""
        return {
            "upstreams": [upstream_row(server) for server in upstreams.servers()],
            "providers": to_builtins(PROVIDERS),
        }

    @routes.post("", summary="Connect a model server", status_code=201)
    async def connect(request: Request, body: NewUpstream) -> dict[str, Any]:
        """Its models can be used at once. A server that does not answer is connected too, and is tried again."""
        server = await upstreams.add(
            body.name,
            _kind(body.kind),
            body.url,
            _secret(body.key),
            body.models,
            str(request.scope["state"]["user"]),
            _timeouts(body.timeouts),
        )
        return upstream_row(server)

    @routes.post("/test", summary="Test a model server")
    async def test(body: UpstreamTest) -> dict[str, Any]:
        """Lists its models and asks one for a short reply. `problem` says what went wrong, if something did."""
        return _test_row(
            await upstreams.test(body.url, _kind(body.kind), _secret(body.key), body.name, body.model)
        )

    @routes.get("/discovered", summary="Model servers on this machine")
    async def discovered() -> dict[str, Any]:
        """The servers that answer at the addresses of the setting `discover`. `connected`: the name under which one is connected
        already, or null."""
        found = await upstreams.discovered()
        return {
            "found": [
                {
                    "kind": server.kind,
                    "title": server.title,
                    "url": server.url,
                    "models": [model.name for model in server.models],
                    "needs_key": server.needs_key,
                    "connected": name or None,
                }
                for server, name in found
            ]
        }

    @routes.patch("/{name}", summary="Change a connected model server")
    async def change(name: Name, body: UpstreamChange) -> dict[str, Any]:
        """With another address, key or timeout, running replies of its models end."""
        given = body.model_fields_set
        server = await upstreams.change(
            name,
            url=body.url,
            key=None if body.key is None else _secret(body.key),
            chosen=body.models if "models" in given else msgspec.UNSET,
            modalities=body.modalities,
            outputs=body.outputs,
            formats=None if body.formats is None else _formats(body.formats),
            presets=None
            if body.presets is None
            else {model: said.preset for model, said in body.presets.items()},
            timeouts=None if body.timeouts is None else _timeouts(body.timeouts),
            enabled=body.enabled,
        )
        return upstream_row(server)

    @routes.delete("/{name}", summary="Disconnect a model server", status_code=204)
    async def disconnect(name: Name) -> Response:
        """Deletes its key. Running replies of its models end."""
        await upstreams.remove(name)
        return Response(status_code=204)

    return routes


def upstream_row(server: ConnectedServer) -> dict[str, Any]:
    """A connected server. `models` are those in use; what is unknown of one is null. `chosen`: null for all. `modalities`,
    `outputs`, `formats`, `presets`: what an admin said that models take and give, and how they write and sample, by name."""
    stored = server.stored
    return {
        "name": stored.name,
        "kind": stored.kind,
        "title": title_of(stored.kind) or stored.name,
        "url": stored.url,
        "has_key": stored.key is not None,
        "chosen": stored.chosen,
        "modalities": stored.modalities,
        "outputs": stored.outputs,
        "formats": to_builtins(stored.formats),
        "presets": {model: _preset_row(preset) for model, preset in stored.presets.items()},
        "timeouts": stored.timeouts,
        "enabled": stored.enabled,
        "state": server.state,
        "problem": _problem_row(server.problem),
        "models": [_model_row(model) for model in server.models()],
        "offered": [model.name for model in stored.seen],
        "user": stored.user,
        "created": stored.created,
    }


def _test_row(tested: TestedServer) -> dict[str, Any]:
    return {
        "kind": tested.kind,
        "models": [_model_row(model) for model in tested.models],
        "asked": tested.asked or None,
        "reply": tested.reply,
        "problem": _problem_row(tested.problem),
    }


def _model_row(model: UpstreamModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "context": model.context,
        "vision": model.vision,
        "tools": model.tools,
        "modalities": None if model.modalities is None else list(model.modalities),
        "outputs": list(model.outputs),
    }


def _problem_row(problem: Problem | None) -> dict[str, str] | None:
    if problem is None:
        return None
    row = {"code": problem.code, "message": problem.message}
    if isinstance(problem, UpstreamProblem):
        row |= {"reason": problem.reason, "detail": problem.detail}
    return row


def _timeouts(timeouts: Timeouts) -> dict[str, int | float]:
    return {name: value for name, value in timeouts.model_dump().items() if value is not None}


def _formats(formats: dict[str, Writing]) -> dict[str, RawFormat]:
    return {model: RawFormat(**writing.model_dump()) for model, writing in formats.items()}


def _preset_row(preset: ModelPreset) -> dict[str, Any]:
    return {
        "sampling": to_builtins(preset.sampling),
        "force_enable_thinking": preset.force_thinking,
    }


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise BadRequest(f"kind must be one of {', '.join(sorted(KINDS))}.", param="kind")
    return kind


def _secret(key: SecretStr | None) -> str:
    return "" if key is None else key.get_secret_value().strip()
