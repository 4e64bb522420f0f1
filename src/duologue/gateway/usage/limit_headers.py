"""The headers that tell a client how much of its key's limits is left, as OpenAI's API and Anthropic's have them.

Middleware inside of authentication. Only answers to keys with limits have them; a key without any costs one look into a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue import caller
from duologue.gateway.usage.usage_meter import UsageMeter
from duologue.http.error_responses import is_anthropic, is_openai
from duologue.values.usage.key_limits import AppliedLimits

Limits = list[tuple[str, int, int, float]]
"""Name, limit, what is left, and the seconds until all of it is."""


class LimitHeaders:
    def __init__(self, app: ASGIApp, meter: UsageMeter) -> None:
        self._app, self._meter = app, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not is_openai(scope["path"]):
            await self._app(scope, receive, send)
            return
        share = caller.share(str(scope.get("state", {}).get("user", "")))

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                limits = self._meter.lookup.limits(share)
                if limits.requests_per_minute or limits.tokens_per_minute or limits.tokens_per_day:
                    of_anthropic = is_anthropic(scope["path"], scope["headers"])
                    fields = self._fields(share, limits, of_anthropic=of_anthropic)
                    message = {**message, "headers": [*message.get("headers", ()), *fields]}
            await send(message)

        await self._app(scope, receive, send_with_limits)

    def _fields(
        self, share: str, applied: AppliedLimits, *, of_anthropic: bool
    ) -> Iterator[tuple[bytes, bytes]]:
        standing = self._meter.standing(share)
        limits: Limits = []
        if standing.requests is not None:
            limits.append(("requests", applied.requests_per_minute, *standing.requests))
        if standing.tokens is not None:
            limits.append(("tokens", applied.tokens_per_minute, *standing.tokens))
        if standing.tokens_today is not None:
            limits.append(("tokens-day", applied.tokens_per_day, *standing.tokens_today))
        unix = self._meter.now().unix
        for name, limit, left, reset in limits:
            if of_anthropic:
                at = datetime.fromtimestamp(unix + reset, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                values = {"limit": str(limit), "remaining": str(left), "reset": at}
                pairs = [(f"anthropic-ratelimit-{name}-{field}", value) for field, value in values.items()]
            else:
                values = {"limit": str(limit), "remaining": str(left), "reset": duration(reset)}
                pairs = [(f"x-ratelimit-{field}-{name}", value) for field, value in values.items()]
            for field, value in pairs:
                yield field.encode(), value.encode()


def duration(seconds: float) -> str:
    """A time as OpenAI's headers have it: `120ms`, `7.5s`, `6m0s`, `5h3m0s`."""
    milliseconds = round(seconds * 1000)
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:g}s"
    minutes, rest = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + f"{minutes}m{rest}s"
