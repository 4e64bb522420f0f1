"""The built-in fetch tool: reads a web page as text, from addresses that tools may reach.

Every redirect is checked again; size, time and the number of redirects are limited. Scripts are not run, and no
cookies or keys are sent.
"""

from __future__ import annotations

from duologue.decoder.service import decode
from duologue.tools.builtin.web_page import read_page
from duologue.tools.ssrf_guard import AddressGuard
from duologue.tools.web_request import get_from_web

SECONDS = 20.0
BYTES = 5_000_000
ACCEPT = "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5"
SHOWN = 20_000
"""Maximum characters of one answer; the model reads on with `start`."""


async def fetch_page(
    url: str, addresses: AddressGuard, *, start: int = 0, length: int = SHOWN, user: str = ""
) -> str:
    """Fetch `url` as text for this user, from character `start` on, at most `length` characters.

    Raises BadRequest or Forbidden for a URL that is invalid or not allowed, Unavailable when its server fails.
    """
    answer = await get_from_web(url, addresses, accept=ACCEPT, seconds=SECONDS, most_bytes=BYTES)
    address, kind = answer.url, answer.content_type
    title, text = await decode(read_page, answer.body, address, kind, user=user)
    return _part(address, title, text, start=max(start, 0), length=max(min(length, SHOWN), 1))


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
