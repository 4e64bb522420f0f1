"""Forms with a file: the file goes on as it arrives, and the fields on both sides of it are kept."""

from collections.abc import AsyncIterator

import httpx
import pytest

from duologue.errors import BadRequest
from duologue.http.file_form import FIELD_BYTES, FIELDS, FileForm

pytestmark = pytest.mark.anyio

END = b"--b--\r\n"


def field(name: str, value: bytes) -> bytes:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"


def file(name: str, data: bytes) -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
    return head.encode() + data + b"\r\n"


async def read(
    body: bytes, mime: str = "multipart/form-data; boundary=b", size: int = 7
) -> tuple[FileForm, bytes]:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    form = FileForm(chunks(), mime)
    await form.open()
    return form, b"".join([piece async for piece in form.file()])


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_fields_may_stand_before_and_behind_the_file(size):
    body = field("purpose", b"batch") + file("a.jsonl", b"{}\n{}\n") + field("more", b"1") + END
    form, data = await read(body, size=size)
    assert data == b"{}\n{}\n"
    assert (form.name, form.mime) == ("a.jsonl", "text/plain")
    assert form.fields == {"purpose": "batch", "more": "1"}


async def test_what_a_client_writes_is_read():
    request = httpx.Request(
        "POST", "http://a", data={"purpose": "batch"}, files={"file": ("ä b.txt", b"words")}
    )
    form, data = await read(request.read(), request.headers["content-type"])
    assert (form.name, data, form.fields) == ("ä b.txt", b"words", {"purpose": "batch"})


async def test_an_empty_file_is_a_file_and_only_the_first_counts():
    form, data = await read(file("a", b"") + file("b", b"other") + END)
    assert (form.name, data) == ("a", b"")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (field("purpose", b"batch") + END, "no file"),
        (b"", "no file"),
        (b"hello", "not a multipart form"),
        (file("a", b"words")[:-4], "breaks off"),
        (field("a", b"x" * (FIELD_BYTES + 1)) + file("a", b"") + END, "larger than"),
        (b"".join(field(str(n), b"x") for n in range(FIELDS + 1)) + file("a", b"") + END, "more than"),
    ],
)
async def test_what_is_no_such_form_is_refused(body, sentence):
    with pytest.raises(BadRequest, match=sentence):
        await read(body)


async def test_a_form_needs_a_boundary():
    with pytest.raises(BadRequest, match="boundary"):
        await read(END, "multipart/form-data")
