"""What an error of an object storage means: a file that is missing, no access, no bucket, or a server that does not answer. Pure.

`object_store.py` turns the client's exceptions into these.
"""

from __future__ import annotations

import re

from duologue.errors import NotFound, Problem, Unavailable

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_REFUSED = {
    "AccessDenied",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "AllAccessDisabled",
}


def problem_of(said: str, place: str, missing: NotFound) -> Problem:
    """The error to raise for one whose text is `said`: `missing`, or Unavailable with a sentence that begins with `place`."""
    status = int(found[1]) if (found := _STATUS.search(said)) else 0
    code = found[1] if (found := _CODE.search(said)) else ""
    if code == "NoSuchBucket":
        return Unavailable(
            f"{place} does not exist. Make the bucket, or correct storage.s3.bucket and storage.s3.endpoint.",
            code="storage_bucket_missing",
        )
    if code in _REFUSED or status in (401, 403):
        return Unavailable(
            f"{place} refuses the access key{f' ({code})' if code else ''}. Check storage.s3.access_key and its secret, and that it may "
            "read, write, list and delete there.",
            code="storage_denied",
        )
    if status == 404 or "not found" in said.partition(":")[0]:
        return missing
    reason = " ".join(filter(None, (f"it answered {status}" if status else "no answer", code)))
    return Unavailable(
        f"{place} cannot be used: {reason}. Check that the server of storage.s3.endpoint runs and can be reached from here.",
        code="storage_unavailable",
    )


def is_past_end(said: str) -> bool:
    """Whether a range was asked for that begins at the end of a file or after it."""
    return "status code: 416" in said
