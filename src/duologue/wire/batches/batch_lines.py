"""The lines of a batch: requests in its input, answers in its results.

Owns what a line must have, and how an answer is written. Pure; the files are read and written by `gateway/batches`.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Struct

from duologue.values.batches.stored_batch import BatchUsage, LineError
from duologue.wire.validation_errors import shortened

MOST_ERRORS = 100
"""The most errors of an input that are reported."""
LONGEST_ID = 512
"""Characters of a `custom_id`."""
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


class RequestLine(Struct, frozen=True):
    """A request of a batch. `body`: JSON."""

    custom_id: str
    body: bytes

    @property
    def key(self) -> bytes:
        return line_key(self.custom_id)


def line_key(custom_id: str) -> bytes:
    """What stands for a `custom_id` where very many are remembered."""
    return hashlib.blake2b(custom_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _WrongLine(Exception):
    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.param = code, message, param


def request_line(data: bytes) -> RequestLine:
    """A line that was checked before."""
    fields = _fields.decode(data)
    return RequestLine(msgspec.json.decode(fields["custom_id"], type=str), bytes(fields["body"]))


class InputCheck:
    """Checks the lines of an input one after another: `total` is their number, `errors` what is wrong, `model` the first one's."""

    def __init__(self, endpoint: str, most: int) -> None:
        self._endpoint, self._most = endpoint, most
        self._keys: set[bytes] = set()
        self.total = 0
        self.model = ""
        self.errors: list[LineError] = []

    @property
    def is_over(self) -> bool:
        """Whether reading on would tell nothing more."""
        return len(self.errors) >= MOST_ERRORS or self.total > self._most

    def add(self, number: int, data: bytes | None, line_mb: int) -> None:
        """The line of this number, None for one that is longer than `line_mb` megabytes."""
        if self.is_over:
            return
        self.total += 1
        try:
            if self.total > self._most:
                raise _WrongLine(
                    "too_many_lines",
                    f"A batch may have {self._most:,} requests; the setting batches.lines raises the limit.",
                )
            if data is None:
                raise _WrongLine(
                    "line_too_long",
                    f"The line is longer than {line_mb} MB; the setting batches.line_mb raises the limit.",
                )
            self._check(data)
        except _WrongLine as wrong:
            self.errors.append(LineError(wrong.code, wrong.message, number, wrong.param))

    def finish(self) -> None:
        """There are no more lines."""
        if not self.total:
            self.errors.append(LineError("empty_file", "The input file has no requests."))

    def _check(self, data: bytes) -> None:
        fields = _decoded(data)
        custom_id = fields.get("custom_id")
        if not isinstance(custom_id, str) or not 1 <= len(custom_id) <= LONGEST_ID:
            raise _WrongLine(
                "invalid_custom_id",
                f"custom_id must be a text of 1 to {LONGEST_ID} characters.",
                "custom_id",
            )
        if fields.get("method") != "POST":
            raise _WrongLine("invalid_method", "method must be POST.", "method")
        if fields.get("url") != self._endpoint:
            raise _WrongLine("invalid_url", f"url must be {self._endpoint}, as the batch says.", "url")
        body = fields.get("body")
        if not isinstance(body, dict):
            raise _WrongLine("invalid_body", "body must be an object.", "body")
        key = line_key(custom_id)
        if key in self._keys:
            raise _WrongLine(
                "duplicate_custom_id",
                f"The custom_id {shortened(custom_id)} is used by another line.",
                "custom_id",
            )
        self._keys.add(key)
        model = body.get("model")
        if self.total == 1 and isinstance(model, str):
            self.model = model[:256]


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _WrongLine("invalid_json_line", "The line is not JSON.") from None
    if not isinstance(fields, dict):
        raise _WrongLine("invalid_json_line", "The line is not a JSON object.")
    return fields


class _Asked(Struct):
    stream: bool | None = None
    background: bool | None = None


def unanswerable(body: bytes) -> str | None:
    """The field of a request that has no answer in a file; None where there is none."""
    try:
        asked = msgspec.json.decode(body, type=_Asked)
    except msgspec.DecodeError:
        return None  # the endpoint says what is wrong
    return "stream" if asked.stream else "background" if asked.background else None


class LineResponse(Struct, frozen=True):
    status_code: int
    request_id: str
    body: msgspec.Raw


class LineFailure(Struct, frozen=True):
    code: str
    message: str


class ResultLine(Struct, frozen=True):
    """A line of the results: the answer to a request, or why there is none."""

    id: str
    custom_id: str
    response: LineResponse | None
    error: LineFailure | None

    @property
    def succeeded(self) -> bool:
        """Whether it belongs to the output; the others are in the file of errors."""
        return self.response is not None and 200 <= self.response.status_code < 300

    def encode(self) -> bytes:
        """The line, with its end."""
        return msgspec.json.encode(self) + b"\n"


def answered(id: str, custom_id: str, status: int, request_id: str, body: bytes) -> ResultLine:
    """A request was answered with this body, which is JSON."""
    # A line has no line break inside.
    raw = msgspec.Raw(body if b"\n" not in body else msgspec.json.encode(msgspec.json.decode(body)))
    return ResultLine(id, custom_id, LineResponse(status, request_id, raw), None)


def unanswered(id: str, custom_id: str, code: str, message: str) -> ResultLine:
    """A request was not carried out."""
    return ResultLine(id, custom_id, None, LineFailure(code, message))


class _Details(Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Body(Struct):
    usage: _Usage | None = None


class _Response(Struct):
    body: _Body | None = None


class _Result(Struct):
    custom_id: str
    response: _Response | None = None


_body = msgspec.json.Decoder(_Body)
_result = msgspec.json.Decoder(_Result)


def tokens_of(body: bytes) -> BatchUsage:
    """What an answer says that it used, in either spelling."""
    try:
        return _counts(_body.decode(body))
    except msgspec.DecodeError:
        return BatchUsage()


def known_result(line: bytes) -> tuple[bytes, BatchUsage]:
    """The key of a line of the results, and the tokens of its answer. Raises DecodeError for a line that is none."""
    result = _result.decode(line)
    counts = _counts(result.response.body) if result.response and result.response.body else BatchUsage()
    return line_key(result.custom_id), counts


def _counts(body: _Body) -> BatchUsage:
    if (usage := body.usage) is None:
        return BatchUsage()
    prompt = usage.prompt_tokens_details or usage.input_tokens_details or _Details()
    completion = usage.completion_tokens_details or usage.output_tokens_details or _Details()
    return BatchUsage(
        usage.prompt_tokens or usage.input_tokens or 0,
        prompt.cached_tokens or 0,
        usage.completion_tokens or usage.output_tokens or 0,
        completion.reasoning_tokens or 0,
    )
