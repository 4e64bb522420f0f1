"""What a person means by the name of a model to download: a recommended one, a repository, or an address.

Used by every download. Pure: text in, a reference out. Owns which addresses are allowed (https; http only on loopback) and
which file names may be written.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from duologue.errors import BadRequest, ModelNotFound
from duologue.models.recommended import RECOMMENDED, Recommended

HUB = "https://huggingface.co"
HUB_NAMES = ("huggingface.co", "hf.co")
REPOSITORY = re.compile(r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$", re.ASCII)
FILE_NAME = re.compile(r"^[A-Za-z0-9][\w.+-]{0,200}\.gguf$", re.ASCII)
REVISION = re.compile(r"^[\w.-]{1,100}$", re.ASCII)


class HubReference(Struct, frozen=True):
    """A model in a repository of the hub. `variant` is a file's path or a quantisation such as Q4_K_M; "" leaves the choice
    to `repository.choose`. `expected` is the file to prefer if it is there; it is not an error if not."""

    repository: str
    variant: str = ""
    revision: str = "main"
    expected: str = ""


class UrlReference(Struct, frozen=True):
    """A file at an address."""

    url: str
    file: str


Reference = HubReference | UrlReference


def parse(text: str, hub: str = HUB, models: tuple[Recommended, ...] = RECOMMENDED) -> Reference:
    """The reference of `text`. `hub` is the address of the hub in use.

    Raises BadRequest (an address that is not allowed, an invalid name), ModelNotFound naming the nearest.
    """
    text = text.strip()
    if "://" in text:
        return _address(text, hub)
    for name in HUB_NAMES:
        text = text.removeprefix(f"{name}/")
    if "/" not in text:
        return _recommended(text, models)
    rest, _, revision = text.partition("@")
    repository, _, variant = rest.partition(":")
    return _hub_reference(repository, variant, revision or "main")


def check_address(url: str) -> str:
    """`url`, if it is allowed. Raises BadRequest: not https (http is for loopback only), or a password inside."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadRequest(f"{redact_url(url)} is not an address.", code="address_refused") from None
    if not host or parts.scheme not in ("http", "https"):
        raise BadRequest(f"{redact_url(url)} is not the address of a web server.", code="address_refused")
    if parts.scheme == "http" and not is_loopback(host):
        raise BadRequest(
            f"{redact_url(url)} is not encrypted: anyone on the way could change the model. Use https.",
            code="address_refused",
        )
    if parts.username or parts.password:
        raise BadRequest(
            "An address with a password inside ends up in logs and shell histories. "
            "Leave it out; for a hub set HF_TOKEN.",
            code="address_refused",
        )
    return url


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or literal address alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_file_name(name: str) -> str:
    """`name`, if a file may be written under it. The name comes from another server. Raises BadRequest."""
    if not FILE_NAME.match(name):
        raise BadRequest(
            f"{name[:80]!r} is not a name for a model file. It must end in .gguf and have only letters, digits "
            "and . _ + - in it.",
            code="file_name_refused",
        )
    return name


def redact_url(url: str) -> str:
    """An address without password, query and fragment, which may contain signatures and tokens."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "The address"
    if not host:
        return repr(parts.path[:80])
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def _address(url: str, hub: str) -> Reference:
    check_address(url)
    parts = urlsplit(url)
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    is_hub = (parts.hostname, parts.port) == (urlsplit(hub).hostname, urlsplit(hub).port)
    if is_hub or parts.hostname in HUB_NAMES:
        if len(segments) == 2:
            return _hub_reference("/".join(segments), "", "main")
        if len(segments) > 4 and segments[2] in ("resolve", "blob"):
            return _hub_reference("/".join(segments[:2]), "/".join(segments[4:]), segments[3])
    return UrlReference(url, check_file_name(segments[-1] if segments else ""))


def _hub_reference(repository: str, variant: str, revision: str) -> HubReference:
    if not REPOSITORY.match(repository):
        raise BadRequest(
            f"{repository[:80]!r} is not a repository of a hub. Give it as OWNER/NAME, optionally followed by :FILE or :Q4_K_M."
        )
    if not REVISION.match(revision):
        raise BadRequest(f"{revision[:80]!r} is not a revision of a repository.")
    return HubReference(repository, variant, revision)


def _recommended(name: str, models: tuple[Recommended, ...]) -> HubReference:
    for model in models:
        if model.name == name.lower():
            return HubReference(model.repository, expected=model.file)
    near = get_close_matches(name.lower(), [model.name for model in models], n=1)
    advice = f" Did you mean {near[0]!r}?" if near else ""
    raise ModelNotFound(
        f"No model called {name!r} is known for download.{advice} `duologue models list --available` has the names; "
        "any other is given as OWNER/REPOSITORY or by its address."
    )
