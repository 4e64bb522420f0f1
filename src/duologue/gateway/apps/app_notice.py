"""What every socket sends when the mode it serves is switched off: it is no error, for clients take that as the end of a reply."""

from __future__ import annotations

import msgspec

ENDS_SOON = "An admin has switched this off. It ends after the current reply."


def app_disabled_message(app: str) -> str:
    """The app was switched off; the socket is closed after the current reply."""
    fields = {"type": "app_disabled", "app_id": app, "code": "app_disabled", "message": ENDS_SOON}
    return msgspec.json.encode(fields).decode()
