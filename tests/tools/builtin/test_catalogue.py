import pytest
from tests.tools.test_pinned_transport import site

from duologue.errors import Unavailable
from duologue.tools.builtin.catalogue import TOOLS, BuiltinTools
from duologue.tools.ssrf_guard import AddressGuard, AllowList
from duologue.values.conversations import Hit

pytestmark = pytest.mark.anyio
ALL = ("clock", "calculator", "fetch", "search")


def builtin(names=ALL, search=None, **places):
    return BuiltinTools(names, AddressGuard(AllowList()), search, now=lambda: 1_700_000_000_000, **places)


async def call_builtin(name, arguments, **options):
    outcome = await builtin(**options).call_tool(name, arguments, "ann")
    return outcome.failed, outcome.content[0].text


async def test_all_of_them_only_read():
    assert set(TOOLS) == set(ALL)
    assert all(tool.read_only for tool in TOOLS.values())


async def test_only_what_is_switched_on_is_there():
    assert [tool.name for tool in builtin(("clock", "search")).tools] == ["clock"]
    assert (await call_builtin("fetch", {"url": "https://x"}, names=("clock",)))[0]


async def test_clock_and_calculator_answer():
    assert await call_builtin("calculator", {"expression": "6 * 7"}) == (False, "42")
    assert "2023-11-14" in (await call_builtin("clock", {"zone": "UTC"}))[1]


async def in_auckland(user):
    assert user == "ann"
    return "Pacific/Auckland"


async def on_mars(user):
    return "Mars/Olympus"


async def nowhere(user):
    return ""


async def unknown(user):
    raise Unavailable("The database does not answer.")


@pytest.mark.parametrize(
    ("zone", "home", "text"),
    [
        (
            in_auckland,
            "Europe/Berlin",
            "The time is 11:13, Wednesday of week 46, 2023-11-15, Pacific/Auckland",
        ),
        (on_mars, "Europe/Berlin", "The time is 23:13, Tuesday of week 46, 2023-11-14, Europe/Berlin"),
        (unknown, "Europe/Berlin", "The time is 23:13, Tuesday of week 46, 2023-11-14, Europe/Berlin"),
        (nowhere, "Europe/Berlin", "The time is 23:13, Tuesday of week 46, 2023-11-14, Europe/Berlin"),
        (None, "UTC", "The time is 22:13, Tuesday of week 46, 2023-11-14, UTC"),
    ],
)
async def test_the_clock_is_read_where_the_user_is_else_where_the_server_is(zone, home, text):
    assert (await call_builtin("clock", {}, zone=zone, home=home))[1].startswith(text)
    assert "+05:30" in (await call_builtin("clock", {"zone": "+05:30"}, zone=zone, home=home))[1]


async def test_arguments_that_do_not_fit_are_a_failed_outcome():
    failed, text = await call_builtin("calculator", {"expresion": "1"})
    assert failed
    assert "expression" in text
    assert (await call_builtin("calculator", {"expression": "1/0"}))[0]


async def test_a_page_inside_is_not_fetched():
    failed, text = await call_builtin("fetch", {"url": "http://127.0.0.1/"})
    assert failed
    assert "private" in text


async def test_a_page_is_read_in_the_turn_of_its_user(monkeypatch):
    turns = []

    async def decode(*arguments, user=""):
        turns.append(user)
        return "Tea", "Green"

    monkeypatch.setattr("duologue.tools.builtin.fetch.decode", decode)
    with site({"/": (200, {"content-type": "text/html"}, b"<p>Green")}) as (port, _):
        here = AddressGuard(AllowList(("127.0.0.1",)))
        tools = BuiltinTools(["fetch"], here, None, now=lambda: 0)
        outcome = await tools.call_tool("fetch", {"url": f"http://127.0.0.1:{port}/"}, "ada")
    assert (outcome.failed, turns) == (False, ["ada"])


async def test_search_finds_what_the_user_said_and_nobody_else():
    asked = []

    async def search(user, query, limit):
        asked.append((user, query, limit))
        return (
            [Hit("c", "Trips", "m", "user", 1_700_000_000_000, "to  Bonn\nand back")]
            if query == "bonn"
            else []
        )

    failed, text = await call_builtin("search", {"query": "bonn", "limit": 3}, search=search)
    assert (failed, text) == (False, "2023-11-14, in 'Trips', user: to Bonn and back")
    assert "No results" in (await call_builtin("search", {"query": "x"}, search=search))[1]
    assert (await call_builtin("search", {"query": " "}, search=search))[0]
    assert asked == [("ann", "bonn", 3), ("ann", "x", 10)]
    there = await call_builtin("search", {"query": "bonn"}, search=search, zone=in_auckland)
    assert there[1].startswith("2023-11-15, ")
