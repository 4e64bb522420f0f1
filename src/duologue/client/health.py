"""Whether a server answers: `duologue health`, the check of containers and service managers.

With nothing but the standard library, because it runs every half minute beside the server.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request

from duologue.errors import Unavailable


def check(base_url: str, *, ready: bool, seconds: float) -> None:
    """Return if the server at this address answers; with `ready`, only if it would also answer a chat with its default model.
    Raises Unavailable with the reason, after `seconds` at the latest.

    A certificate is not checked: it is for the names by which others reach the server, and nothing secret is sent."""
    url = f"{base_url.rstrip('/')}/{'ready' if ready else 'health'}"
    trusting = ssl.create_default_context()
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    # Never by the proxy of the environment: the server is on this machine.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting)
    )
    try:
        with opener.open(url, timeout=seconds):
            return
    except urllib.error.HTTPError as error:
        with error:
            raise Unavailable(_reason(error)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise Unavailable(f"No server answers at {base_url} ({reason}).", code="unreachable") from None


def _reason(error: urllib.error.HTTPError) -> str:
    """The sentence of an answer that is an error, or its status."""
    try:
        return str(json.loads(error.read(65536))["error"]["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"The server answers with status {error.code}."
