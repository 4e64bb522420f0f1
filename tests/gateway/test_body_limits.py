"""Which paths take more than text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.config import Settings
from duologue.config.settings import LimitSettings
from duologue.gateway.app import Gateway
from duologue.gateway.body_limits import MEGABYTE, body_limits, json_limit
from duologue.gateway.middleware.body_limit import BodyLimit

SETTINGS = Settings(limits=LimitSettings(text_mb=1, body_mb=30, audio_mb=20))


async def size_taken(path: str, settings: Settings = SETTINGS) -> int:
    """The largest declared body that this path does not refuse, among those of one to 300 MB."""
    reached: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(True)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    limit = BodyLimit(app, *json_limit(settings), others=body_limits(settings))
    largest = 0
    for megabytes in (1, 6, 20, 30, 256, 300):
        reached.clear()
        headers = [(b"content-length", str(megabytes * MEGABYTE).encode())]
        await limit(
            {"type": "http", "method": "POST", "path": path, "headers": headers, "state": {}}, receive, send
        )
        largest = megabytes if reached else largest
    return largest


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "megabytes"),
    [
        ("/v1/completions", 6),
        ("/v1/chat/completions", 30),
        ("/v1/conversations", 30),
        ("/v1/conversations/conv_1/items", 30),
        ("/v1/conversations/conv_1", 6),
        ("/v1/conversations/conv_1/items/msg_1", 6),
        ("/v1/conversations//items", 6),
        ("/apply-template", 30),
        ("/tokenize", 30),
        ("/v1/token/encode", 30),
        ("/v1/audio/translations", 20),
        ("/api/avatars/mira/clips", 20),
    ],
)
async def test_a_path_takes_what_its_route_is_for(path: str, megabytes: int) -> None:
    assert await size_taken(path) == megabytes


@pytest.mark.anyio
async def test_every_route_with_a_form_or_a_chat_in_its_body_has_a_limit_of_its_own(tmp_path: Path) -> None:
    gateway = Gateway(Settings(data=tmp_path), [], lambda text: None)
    own = body_limits(gateway.settings)
    described = gateway.app.openapi()
    media = []
    for path, methods in described["paths"].items():
        content = methods.get("post", {}).get("requestBody", {}).get("content", {})
        shapes = json.dumps(content) + "".join(_shapes(content, described))
        if "multipart/form-data" in content or '"image_url"' in shapes or '"input_audio"' in shapes:
            media.append(path)
    assert "/v1/chat/completions" in media
    assert "/v1/conversations/{id}/items" in media
    assert not set(media) - set(own), "these take media, but only as many bytes as a text may have"


def _shapes(value: Any, described: dict[str, Any], seen: set[str] | None = None) -> Iterator[str]:
    """The schemas that a value refers to, as JSON."""
    seen = set() if seen is None else seen
    for name in re.findall(r"#/components/schemas/([\w.-]+)", json.dumps(value)):
        if name not in seen:
            seen.add(name)
            shape = described["components"]["schemas"][name]
            yield json.dumps(shape)
            yield from _shapes(shape, described, seen)
