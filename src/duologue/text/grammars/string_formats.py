"""The formats of strings that JSON schemas name, as patterns. Called by `schema_grammar`.

Each pattern makes only texts of the format. Some are narrower than it: an address of IPv6 is written in full.
"""

from __future__ import annotations

_YEAR = r"(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})"
_FOURTH = "(0[48]|[2468][048]|[13579][26])"
"""Two digits of a number that four divides, but for 00."""
_DATE = (
    rf"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
    rf"|(\d\d{_FOURTH}|{_FOURTH}00)-02-29)"
)
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ATOM = "[A-Za-z0-9_%+-]{1,64}"
_BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_DAYS = r"(\d{1,6}Y(\d{1,6}M(\d{1,6}D)?)?|\d{1,6}M(\d{1,6}D)?|\d{1,6}D)"
_HOURS = r"T(\d{1,6}H(\d{1,6}M(\d{1,6}S)?)?|\d{1,6}M(\d{1,6}S)?|\d{1,6}S)"
_SEGMENT = r"([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_REST = r"([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*"
FORMATS: dict[str, str] = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": rf"^P(\d{{1,6}}W|{_DAYS}({_HOURS})?|{_HOURS})$",
    "uuid": r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    "email": rf"^{_ATOM}(\.{_ATOM})*@{_LABEL}(\.{_LABEL})*\.[A-Za-z]{{2,24}}$",
    "hostname": rf"^{_LABEL}(\.{_LABEL})*$",
    "ipv4": rf"^{_BYTE}(\.{_BYTE}){{3}}$",
    "ipv6": "^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$",
    "uri": rf"^[A-Za-z][A-Za-z0-9+.-]{{0,31}}:(//{_LABEL}(\.{_LABEL})*(:\d{{1,5}})?(/{_SEGMENT}*)*|{_SEGMENT}+(/{_SEGMENT}*)*)"
    rf"(\?{_REST})?(#{_REST})?$",
}
UNCHECKED = frozenset(("int32", "int64", "uint32", "uint64", "float", "double", "password", "binary", "byte"))
"""Formats of OpenAPI's that say how a value is stored or shown, and refuse none."""
