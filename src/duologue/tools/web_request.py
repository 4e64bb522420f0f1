"""A GET of a web address that came from a model or a user, from addresses that tools may reach.

Used by the fetch tool, for pictures in replies and for media at addresses. Every redirect is checked again; size, time and the number of redirects are
limited. No cookies, keys or referrers are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import anyio
from msgspec import Struct

from duologue import __version__
from duologue.errors import BadRequest, Unavailable
from duologue.tools.ssrf_guard import AddressGuard

if TYPE_CHECKING:
    import httpx2

HOPS = 5


class WebAnswer(Struct, frozen=True):
    """`url`: after redirects. `complete` is false for a body that was cut off at the limit. `cache_control`: the directives of all
    redirects and the answer."""

    url: str
    content_type: str
    body: bytes
    complete: bool
    cache_control: str = ""


async def get_from_web(
    url: str, addresses: AddressGuard, *, accept: str, seconds: float, most_bytes: int
) -> WebAnswer:
    """Fetch `url`, within `seconds` and at most `most_bytes` of it.

    Raises BadRequest or Forbidden for a URL that is invalid or not allowed, Unavailable when its server fails.
    """
    url = url.strip()
    try:
        valid = url.startswith(("http://", "https://")) and bool(urlsplit(url).hostname)
    except ValueError:
        valid = False
    if not valid:
        raise BadRequest("url must be an absolute URL beginning with https:// or http://.", code="bad_url")
    try:
        with anyio.fail_after(seconds):
            return await _follow(url, addresses, accept, most_bytes)
    except TimeoutError:
        raise Unavailable(f"{url} did not answer within {seconds:g} seconds.", code="fetch_failed") from None


async def _follow(url: str, addresses: AddressGuard, accept: str, most_bytes: int) -> WebAnswer:
    import httpx2

    from duologue.tools.pinned_transport import checked_transport

    headers = {"user-agent": f"duologue/{__version__} (a person asked for this page)", "accept": accept}
    async with httpx2.AsyncClient(
        transport=checked_transport(addresses), headers=headers, timeout=None, trust_env=False
    ) as client:
        directives: list[str] = []
        for _ in range(HOPS + 1):
            try:
                async with client.stream("GET", url, follow_redirects=False) as response:
                    client.cookies.clear()
                    directives += response.headers.get_list("cache-control")
                    location = response.headers.get("location", "")
                    if response.is_redirect and location:
                        url = urljoin(url, location)
                        if not url.startswith(("http://", "https://")):
                            raise BadRequest(
                                f"The address redirects to {url[:200]}, which is no web address.",
                                code="bad_url",
                            )
                        continue
                    if response.status_code >= 400:
                        status = f"{response.status_code} {response.reason_phrase}".strip()
                        raise Unavailable(f"{url} answered {status}.", code="fetch_failed")
                    body, complete = await _read_body(response, most_bytes)
                    kind = response.headers.get("content-type", "")
                    return WebAnswer(url, kind, body, complete, ", ".join(directives))
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise Unavailable(
                    f"{url} could not be fetched: {str(error) or type(error).__name__}.", code="fetch_failed"
                ) from None
    raise Unavailable(f"The address redirects more than {HOPS} times.", code="fetch_failed")


async def _read_body(response: httpx2.Response, most_bytes: int) -> tuple[bytes, bool]:
    """The body, at most `most_bytes` of it, and whether that is all."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > most_bytes:
            del body[most_bytes:]
            return bytes(body), False
    return bytes(body), True
