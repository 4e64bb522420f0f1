"""Reads the body of a web answer as text: a page as Markdown, JSON indented, other text as it is.

A job for `decoder.service.decode`, called by the fetch tool: the bytes are a stranger's, and the parser is a native library.
"""

from __future__ import annotations

import json
import re

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest
from duologue.tools.builtin.html_to_markdown import page_text

TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "application/x-yaml")


@decoder_job(memory_mb=512, preload=("lxml.etree",))
def read_page(body: bytes, address: str, kind: str) -> tuple[str, str]:
    """The title and the text of the body that came from `address` with the content type `kind`. Raises BadRequest."""
    mime = kind.partition(";")[0].strip().lower()
    charset = re.search(r"charset=[\"']?([\w.:-]+)", kind) or re.search(
        rb"charset=[\"']?([\w.:-]+)", body[:2048]
    )
    name = charset.group(1) if charset else "utf-8"
    encoding = name.decode("ascii") if isinstance(name, bytes) else name
    try:
        text = body.decode(encoding, "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    if "html" in mime or (not mime and "<html" in text[:2000].lower()):
        return page_text(text, address)
    if mime and not mime.startswith(TEXTUAL) and not mime.endswith(("+json", "+xml")):
        raise BadRequest(
            f"{address} is a file of type {mime}, not a page. Ask the user to attach it instead.",
            code="not_a_page",
        )
    if mime.endswith("json"):
        try:
            return "", json.dumps(json.loads(text), ensure_ascii=False, indent=1)
        except (ValueError, RecursionError):
            pass
    return "", text
