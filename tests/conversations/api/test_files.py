"""Files over HTTP: uploads as they come, ranges, and headers that keep a file from acting as a page."""

import hashlib
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from tests.support.kept_files import LIMIT, Kept, kept
from tests.support.sample_files import HEIC, drawing, encoded, opened, pdf, svg, wav
from tests.support.sample_videos import video

from duologue.config.settings import LimitSettings
from duologue.conversations.api import files
from duologue.errors import Problem
from duologue.values.requests import ModelCard

PNG = encoded(drawing())
CARDS = {
    "": ModelCard("reader", "scripted", 4096),
    "seer": ModelCard("seer", "scripted", 4096, modalities=("text", "image")),
}


@pytest.fixture
async def place(tmp_path, anyio_backend):
    async with kept(tmp_path / "blobs") as place:
        yield place


@pytest.fixture
async def http(place: Kept, anyio_backend) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose header `user` says who it is."""
    app = FastAPI()
    app.include_router(files.router(place.blobs, LimitSettings(blob_mb=LIMIT // 2**20), CARDS.__getitem__))

    @app.exception_handler(Problem)
    async def say(request, problem):
        return JSONResponse({"error": {"code": problem.code, "message": problem.message}}, problem.status)

    async def as_user(scope, receive, send):
        names = dict(scope["headers"])
        scope["state"] = {"user": names.get(b"user", b"ada").decode()}
        await app(scope, receive, send)

    transport = httpx.ASGITransport(as_user)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost/api") as client:
        yield client


async def upload(http: httpx.AsyncClient, data: bytes, name: str = "", **options) -> dict:
    answer = await http.post("/blobs", params={"name": name}, content=data, **options)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.anyio
async def test_a_file_is_kept_as_it_is_sent(http):
    kept_as = await upload(http, PNG, "cat.png")
    digest = hashlib.sha256(PNG).hexdigest()
    assert kept_as.pop("created") > 0
    assert kept_as == {
        "hash": digest,
        "mime": "image/png",
        "size": len(PNG),
        "name": "cat.png",
        "width": 64,
        "height": 48,
    }
    answer = await http.get(f"/blobs/{digest}")
    assert answer.content == PNG
    assert answer.headers["content-type"] == "image/png"


@pytest.mark.anyio
async def test_the_same_file_again_is_answered_the_same(http):
    assert await upload(http, PNG, "cat.png") == await upload(http, PNG, "cat.png")


@pytest.mark.anyio
async def test_a_form_is_taken_too(http):
    form = {"note": "not a file"}
    answer = await http.post("/blobs", data=form, files={"file": ("größe.txt", b"five metres", "text/plain")})
    assert answer.status_code == 201
    assert (answer.json()["name"], answer.json()["size"]) == ("größe.txt", 11)
    assert (await http.get(f"/blobs/{answer.json()['hash']}")).content == b"five metres"


@pytest.mark.anyio
async def test_a_form_comes_in_any_pieces(http, place):
    body = (
        b'--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\nnot a file\r\n'
        b'--cut\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\none\r\n--cu two\r\n'
        b'--cut\r\nContent-Disposition: form-data; name="g"; filename="b.txt"\r\n\r\nthree\r\n--cut--\r\n'
    )
    headers = {"content-type": "multipart/form-data; boundary=cut"}
    for size in (1, 7, 50, len(body)):

        async def parts(size: int = size):
            for at in range(0, len(body), size):
                yield body[at : at + size]

        answer = await http.post("/blobs", content=parts(), headers=headers)
        assert answer.status_code == 201
        assert await place.blobs.read(answer.json()["hash"]) == b"one\r\n--cu two"


@pytest.mark.anyio
async def test_an_empty_file_in_a_form_is_a_file(http):
    answer = await http.post("/blobs", files={"file": ("empty.txt", b"")})
    assert (answer.status_code, answer.json()["name"], answer.json()["size"]) == (201, "empty.txt", 0)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "kind", "sentence"),
    [
        (b"--x--\r\n", "multipart/form-data; boundary=x", "no file"),
        (b"", "multipart/form-data; boundary=x", "no file"),
        (b"hello", "multipart/form-data", "no boundary"),
        (b"hello", "multipart/form-data; boundary=x", "not a multipart form"),
        (
            b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nhalf',
            "multipart/form-data; boundary=x",
            "breaks off",
        ),
    ],
)
async def test_a_wrong_form_is_refused_and_leaves_nothing(http, place, body, kind, sentence):
    answer = await http.post("/blobs", content=body, headers={"content-type": kind})
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]["message"]
    assert place.files() == []


@pytest.mark.anyio
@pytest.mark.parametrize("announced", [True, False])
async def test_too_large_a_file_is_refused(http, place, announced):
    async def come():
        for _ in range(LIMIT // 1000 + 200):
            yield bytes(1000)

    data = bytes(LIMIT + 100_000) if announced else come()
    answer = await http.post("/blobs", content=data)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert place.files() == []


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["", "/thumbnail"])
async def test_another_users_file_is_not_there(http, path):
    hash = (await upload(http, PNG))["hash"]
    answer = await http.get(f"/blobs/{hash}{path}", headers={"user": "bob"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "blob_not_found")
    tagged = {"user": "bob", "if-none-match": "*"}
    assert (await http.get(f"/blobs/{hash}{path}", headers=tagged)).status_code == 404


@pytest.mark.anyio
@pytest.mark.parametrize("hash", ["..%2f..%2fetc%2fpasswd", "a" * 64, "x"])
async def test_what_is_not_there_is_not_found(http, hash):
    assert (await http.get(f"/blobs/{hash}")).status_code == 404


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("bytes=0-9", (0, 10)),
        ("bytes=10-", (10, 1000)),
        ("bytes=-10", (990, 1000)),
        ("bytes=-5000", (0, 1000)),
        ("bytes=0-", (0, 1000)),
        ("bytes=990-2000", (990, 1000)),
    ],
)
async def test_a_part_is_given(http, asked, span):
    data = bytes(index % 251 for index in range(1000))
    hash = (await upload(http, data))["hash"]
    answer = await http.get(f"/blobs/{hash}", headers={"range": asked})
    start, end = span
    assert answer.content == data[start:end]
    assert answer.status_code == 206
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/1000"


@pytest.mark.anyio
@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=-", "items=0-9", "bytes=0-1,5-6", "nonsense"])
async def test_a_range_that_means_nothing_gives_all(http, asked):
    hash = (await upload(http, bytes(100)))["hash"]
    answer = await http.get(f"/blobs/{hash}", headers={"range": asked})
    assert (answer.status_code, len(answer.content)) == (200, 100)


@pytest.mark.anyio
@pytest.mark.parametrize("asked", ["bytes=100-", "bytes=500-600", "bytes=-0"])
async def test_a_range_beyond_the_end_is_refused(http, asked):
    hash = (await upload(http, bytes(100)))["hash"]
    answer = await http.get(f"/blobs/{hash}", headers={"range": asked})
    assert answer.status_code == 416
    assert answer.json()["error"]["code"] == "range_not_satisfiable"
    assert answer.headers["content-range"] == "bytes */100"


@pytest.mark.anyio
async def test_a_part_of_another_file_is_not_given(http):
    hash = (await upload(http, bytes(100)))["hash"]
    headers = {"range": "bytes=0-9", "if-range": '"another"'}
    assert (await http.get(f"/blobs/{hash}", headers=headers)).status_code == 200
    headers = {"range": "bytes=0-9", "if-range": f'"{hash}"'}
    assert (await http.get(f"/blobs/{hash}", headers=headers)).status_code == 206


@pytest.mark.anyio
async def test_what_the_browser_has_is_not_sent_again(http):
    hash = (await upload(http, PNG))["hash"]
    first = await http.get(f"/blobs/{hash}")
    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    again = await http.get(f"/blobs/{hash}", headers={"if-none-match": f'W/"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.anyio
async def test_the_head_is_like_the_whole_without_its_body(http):
    hash = (await upload(http, PNG))["hash"]
    head, whole = await http.head(f"/blobs/{hash}"), await http.get(f"/blobs/{hash}")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers == whole.headers


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "name", "served", "shown"),
    [
        (PNG, "cat.png", "image/png", "inline"),
        (HEIC, "cat.heic", "image/heic", "attachment"),
        (wav(), "voice.wav", "audio/wav", "inline"),
        (b"# Notes", "notes.md", "text/plain; charset=utf-8", "inline"),
        (b"alert(1)", "script.js", "text/plain; charset=utf-8", "inline"),
        (svg("<script>alert(1)</script>"), "cat.png", "image/svg+xml", "attachment"),
        (b"<html><script>alert(1)</script>", "cat.png", "text/html", "attachment"),
        (b"alert(1)", "page.html", "text/html", "attachment"),
        (pdf("Hello"), "paper.pdf", "application/pdf", "attachment"),
        (b"PK\x03\x04", "cat.png", "application/zip", "attachment"),
    ],
)
async def test_no_file_acts_as_a_page(http, data, name, served, shown):
    hash = (await upload(http, data, name, headers={"content-type": "text/html"}))["hash"]
    headers = (await http.get(f"/blobs/{hash}")).headers
    assert headers["content-type"] == served
    assert headers["content-disposition"].startswith(f"{shown}; ")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.anyio
async def test_a_picture_can_be_downloaded(http):
    hash = (await upload(http, PNG, "cat.png"))["hash"]
    headers = (await http.get(f"/blobs/{hash}", params={"download": "1"})).headers
    assert headers["content-disposition"] == "attachment; filename=\"cat.png\"; filename*=UTF-8''cat.png"


@pytest.mark.anyio
async def test_any_name_makes_a_sound_header(http):
    hash = (await upload(http, PNG, 'Kätz"chen\r\nSet-Cookie: a=b; 猫.png'))["hash"]
    headers = (await http.get(f"/blobs/{hash}")).headers
    assert "set-cookie" not in headers
    assert headers["content-disposition"].isascii()
    assert headers["content-disposition"].endswith("%20a%3Db%3B%20%E7%8C%AB.png")


@pytest.mark.anyio
async def test_a_small_picture_is_given(http):
    hash = (await upload(http, encoded(drawing(640, 480))))["hash"]
    answer = await http.get(f"/blobs/{hash}/thumbnail", params={"side": 100})
    assert answer.headers["content-type"] == "image/webp"
    assert opened(answer.content).size == (128, 96)
    kept_by_browser = {"if-none-match": answer.headers["etag"]}
    again = await http.get(f"/blobs/{hash}/thumbnail", params={"side": 100}, headers=kept_by_browser)
    assert again.status_code == 304


@pytest.mark.anyio
async def test_a_text_has_no_small_picture(http):
    hash = (await upload(http, b"hello"))["hash"]
    answer = await http.get(f"/blobs/{hash}/thumbnail")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_thumbnail")


@pytest.mark.anyio
async def test_a_file_for_a_temporary_chat_touches_no_disk(http, place):
    hash = (await http.post("/blobs?temporary=true", content=PNG)).json()["hash"]
    assert (await http.get(f"/blobs/{hash}")).content == PNG
    assert place.files() == []


@pytest.mark.anyio
async def test_a_file_whose_bytes_are_gone_is_not_found(http, place):
    hash = (await upload(http, PNG))["hash"]
    place.files()[0].unlink()
    answer = await http.get(f"/blobs/{hash}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "blob_not_found")


@pytest.mark.anyio
async def test_what_a_model_will_get_of_a_file(http):
    clip = (await upload(http, video(seconds=3)))["hash"]
    fit = (await http.get(f"/blobs/{clip}/fit", params={"model": "seer"})).json()
    assert (fit["kind"], fit["became"], fit["frames"]) == ("video", "frames", 3)
    refused = (await http.get(f"/blobs/{clip}/fit")).json()
    assert (refused["became"], refused["code"]) == ("refused", "modality_unsupported")
    missing = await http.get(f"/blobs/{clip}/fit", headers={"user": "bob"})
    assert missing.status_code == 404
