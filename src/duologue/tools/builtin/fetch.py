"""The built-in fetch tool: reads a web page as text, from addresses that tools may reach.

Every redirect is checked again; size, time and the number of redirects are limited. Scripts are not run, and no
cookies or keys are sent.
"""

from __future__ import annotations

import json
import re
from urllib.parse import urljoin, urlsplit

import anyio

from duologue import __version__
from duologue.errors import BadRequest, Unavailable
from duologue.threads import Refusal, SharedLane
from duologue.tools.builtin.html_to_markdown import page_text
from duologue.tools.ssrf_guard import AddressGuard

SECONDS = 20.0
BYTES = 5_000_000
HOPS = 5
SHOWN = 20_000
"""Maximum characters of one answer; the model reads on with `start`."""
PARSERS = 2
"""Pages parsed at once: a large one takes a second in a thread."""
TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "application/x-yaml")

_parsing = SharedLane(
    "pages",
    PARSERS,
    Refusal(
        "Too many pages are being read at the moment; try again soon.",
        "Other pages took too long to read; try again soon.",
    ),
)


async def fetch_page(url: str, addresses: AddressGuard, *, start: int = 0, length: int = SHOWN) -> str:
    """Fetch `url` as text, from character `start` on, at most `length` characters.

    Raises BadRequest or Forbidden for a URL that is invalid or not allowed, Unavailable when its server fails.
    """
    url = url.strip()
    if not url.startswith(("http://", "https://")) or not urlsplit(url).hostname:
        raise BadRequest("url must be an absolute URL beginning with https:// or http://.", code="bad_url")
    try:
        with anyio.fail_after(SECONDS):
            address, kind, body = await _request(url, addresses)
    except TimeoutError:
        raise Unavailable(f"{url} did not answer within {SECONDS:g} seconds.", code="fetch_failed") from None
    title, text = await _parsing.lane.run(_text, address, kind, body)
    return _part(address, title, text, start=max(start, 0), length=max(min(length, SHOWN), 1))


async def _request(url: str, addresses: AddressGuard) -> tuple[str, str, bytes]:
    import httpx2

    from duologue.tools.pinned_transport import checked_transport

    headers = {
        "user-agent": f"duologue/{__version__} (a person asked for this page)",
        "accept": "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5",
    }
    async with httpx2.AsyncClient(
        transport=checked_transport(addresses), headers=headers, timeout=SECONDS, trust_env=False
    ) as client:
        for _ in range(HOPS + 1):
            try:
                async with client.stream("GET", url, follow_redirects=False) as response:
                    client.cookies.clear()
                    location = response.headers.get("location", "")
                    if response.is_redirect and location:
                        url = urljoin(url, location)
                        if not url.startswith(("http://", "https://")):
                            raise BadRequest(
                                f"The page redirects to {url[:200]}, which is not a web page.", code="bad_url"
                            )
                        continue
                    if response.status_code >= 400:
                        status = f"{response.status_code} {response.reason_phrase}".strip()
                        raise Unavailable(f"{url} answered {status}.", code="fetch_failed")
                    return url, response.headers.get("content-type", ""), await _read_body(response)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise Unavailable(
                    f"{url} could not be fetch_page: {str(error) or type(error).__name__}.",
                    code="fetch_failed",
                ) from None
    raise Unavailable(f"The page was redirected more than {HOPS} times.", code="fetch_failed")


async def _read_body(response: object) -> bytes:
    import httpx2

    assert isinstance(response, httpx2.Response)
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > BYTES:
            del body[BYTES:]
            break
    return bytes(body)


def _text(address: str, kind: str, body: bytes) -> tuple[str, str]:
    """Convert a body to (title, text) by its content type."""
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


def _part(address: str, title: str, text: str, *, start: int, length: int) -> str:
    head = f"{title}\n{address}\n\n" if title else f"{address}\n\n"
    if start and start >= len(text):
        return f"{head}[The page has only {len(text):,} characters.]"
    part = text[start : start + length]
    if not part.strip():
        return f"{head}[The page has no text. It may be rendered by scripts, which are not run.]"
    end = start + len(part)
    rest = (
        f"\n\n[{len(text) - end:,} more characters; fetch again with start={end}.]" if end < len(text) else ""
    )
    return head + part + rest
