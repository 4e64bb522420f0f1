"""A multipart form with one file, read as a stream: the file goes on as it arrives, and the short fields around it are kept.

Used by the routes that take files too large for memory: `/api/blobs` and `/v1/files`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from duologue.errors import BadRequest

FIELDS = 32
"""Fields that a form may have beside its file."""
FIELD_BYTES = 4096
"""Bytes of each."""


async def body_chunks(request: Request) -> AsyncIterator[bytes]:
    """The body of a request as it arrives. Raises BadRequest when it breaks off."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise BadRequest("The upload broke off.") from None


class FileForm:
    """The first file of a multipart form: `open` reads up to the file, `file` yields its bytes. `fields` has the fields before the file
    from then on, and once `file` has ended those behind it too."""

    def __init__(self, chunks: AsyncIterator[bytes], mime: str) -> None:
        from python_multipart.multipart import MultipartParser, parse_options_header

        boundary = parse_options_header(mime)[1].get(b"boundary")
        if not boundary:
            raise BadRequest("The form has no boundary.")
        self._options = parse_options_header
        self._chunks = chunks
        self._header = self._value = b""
        self._has_file = self._in_file = self._is_over = False
        self._buffer = bytearray()
        self.name = self.mime = ""
        self.fields: dict[str, str] = {}
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_part_data": self._data,
                "on_part_end": self._end,
            },
        )
        self._part: dict[bytes, bytes] = {}
        self._field: str | None = None
        self._text = bytearray()

    async def open(self) -> None:
        """Raises BadRequest when there is no file in the form."""
        while not self._has_file:
            if not await self._feed():
                raise BadRequest("There is no file in the form.")

    async def file(self) -> AsyncIterator[bytes]:
        while True:
            if self._buffer:
                piece = bytes(self._buffer)
                self._buffer.clear()
                yield piece
            if self._is_over:
                # Read the rest too: a client that is still sending would not receive the response.
                while await self._feed():
                    pass
                return
            if not await self._feed():
                raise BadRequest("The form breaks off in the middle of the file.")

    async def _feed(self) -> bool:
        from python_multipart.exceptions import MultipartParseError

        chunk = await anext(self._chunks, None)
        if chunk is None:
            return False
        try:
            self._parser.write(chunk)
        except MultipartParseError:
            raise BadRequest("The body is not a multipart form.") from None
        return True

    def _begin(self) -> None:
        self._part = {}

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._part[self._header.lower()] = self._value
        self._header = self._value = b""

    def _headers_finished(self) -> None:
        options = self._options(self._part.get(b"content-disposition", b""))[1]
        self._in_file, self._field = False, None
        if b"filename" in options:
            if not self._has_file:
                self._has_file = self._in_file = True
                self.name = options[b"filename"].decode("utf-8", "replace")
                self.mime = self._part.get(b"content-type", b"").decode("latin-1")
        elif name := options.get(b"name", b"").decode("utf-8", "replace"):
            self._field, self._text = name, bytearray()

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._buffer += data[start:end]
        elif self._field is not None:
            self._text += data[start:end]
            if len(self._text) > FIELD_BYTES:
                raise BadRequest(f"A field of the form is larger than {FIELD_BYTES} bytes.")

    def _end(self) -> None:
        if self._in_file:
            self._in_file, self._is_over = False, True
        elif self._field is not None:
            if len(self.fields) >= FIELDS:
                raise BadRequest(f"The form has more than {FIELDS} fields.")
            self.fields[self._field] = self._text.decode("utf-8", "replace")
            self._field = None
