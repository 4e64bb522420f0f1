"""A stand-in for an S3-compatible server, as far as the server uses one: objects, ranges, lists in pages, uploads in parts, signatures.

It answers in a thread of its own and knows the errors that clients meet. `make test-engines NAMES=s3` tries a server of others.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, SECRET = "a-key", "a-secret"
PAGE = 3
"""Objects of one page of a list: few, so that the tests meet several pages."""


class S3StandIn:
    """`objects`: by bucket and name. `refuse`: what a request is answered with, a status and a code, where it matches."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, tuple[bytes, datetime]]] = {"users": {}}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.numbers = count(1)
        self.refuse: tuple[str, int, str] | None = None
        """A method, a status and a code: every request of that method fails so."""
        self.requests: list[str] = []
        self.address = ""

    def names(self, bucket: str = "users") -> list[str]:
        return sorted(self.objects[bucket])


@contextmanager
def s3_stand_in() -> Iterator[S3StandIn]:
    """A server with one empty bucket, `users`."""
    state = S3StandIn()

    class Handler(_Handler):
        stand_in = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stand_in: S3StandIn

    def log_message(self, format: str, *args: object) -> None:
        return None

    def setup(self) -> None:
        super().setup()
        # Small answers in two pieces would wait for each other's acknowledgement.
        self.connection.setsockopt(6, 1, 1)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client has given up a request
            super().handle()

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        bucket, _, name = unquote(address.path).lstrip("/").partition("/")
        state = self.stand_in
        state.requests.append(f"{self.command} {name or bucket}")
        if state.refuse and state.refuse[0] == self.command:
            self._fail(*state.refuse[1:])
        elif not self._is_signed(address.path, query):
            self._fail(403, "SignatureDoesNotMatch")
        elif bucket not in state.objects:
            self._fail(404, "NoSuchBucket")
        else:
            getattr(self, f"_{self.command.lower()}")(bucket, name, query, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815 - the names that the library calls

    def _get(self, bucket: str, name: str, query: dict[str, str], body: bytes) -> None:
        if not name:
            self._list(bucket, query)
            return
        found = self.stand_in.objects[bucket].get(name)
        if found is None:
            self._fail(404, "NoSuchKey")
            return
        data, modified = found
        headers = {"etag": f'"{hashlib.md5(data).hexdigest()}"', "last-modified": _http_date(modified)}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if span is None:
            self._answer(200, data, headers)
            return
        start, end = int(span[1]), min(int(span[2] or len(data)) + 1, len(data))
        if start >= len(data):
            self._fail(416, "InvalidRange")
            return
        headers["content-range"] = f"bytes {start}-{end - 1}/{len(data)}"
        self._answer(206, data[start:end], headers)

    _head = _get

    def _put(self, bucket: str, name: str, query: dict[str, str], body: bytes) -> None:
        if "uploadId" in query:
            self.stand_in.parts[query["uploadId"]][int(query["partNumber"])] = body
        else:
            self.stand_in.objects[bucket][name] = (body, datetime.now(UTC))
        self._answer(200, b"", {"etag": f'"{hashlib.md5(body).hexdigest()}"'})

    def _post(self, bucket: str, name: str, query: dict[str, str], body: bytes) -> None:
        if "uploads" in query:
            id = f"upload-{next(self.stand_in.numbers)}"
            self.stand_in.parts[id] = {}
            said = f"<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
        else:
            parts = self.stand_in.parts.pop(query["uploadId"])
            data = b"".join(parts[number] for number in sorted(parts))
            self.stand_in.objects[bucket][name] = (data, datetime.now(UTC))
            said = '<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>'
        self._answer(200, said.encode())

    def _delete(self, bucket: str, name: str, query: dict[str, str], body: bytes) -> None:
        if "uploadId" in query:
            self.stand_in.parts.pop(query["uploadId"], None)
        else:
            self.stand_in.objects[bucket].pop(name, None)
        self._answer(204, b"")

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
        names = [n for n in self.stand_in.names(bucket) if n.startswith(prefix) and n > after]
        rows = ""
        for name in names[:PAGE]:
            data, modified = self.stand_in.objects[bucket][name]
            rows += (
                f"<Contents><Key>{escape(name)}</Key><LastModified>{modified:%Y-%m-%dT%H:%M:%S.%fZ}</LastModified>"
                f'<ETag>"x"</ETag><Size>{len(data)}</Size></Contents>'
            )
        more = len(names) > PAGE
        token = f"<NextContinuationToken>{escape(names[PAGE - 1])}</NextContinuationToken>" if more else ""
        said = f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{rows}</ListBucketResult>"
        self._answer(200, said.encode())

    def _fail(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def _answer(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _is_signed(self, path: str, query: dict[str, str]) -> bool:
        """Whether the signature (version 4) is that of the key."""
        said = re.match(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, *SignedHeaders=([^,]+), *Signature=(\w+)",
            self.headers.get("authorization", ""),
        )
        if said is None or said[1] != KEY:
            return False
        _, day, region, names, signature = said.groups()
        arguments = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in sorted(query.items()))
        lines = [self.command, path, arguments]
        lines += [f"{name}:{' '.join((self.headers.get(name) or '').split())}" for name in names.split(";")]
        lines += ["", names, self.headers.get("x-amz-content-sha256", "")]
        scope = f"{day}/{region}/s3/aws4_request"
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        text = "\n".join(("AWS4-HMAC-SHA256", self.headers.get("x-amz-date", ""), scope, digest))
        key = f"AWS4{SECRET}".encode()
        for word in (day, region, "s3", "aws4_request"):
            key = hmac.digest(key, word.encode(), "sha256")
        return hmac.compare_digest(hmac.digest(key, text.encode(), "sha256").hex(), signature)


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")


def _http_date(at: datetime) -> str:
    return at.strftime("%a, %d %b %Y %H:%M:%S GMT")
