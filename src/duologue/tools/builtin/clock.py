"""The built-in clock: the time now, in any zone, and the way from one moment to another.

The time is an argument. Zones are those of the system's database, or of the package tzdata where it has none.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from tzlocal import get_localzone_name

from duologue.errors import BadRequest


def describe_time(milliseconds: int, zone: str = "UTC", since: str = "", until: str = "") -> str:
    """What time it is in `zone` (an IANA name or an offset), and how far it is from `since` or to `until`.

    Raises BadRequest (bad_time) naming what cannot be read.
    """
    where = parse_zone(zone)
    now = datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(where)
    # duologue-mini copies what it is told first, in words like its own: of ways to say this, it understood this one best.
    day = f"{now:%A} of week {now.isocalendar().week}, {now:%Y-%m-%d}"
    lines = [f"The time is {now:%H:%M}, {day}, {', '.join(dict.fromkeys((zone.strip(), _offset(now))))}"]
    start = _parse_moment(since, where, now) if since.strip() else now
    end = _parse_moment(until, where, now) if until.strip() else now
    if since.strip() or until.strip():
        lines.append(_describe_distance(start, end))
    return "\n".join(lines)


def parse_zone(name: str) -> tzinfo:
    """The zone of an IANA name, a city or an offset. Raises BadRequest (bad_time)."""
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
    # "Berlin", "new york": the one zone that ends so.
    city = name.lower().replace(" ", "_")
    matches = sorted(zone for zone in available_timezones() if zone.lower().rpartition("/")[2] == city)
    if not matches:
        raise _bad(name)
    return ZoneInfo(matches[0])


def local_zone_name() -> str:
    """The zone of this machine; UTC where it names none that there is."""
    try:
        name = get_localzone_name() or "UTC"
        parse_zone(name)
    except (LookupError, ValueError, OSError, BadRequest):
        return "UTC"
    return name


def _bad(name: str) -> BadRequest:
    return BadRequest(
        f"There is no time zone {name!r}; take one like Europe/Berlin, or +02:00.", code="bad_time"
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
            f"{text!r} is no time that can be read; write 2026-12-24 or 2026-12-24T18:30.", code="bad_time"
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
