"""The catalogue of built-in tools: clock, calculator, fetch, search. All are read-only.

Owns their schemas and descriptions. The search of conversations and the users' time zones are injected.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from duologue.errors import BadRequest, Problem
from duologue.tools.arguments import check
from duologue.tools.builtin.calculator import calculate
from duologue.tools.builtin.clock import describe_time, parse_zone
from duologue.tools.builtin.fetch import fetch_page
from duologue.tools.mcp.capabilities import ServerTool
from duologue.tools.ssrf_guard import AddressGuard
from duologue.tools.values import ToolOutcome, failure
from duologue.values.conversations import Hit, TextContent

SearchConversations = Callable[[str, str, int], Awaitable[Sequence[Hit]]]
ZoneOfUser = Callable[[str], Awaitable[str]]
"""The time zone reported by a user's browser; empty: unknown."""
HITS = 10


def _object(required: Sequence[str], **properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _string(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


TOOLS: dict[str, ServerTool] = {
    "clock": ServerTool(
        "clock",
        "Clock",
        "The date and time now, in any time zone, and how far it is from or to another moment.",
        _object(
            (),
            zone=_string(
                "IANA name like Europe/Berlin, or an offset like +02:00; left out: where the user is"
            ),
            since=_string("A date or time to count from, like 2026-12-24 or 2026-12-24T18:30"),
            until=_string("A date or time to count to"),
        ),
        read_only=True,
    ),
    "calculator": ServerTool(
        "calculator",
        "Calculator",
        "Exact arithmetic: + - * / // % **, sqrt, log, ln, exp, round, factorial, gcd, lcm, min, max, mean, pi, e. "
        "Use it for every calculation beyond the simplest.",
        _object(("expression",), expression=_string("For example (1234.5 * 3 - 17) / 2")),
        read_only=True,
    ),
    "fetch": ServerTool(
        "fetch",
        "Fetch a page",
        "Reads a web page as text. Give the whole address.",
        _object(
            ("url",),
            url=_string("Beginning with https:// or http://"),
            start={"type": "integer", "minimum": 0, "description": "Character to begin at, to read on"},
        ),
        read_only=True,
    ),
    "search": ServerTool(
        "search",
        "Search my conversations",
        "Searches the user's earlier conversations with you for words.",
        _object(
            ("query",),
            query=_string("Words to look for"),
            limit={"type": "integer", "minimum": 1, "maximum": HITS, "description": "Maximum number of hits"},
        ),
        read_only=True,
    ),
}


class BuiltinTools:
    """The enabled built-in tools. `search` takes a user, a query and a limit; None disables the search tool. `home` is
    the time zone of users whose own is unknown."""

    def __init__(
        self,
        names: Sequence[str],
        addresses: AddressGuard,
        search: SearchConversations | None,
        *,
        now: Callable[[], int],
        zone: ZoneOfUser | None = None,
        home: str = "UTC",
    ) -> None:
        self.tools = tuple(
            tool for name, tool in TOOLS.items() if name in names and (name != "search" or search is not None)
        )
        self._addresses = addresses
        self._search = search
        self._now = now
        self._zone_of_user = zone
        self._home = home

    async def call_tool(self, name: str, arguments: Mapping[str, object], user: str) -> ToolOutcome:
        """Run a tool; every failure is an outcome."""
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None:
            return failure(f"There is no built-in tool {name!r}.")
        try:
            check(tool.schema, arguments)
            return ToolOutcome((TextContent(await self._run(name, arguments, user)),))
        except Problem as problem:
            return failure(problem.message)

    async def _run(self, name: str, arguments: Mapping[str, object], user: str) -> str:
        def text(key: str) -> str:
            return str(arguments.get(key) or "")

        match name:
            case "clock":
                zone = text("zone").strip() or await self._zone(user)
                return describe_time(self._now(), zone, text("since"), text("until"))
            case "calculator":
                return calculate(text("expression"))
            case "fetch":
                start = int(str(arguments.get("start") or 0))
                return await fetch_page(text("url"), self._addresses, start=start, user=user)
            case "search":
                return await self._search_conversations(
                    text("query"), int(str(arguments.get("limit") or HITS)), user
                )
        raise BadRequest(f"There is no built-in tool {name!r}.")

    async def _zone(self, user: str) -> str:
        """The user's time zone, else the default: also when this machine does not know the zone, or the store fails."""
        with suppress(Problem):
            if self._zone_of_user is not None and (name := await self._zone_of_user(user)):
                parse_zone(name)
                return name
        return self._home

    async def _search_conversations(self, query: str, limit: int, user: str) -> str:
        assert self._search is not None
        if not query.strip():
            raise BadRequest("query must contain at least one word.")
        hits = await self._search(user, query, max(min(limit, HITS), 1))
        if not hits:
            return "No results. Try fewer or different words."
        lines = []
        where = parse_zone(await self._zone(user))
        for hit in hits:
            day = datetime.fromtimestamp(hit.created / 1000, where).strftime("%Y-%m-%d")
            lines.append(
                f"{day}, in {hit.title or 'untitled'!r}, {hit.role}: {' '.join(hit.snippet.split())}"
            )
        return "\n".join(lines)
