"""Which routes are acts of admins, what each is called, and which fields of its request may be kept: pure.

Used by `admin_requests`. Fields are named one by one, so that nothing secret is kept because a body was given a new field. A route behind the
guard of admins that is not listed is recorded all the same, by its method and path; a test demands that it is listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

VALUE = 200
"""Characters of a kept text; a longer one is cut."""
ITEMS = 20
"""Entries of a kept list or object."""


class Act(NamedTuple):
    """`target`: the fields of the path or the body, of which the first that is there says what it was done to. `kept`: further fields of the
    body. `only_with`: it is an act of an admin only if the body has this field. `known_by_path`: no guard of the gateway marks it."""

    name: str
    target: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    only_with: str = ""
    known_by_path: bool = False


_MODEL = ("model", "name")
_LIMITS = (
    "concurrent",
    "requests_per_minute",
    "tokens_per_minute",
    "tokens_per_day",
    "models",
    "weight",
)
_UPSTREAM = ("url", "kind", "models", "enabled")

ACTS: Mapping[tuple[str, str], Act] = {
    ("POST", "/api/keys"): Act("key.create", ("name",), ("role", "label", "expires")),
    ("DELETE", "/api/keys/{id}"): Act("key.revoke", ("id",)),
    ("POST", "/api/keys/{id}/reset"): Act("key.reset", ("id",), ("expires",)),
    ("PATCH", "/api/keys/{id}"): Act("key.change", ("id",), _LIMITS),
    ("PATCH", "/api/keys/users/{name}"): Act("user.change", ("name",), ("role", "disabled", "new_name")),
    ("DELETE", "/api/keys/users/{name}/logins"): Act("user.sign_out", ("name",)),
    ("DELETE", "/api/session/logins/{id}"): Act("user.sign_out", ("id",)),
    ("POST", "/v1/model/load"): Act("model.load", ("name", "model_name"), ("replace", "default", "another")),
    ("POST", "/v1/model/unload"): Act("model.unload", ("name", "worker"), ("drain",)),
    ("POST", "/models/load"): Act("model.load", ("model",)),
    ("POST", "/models/unload"): Act("model.unload", ("model",)),
    ("PUT", "/api/models/default"): Act("model.default", ("name",)),
    ("POST", "/api/models/remembered/{name}/retry"): Act("model.load", ("name",), ("force",)),
    ("DELETE", "/api/models/remembered/{name}"): Act("model.forget", ("name",)),
    ("POST", "/api/models/downloads"): Act("model.download", ("what",), ("use",)),
    ("DELETE", "/api/models/downloads/{id}"): Act("model.download_stop", ("id",)),
    ("DELETE", "/api/models/{name}"): Act("model.delete", ("name",)),
    ("POST", "/api/pull"): Act("model.download", _MODEL),
    ("DELETE", "/api/delete"): Act("model.delete", _MODEL),
    ("POST", "/api/voice/packs/{name}"): Act("voice_pack.use", ("name",)),
    ("DELETE", "/api/voice/packs/{name}"): Act("voice_pack.delete", ("name",)),
    ("POST", "/api/admin/workers/{name}/restart"): Act("worker.restart", ("name",)),
    ("POST", "/api/admin/workers/{name}/drain"): Act("worker.drain", ("name",)),
    ("POST", "/api/admin/nodes/{node}/drain"): Act("node.drain", ("node",)),
    ("DELETE", "/api/admin/workers/{name}/drain"): Act("worker.drain_end", ("name",)),
    ("POST", "/api/admin/workers/{name}/replicas/drain"): Act("replica.drain", ("name",)),
    ("DELETE", "/api/admin/workers/{name}/replicas/drain"): Act("replica.drain_end", ("name",)),
    ("POST", "/api/admin/restart"): Act("worker.replace_all"),
    ("POST", "/api/admin/drain"): Act("server.drain"),
    ("DELETE", "/api/admin/drain"): Act("server.drain_end"),
    ("PUT", "/api/admin/apps"): Act("app.switch", ("app_id", "id"), ("enabled",)),
    ("PUT", "/api/admin/apps/{app_id}"): Act("app.switch", ("app_id",), ("enabled",)),
    ("POST", "/api/upstreams"): Act("upstream.connect", ("name", "url"), _UPSTREAM),
    ("POST", "/api/upstreams/test"): Act("upstream.test", ("url",)),
    ("PATCH", "/api/upstreams/{name}"): Act("upstream.change", ("name",), _UPSTREAM),
    ("DELETE", "/api/upstreams/{name}"): Act("upstream.disconnect", ("name",)),
    ("POST", "/v1/template/switch"): Act("template.switch", ("model",), ("prompt_template_name", "name")),
    ("POST", "/v1/template/unload"): Act("template.reset", ("model",)),
    ("POST", "/v1/lora/load"): Act("lora.use", ("model",), ("loras",)),
    ("POST", "/v1/lora/unload"): Act("lora.reset", ("model",)),
    ("POST", "/lora-adapters"): Act("lora.use", ("model",)),
    ("POST", "/v1/sampling/override/switch"): Act("sampling.switch", ("preset",)),
    ("POST", "/v1/sampling/override/unload"): Act("sampling.reset"),
    ("POST", "/api/mcp/servers"): Act("tool_server.add", ("name",), known_by_path=True),
    ("PATCH", "/api/mcp/servers/{name}"): Act("tool_server.switch", ("name",), ("disabled",), "", True),
    ("DELETE", "/api/mcp/servers/{name}"): Act("tool_server.remove", ("name",), known_by_path=True),
    ("PATCH", "/api/assets/ref_audio/{id}"): Act("voice.share", ("id",), ("shared",), "shared", True),
    ("PUT", "/api/avatars/{id}"): Act("face.share", ("id",), ("shared",), "shared", True),
}


def act_of(method: str, path: str) -> Act:
    """The act of a route, by its path with the names of parameters as `/api/keys/{id}`."""
    return ACTS.get((method, path)) or Act(f"{method} {path}"[:VALUE])


def target_of(act: Act, path: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What an act was done to; "" if nothing says it."""
    for field in act.target:
        value = path.get(field) or body.get(field)
        if isinstance(value, str) and value:
            return without_secrets(value)
    return ""


def details_of(act: Act, body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body that may be kept, with nothing large and no secret in them."""
    return {name: _kept(body[name]) for name in act.kept if body.get(name) is not None}


def without_secrets(text: str) -> str:
    """A text without what addresses often hide: the user and the password before the host, and what follows a question mark."""
    scheme, separator, rest = text.partition("://")
    if separator:
        rest = rest.split("?", 1)[0].split("#", 1)[0]
        host, slash, path = rest.partition("/")
        text = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return text[:VALUE]


def _kept(value: Any, depth: int = 2) -> Any:
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth == 0:
        return "..."
    if isinstance(value, Mapping):
        return {str(name)[:VALUE]: _kept(each, depth - 1) for name, each in [*value.items()][:ITEMS]}
    return [_kept(each, depth - 1) for each in value[:ITEMS]]
