"""Pictures, sound and video through a real server to a model that takes some of them: from every protocol, what reaches it.

The model is a script that writes down what it got (`/got`).
"""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.conversation_client import ConversationClient, new_id, text_of
from tests.support.sample_files import drawing, encoded, pdf
from tests.support.sample_videos import video
from websockets.sync.client import connect

from duologue.client.http import Client

pytest.importorskip("av", reason="PyAV is not installed: videos are not tested")
pytestmark = [pytest.mark.system, pytest.mark.anyio]

SAYS = "/got"
SEES = ["text", "image"]
OMNI = ["text", "image", "audio"]
PNG = encoded(drawing())
SOUND = array("f", [0.25] * 16_000).tobytes()


def seeing(serve: Callable[..., Server], modalities: list[str], **environment: str) -> Server:
    options = json.dumps({"kind": "chat", "modalities": modalities})
    return serve("--engine", "scripted", DUOLOGUE_OPTIONS=options, **environment).ready()


def of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def chat(server: Server, *parts: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    """What /ws/chat says to one message of these parts."""
    message = {"role": "user", "content": [{"type": "text", "text": SAYS}, *parts]}
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat", max_size=2**26) as socket:
        socket.send(json.dumps({"messages": [message]} | fields))
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1]["type"] not in ("done", "error"):
            heard.append(json.loads(socket.recv(timeout=60)))
    return heard


def kinds(text: str) -> list[str]:
    """The kinds of parts that the script wrote down."""
    return [word.partition(":")[0] for word in text.split()]


def complete(server: Server, *parts: dict[str, Any], **fields: Any) -> httpx.Response:
    message = {"role": "user", "content": [{"type": "text", "text": SAYS}, *parts]}
    body = {"messages": [message]} | fields
    return httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def uploaded(server: Server, data: bytes, name: str) -> str:
    """The hash of a file that was uploaded."""
    answer = httpx.post(f"{server.url}/api/blobs", params={"name": name}, content=data, timeout=60)
    return str(answer.json()["hash"])


async def attached(talk: ConversationClient, server: Server, data: bytes, name: str) -> tuple[str, list[str]]:
    """What the model writes about a file in a conversation, and what became of it, over two turns."""
    content = [
        {"type": "text", "text": SAYS},
        {"type": "file", "blob": uploaded(server, data, name), "name": name},
    ]
    run = await talk.start("send", message={"id": new_id(), "content": content})
    events = [event for _, event in await talk.events(run)]
    assert events[-1]["outcome"] == "done", events[-1]
    became = [note["became"] for event in events if event["type"] == "fitted" for note in event["notes"]]
    return text_of(await talk.last()), became


async def test_a_model_that_sees_gets_pictures_and_the_frames_of_videos_from_everywhere(
    serve: Callable[..., Server],
) -> None:
    server = seeing(serve, SEES, DUOLOGUE_LIMITS__VIDEO_MINUTES="1")
    clip = video(seconds=3)
    picture, film = {"type": "image", "data": of(PNG)}, {"type": "video", "data": of(clip)}

    done = chat(server, picture, film)[-1]
    assert kinds(done["text"]) == ["image/png", "image/jpeg", "image/jpeg", "image/jpeg"]
    [note] = done["fitted"]
    assert note["became"] == "frames"
    glanced = {"type": "image", "data": of(encoded(drawing(800, 600))), "detail": "low"}
    assert [note["became"] for note in chat(server, glanced)[-1]["fitted"]] == ["resized"]
    assert (note["where"], note["count"], note["seconds"]) == ("messages[0].content[2]", 3, 3.0)
    prefilled = next(said for said in chat(server, film, omni_mode=True) if said["type"] == "prefill_done")
    assert "omni_mode" in prefilled["ignored"], "it has no sound to alternate with"

    url = {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{of(clip)}"}}
    answer = complete(server, url).json()
    assert kinds(answer["choices"][0]["message"]["content"]) == ["image/jpeg"] * 3
    assert answer["fitted"][0]["became"] == "frames"
    paper = {"type": "file", "file": {"file_data": of(pdf("some words")), "filename": "a.pdf"}}
    assert complete(server, paper).json()["choices"][0]["message"]["content"] is None, (
        "it is text, and no part of its own"
    )

    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client)
        text, became = await attached(talk, server, clip, "clip.mp4")
        assert (kinds(text), became) == (["image/jpeg"] * 3, ["frames"])
        [kept] = (await talk.last())["fitted"]["notes"]
        assert (kept["became"], kept["count"]) == ("frames", 3), "it is kept with the reply"
        assert kinds(await talk.ask(SAYS)) == ["image/jpeg"] * 3, "the next turn sees it too"
        assert "fitted" not in await talk.last(), "and says nothing new"

    deaf = chat(server, {"type": "audio", "data": of(SOUND)})[-1]
    assert (deaf["code"], deaf["param"]) == ("modality_unsupported", "messages[0].content[1]")
    broken = complete(server, {"type": "video_url", "video_url": f"data:video/mp4;base64,{of(clip[:900])}"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "video_unreadable")
    private = complete(server, {"type": "image_url", "image_url": {"url": f"{server.url}/favicon.ico"}})
    assert (private.status_code, private.json()["error"]["code"]) == (403, "private_address")


async def test_a_model_that_hears_too_gets_sound_and_what_alternates(serve: Callable[..., Server]) -> None:
    server = seeing(serve, OMNI)
    film = {"type": "video", "data": of(video(seconds=2)), "stack_frames": 2}
    heard = chat(server, film, omni_mode=True, image={"max_slice_nums": 1})
    assert kinds(heard[-1]["text"]) == ["image/jpeg", "audio", "image/jpeg"] * 2
    prefilled = next(said for said in heard if said["type"] == "prefill_done")
    assert prefilled["ignored"] == ["image.max_slice_nums"]
    assert chat(server, {"type": "audio", "data": of(SOUND)})[-1]["text"] == "audio:1000ms"
    sample = {"role": "system", "content": [{"type": "audio", "data": of(SOUND)}]}
    messages = [sample, {"role": "user", "content": SAYS}]
    assert chat(server, messages=messages)[-1]["text"] == "", "a sample of a voice is no part of the prompt"


async def test_a_model_that_reads_gets_what_was_said_and_refuses_the_rest(
    serve: Callable[..., Server],
) -> None:
    server = serve(
        "--engine",
        "scripted",
        DUOLOGUE_VOICE__ENABLED="true",
        DUOLOGUE_VOICE__DETECTOR__ENGINE="energy",
        DUOLOGUE_VOICE__RECOGNISER__ENGINE="scripted",
        DUOLOGUE_VOICE__SPEAKER__ENGINE="scripted",
    ).ready()
    done = chat(server, {"type": "audio", "data": of(SOUND)})[-1]
    assert done["type"] == "done", done
    assert [note["became"] for note in done["fitted"]] == ["text"]
    assert len(done["transcripts"]) == 1
    for part in ({"type": "image", "data": of(PNG)}, {"type": "video", "data": of(video(seconds=1))}):
        refused = chat(server, part)[-1]
        assert (refused["type"], refused["code"]) == ("error", "modality_unsupported")
