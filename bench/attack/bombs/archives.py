"""Conversation files written to hurt: for `POST /api/import`, in the four formats and none of them.

Each function gives the bytes of one file; `ARCHIVES` names them.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def _filled(name: str, head: bytes, filling: bytes, count: int, tail: bytes = b"") -> bytes:
    """A zip of one file that is `filling` so many times between head and tail, never held as a whole."""
    out = io.BytesIO()
    block = filling * (2**20 // len(filling))
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as file,
    ):
        file.write(head)
        for _ in range(count // len(block)):
            file.write(block)
        file.write(tail)
    return out.getvalue()


def blanks() -> bytes:
    """`[` and 900 million blanks in 900 KB."""
    return _filled("conversations.json", b"[", b" ", 900_000_000)


def brackets() -> bytes:
    return _filled("conversations.json", b"", b"[", 200_000_000)


def empty_objects() -> bytes:
    return _filled("conversations.json", b"[", b"{},", 300_000_000, b"{}]")


def long_text() -> bytes:
    return _filled("conversations.json", b'[{"title":"', b"a", 900_000_000, b'"}]')


def json_lines() -> bytes:
    return _filled("conversations.jsonl", b"", b"{}\n", 300_000_000)


def many_files() -> bytes:
    return packed({f"files/{number:064x}": b"" for number in range(30_000)} | {"conversations.json": b"[]"})


def overlapping() -> bytes:
    """A zip whose 2,000 entries are all the same packed 30 MB."""
    body = zlib.compressobj(9, wbits=-15)
    data = body.compress(b" " * 30_000_000) + body.flush()
    checksum = zlib.crc32(b" " * 30_000_000)
    fields = struct.pack("<HHHHHIII", 20, 0, 8, 0, 0, checksum, len(data), 30_000_000)
    out = b"PK\3\4" + fields + struct.pack("<HH", 18, 0) + b"conversations.json" + data
    central = b""
    for number in range(2000):
        name = b"conversations.json" if number == 0 else b"conversations-%04d" % number
        central += (
            b"PK\1\2"
            + struct.pack("<H", 20)
            + fields
            + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0)
            + name
        )
    end = struct.pack("<HHHHIIH", 0, 0, 2000, 2000, len(central), len(out), 0)
    return out + central + b"PK\5\6" + end


def lying_size() -> bytes:
    """A file that says it is ten bytes and unpacks to 300 MB."""
    data = bytearray(_filled("conversations.json", b"[", b" ", 300_000_000))
    at = data.rfind(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    return bytes(data)


def in_itself() -> bytes:
    data = packed({"conversations.json": b"[]" * 1000})
    for number in range(30):
        data = packed({f"{number}.zip": data, "conversations.json.zip": data[:1000]})
    return data


def names() -> bytes:
    return packed(
        {
            "../../../../etc/cron.d/x": b"x",
            "/etc/passwd": b"x",
            "conversations.json": b"[]",
            "a\0b": b"",
            "C:\\x": b"",
        }
    )


def end_of_directory() -> bytes:
    return (
        b"PK\3\4"
        + bytes(100)
        + b"PK\5\6"
        + struct.pack("<HHHHIIH", 0, 0, 65_535, 65_535, 2**32 - 1, 2**32 - 1, 65_535)
    )


def deep() -> bytes:
    return b'[{"mapping":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}]"


def numbers() -> bytes:
    return b'[{"create_time":' + b"9" * 1_000_000 + b',"mapping":{}}]'


def surrogates() -> bytes:
    return b'[{"title":"\\ud800\\udfff\\udc00","mapping":{"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["\\ud800"]}}}}}]'


def chatgpt(mapping: dict[str, Any], **more: Any) -> bytes:
    return json.dumps([{"id": "c", "title": "t", "mapping": mapping, **more}]).encode()


def parents_in_a_circle() -> bytes:
    return chatgpt(
        {
            "a": {"id": "a", "parent": "b", "children": ["b"]},
            "b": {"id": "b", "parent": "a", "children": ["a"]},
        },
        current_node="a",
    )


def deep_tree() -> bytes:
    """100,000 messages, each the answer to the one before."""
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}
    return chatgpt(
        {
            str(at): {
                "id": str(at),
                "parent": str(at - 1) if at else None,
                "children": [str(at + 1)],
                "message": {"id": str(at), **said},
            }
            for at in range(100_000)
        },
        current_node="99999",
    )


def wide_tree() -> bytes:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}
    mapping: dict[str, Any] = {
        str(at): {"id": str(at), "parent": "0", "children": [], "message": {"id": str(at), **said}}
        for at in range(1, 50_000)
    }
    return chatgpt(mapping | {"0": {"id": "0", "parent": None, "children": list(mapping), "message": None}})


def many_conversations() -> bytes:
    one = {
        "title": "",
        "mapping": {"a": {"id": "a", "message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}}},
    }
    return json.dumps([one | {"id": str(number)} for number in range(20_000)]).encode()


def duologue_lines(*lines: dict[str, Any]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def bad_lines() -> bytes:
    talk = {
        "type": "conversation",
        "duologue": 1,
        "conversation": {"id": "x" * 100_000, "created": 10**400, "tags": ["t"] * 50_000},
    }
    return duologue_lines(
        talk, *({"type": "message", "message": {"id": n, "parent": n}} for n in range(1000))
    )


def bad_files() -> bytes:
    talk = {"type": "conversation", "duologue": 1, "conversation": {"id": "filed", "title": "t"}}
    file = {"type": "file", "hash": "0" * 64, "name": "../../x", "mime": "image/png", "data": "A" * 3_000_000}
    return duologue_lines(
        talk, file, file | {"hash": "../../../x"}, file | {"data": "!!"}, file | {"data": 7}
    )


def open_webui() -> bytes:
    history = {
        "messages": {
            "a": {"id": "a", "parentId": "a", "childrenIds": ["a"] * 10_000, "role": "user", "content": [1]}
        },
        "currentId": "a",
    }
    return json.dumps([{"id": "w", "chat": {"history": history, "messages": [], "title": 7}}]).encode()


def llama_page() -> bytes:
    return b"\n".join(
        b'{"conv":{"id":"l","currNode":%d},"messages":[{"id":%d,"parent":%d,"convId":"l","role":"x"}]}'
        % (n, n, n)
        for n in range(20_000)
    )


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "import " + function.__name__.replace("_", " "): function
    for function in (
        blanks, brackets, empty_objects, long_text, json_lines, many_files, overlapping, lying_size, in_itself, names,
        end_of_directory, deep, numbers, surrogates, parents_in_a_circle, deep_tree, wide_tree, many_conversations,
        bad_lines, bad_files, open_webui, llama_page,
    )
}  # fmt: skip
