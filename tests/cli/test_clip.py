"""`duologue clip`: asked for, followed, written; and what ends it early."""

import io
from pathlib import Path
from typing import Any

import pytest

from duologue.cli.clip import ClipWish, make_clip
from duologue.errors import BadRequest, NotFound, Problem

ROW = {"id": "c1", "state": "waiting", "progress": 0.0, "code": "", "message": ""}


class Server:
    """A server whose clip passes through these states."""

    def __init__(self, *states: str, fails: Problem | None = None) -> None:
        self.states = list(states)
        self.fails = fails
        self.asked: list[tuple[Any, ...]] = []
        self.address = self.base_url = "http://here"

    async def __aenter__(self) -> "Server":
        return self

    async def __aexit__(self, *failure: object) -> None: ...

    async def api(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        self.asked.append((method, path, body))
        if path == "/api/avatars":
            return {"avatars": [{"id": "mira"}, {"id": "theo"}]}
        if method == "POST" and self.fails is not None:
            raise self.fails
        if method == "GET":
            state = self.states.pop(0)
            return ROW | {
                "state": state,
                "progress": 0.5,
                "message": "It is broken.",
                "code": "engine_failed",
            }
        return dict(ROW)

    async def send_file(self, path: str, data: bytes, name: str, **fields: str) -> dict[str, Any]:
        self.asked.append(("POST", path, (data, name, fields)))
        return dict(ROW)

    async def fetch(self, path: str) -> bytes:
        self.asked.append(("GET", path, None))
        return b"a film"


def made(server: Server, wish: ClipWish) -> str:
    asides = io.StringIO()
    make_clip(wish, server, asides)  # type: ignore[arg-type]
    return asides.getvalue()


def test_a_clip_is_followed_and_written(tmp_path: Path) -> None:
    server = Server("speaking", "drawing", "drawing", "ready")
    told = made(server, ClipWish(tmp_path / "a.mp4", "Hello.", voice="high"))
    assert (tmp_path / "a.mp4").read_bytes() == b"a film"
    assert told.splitlines()[:4] == ["Waiting", "Speaking", "Drawing", "Done"]
    assert (
        "POST",
        "/api/avatars/mira/clips",
        {"text": "Hello.", "voice": "high", "speed": 1.0},
    ) in server.asked
    assert server.asked[-1][:2] == ("DELETE", "/api/avatars/mira/clips/c1")


def test_a_recording_is_sent_as_a_file(tmp_path: Path) -> None:
    sound = tmp_path / "a.wav"
    sound.write_bytes(b"RIFF")
    server = Server("ready")
    made(server, ClipWish(tmp_path / "a.mp4", recording=sound, avatar="theo", language="de"))
    assert server.asked[0] == ("POST", "/api/avatars/theo/clips", (b"RIFF", "a.wav", {"language": "de"}))


def test_what_fails_is_a_sentence_and_leaves_no_file(tmp_path: Path) -> None:
    out = tmp_path / "a.mp4"
    with pytest.raises(Problem, match=r"It is broken\."):
        made(Server("failed"), ClipWish(out, "Hello."))
    with pytest.raises(NotFound, match="no face"):
        made(Server(fails=NotFound("There is no face of this name.")), ClipWish(out, "Hello."))
    with pytest.raises(BadRequest, match="cannot be read"):
        made(Server(), ClipWish(out, recording=tmp_path / "none.wav"))
    with pytest.raises(BadRequest, match="not a file"):
        made(Server(), ClipWish(tmp_path, "Hello."))
    assert not out.exists()
