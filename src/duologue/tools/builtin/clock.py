"""The built-in clock: the current time in any zone, and the distance between two moments.

The current time is an argument. Zones come from the system's database, or from the package tzdata.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from tzlocal import get_localzone_name

from duologue.errors import BadRequest


def describe_time(milliseconds: int, zone: str = "UTC", since: str = "", until: str = "") -> str:
    """The time in `zone` (an IANA name or an offset) as text, and the distance from `since` or to `until`.

    `milliseconds` since 1970. Raises BadRequest (bad_time) naming the value that cannot be parsed.
    """
    where = parse_zone(zone)
    now = datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(where)
    # The bundled small model copies the first thing it reads; of several wordings it understood this one best.
    day = f"{now:%A} of week {now.isocalendar().week}, {now:%Y-%m-%d}"
    lines = [f"The time is {now:%H:%M}, {day}, {', '.join(dict.fromkeys((zone.strip(), _offset(now))))}"]
    start = _parse_moment(since, where, now) if since.strip() else now
    end = _parse_moment(until, where, now) if until.strip() else now
    if since.strip() or until.strip():
        lines.append(_describe_distance(start, end))
    return "\n".join(lines)


def parse_zone(name: str) -> tzinfo:
    """Parse an IANA name, a city or an offset. Raises BadRequest (bad_time)."""
    name = name.strip()
    if not name or name.upper() in ("UTC", "Z", "GMT"):
        return UTC
    offset = name.upper().removeprefix("UTC").removeprefix("GMT")
    if offset[:1] in ("+", "-"):
        try:
            moment = datetime.fromisoformat(f"2000-01-01T00:00{_pad_offset(offset)}")
            assert moment.tzinfo is not None
            return moment.tzinfo
        except ValueError:
            raise _bad(name) from None
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        pass
    # A city alone, such as "Berlin" or "new york": the first zone that ends with it.
    city = name.lower().replace(" ", "_")
    matches = sorted(zone for zone in available_timezones() if zone.lower().rpartition("/")[2] == city)
    if not matches:
        raise _bad(name)
    return ZoneInfo(matches[0])


def local_zone_name() -> str:
    """The IANA name of this machine's zone; UTC when it is unknown or invalid."""
    try:
        name = get_localzone_name() or "UTC"
        parse_zone(name)
    except (LookupError, ValueError, OSError, BadRequest):
        return "UTC"
    return name


def _bad(name: str) -> BadRequest:
    return BadRequest(
        f"Unknown time zone {name!r}; use a name like Europe/Berlin or an offset like +02:00.",
        code="bad_time",
    )


def _pad_offset(offset: str) -> str:
    sign, digits = offset[0], offset[1:].replace(":", "")
    digits = digits.zfill(2) if len(digits) <= 2 else digits.zfill(4)
    return f"{sign}{digits[:2]}:{digits[2:] or '00'}"


def _parse_moment(text: str, zone: tzinfo, now: datetime) -> datetime:
    text = text.strip()
    if text.lower() in ("now", "today"):
        return now if text.lower() == "now" else now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(
            f"{text!r} is not a valid time; write 2026-12-24 or 2026-12-24T18:30.", code="bad_time"
        ) from None
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def _format(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} {_offset(moment)}"


def _offset(moment: datetime) -> str:
    offset = moment.strftime("%z")
    return f"{offset[:3]}:{offset[3:5]}"


def _describe_distance(start: datetime, end: datetime) -> str:
    sign = "" if end >= start else "minus "
    first, last = min(start, end), max(start, end)
    gap: timedelta = last - first
    hours, rest = divmod(gap.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{gap.days} days, {hours} hours, {minutes} minutes, {seconds} seconds"
    days = (date(last.year, last.month, last.day) - date(first.year, first.month, first.day)).days
    return (
        f"From {_format(start)} to {_format(end)}: {sign}{exact}"
        f" ({sign}{days} calendar days, {sign}{_months(first, last)})"
    )


def _months(first: datetime, last: datetime) -> str:
    months = (last.year - first.year) * 12 + last.month - first.month
    if (last.day, last.time()) < (first.day, first.time()):
        months -= 1
    years, months = divmod(months, 12)
    return f"{years} full years and {months} months"
