"""Two tools, one after the other: what the first finds, the second needs.

Knows which everyday tools follow each other, and invents such pairs for things nobody knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random
from typing import Any

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.toolbox import invented_tools, outcomes
from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action, Request, Tool, arguments, request
from duologue_mini.toolbox.catalogue import named
from duologue_mini.toolbox.exchanges import result_of, then, told, why
from duologue_mini.toolbox.outcomes import done, facts
from duologue_mini.toolbox.parameters import Input, Parameter
from duologue_mini.toolbox.value_kinds import Value


@dataclass(frozen=True)
class Chain:
    """`links` are slots of the second filled from fields of the first; `asks` may hold slots of both.

    `shown` are slots of the second that the answer calls by what the user said for another slot.
    """

    first: Action
    second: Action
    links: Mapping[str, str]
    asks: str
    shown: Mapping[str, str] = field(default_factory=dict)


HERE = Action(
    "location",
    "get location|where am i|current location|locate me|my position|user location",
    "{get|find} {the user's|the current} {location|position|place}",
    "Where am I?|{get|find|tell me} my location",
    facts("You are in $city.", city="place", country="one:Norway|Peru|Kenya|Japan|Chile|India|Spain|Ghana"),
)
FIND_PERSON = Action(
    "people",
    "find user|get user by name|lookup user|search people|user search|find person",
    "{find|look up} a {user|person} by name",
    "{find|look up} the user $name|Who is $name?",
    facts(
        "$name has the id $id and the address $email.", name="person", id="filed", email="mail", phone="phone"
    ),
    {"name": o.PERSON},
)
FIND_SONG = Action(
    "music",
    "search song|find track|search tracks|song search|music search",
    "{search|find} a {song|track}",
    "{search|find} the song $title",
    facts("I found $title, number $id.", title="title", id="code", seconds="int:90:400"),
    {"title": o.TITLE},
)
PLAY_BY_ID = Action(
    "player",
    "play track id|play by id|start track|player play|play item",
    "play a track by its id",
    "play track $id",
    done("{Now playing|Playing} $id."),
    {"id": Parameter("track_id id track item_id", "code", "Id of the track", " $v")},
)
READ_AT = Action(
    "reader",
    "read document|open document|get document|load document|document text",
    "{read|open} a document by its id",
    "read document $id",
    facts("{The document says|It says}: $text", text="text"),
    {"id": Parameter("document_id doc_id id", "code", "Id of the document", " $v")},
)
FIND_DOCUMENT = Action(
    "library",
    "find document|search documents|document search|lookup document",
    "{find|search} documents",
    "{find|search} documents about $query",
    facts("I found document $id.", id="code", pages="int:1:90"),
    {"query": o.QUERY},
)
NEXT_DAY = "+1"
CHAINS = [
    Chain(
        HERE,
        named("get weather"),
        {"place": "city"},
        "{What's|How is} the weather {here|where I am|outside}?|Is it {cold|warm|raining} "
        "{here|where I am|outside}?|Do I need {a coat|an umbrella} {here|outside}?|{check|tell me|get} the weather {here|where I am}",
    ),
    Chain(
        HERE,
        named("find restaurants"),
        {"place": "city"},
        "Where can I eat {here|around here|near me}?|{find|show me} {a restaurant|restaurants} {near me|"
        "around here|here}",
    ),
    Chain(
        HERE,
        named("next train"),
        {"from": "city"},
        "When does the next train go from here to $to?|{find|get} the next train from here to $to",
    ),
    Chain(
        named("get date"),
        named("list events"),
        {"date": "date"},
        "What {do I have|is on my calendar|is planned} today?|{show|list|give me} "
        "{today's events|my events for today|my calendar for today}|Am I busy today?",
    ),
    Chain(
        named("get date"),
        named("list events"),
        {"date": "date" + NEXT_DAY},
        "What {do I have|is on my calendar|is planned} tomorrow?|{show|list|give me} {tomorrow's events|my events for tomorrow}",
    ),
    Chain(
        named("get date"),
        named("create event"),
        {"date": "date"},
        "{put|add} $title {in|on} my calendar today at $time|{schedule|plan} a meeting called $title today at $time",
    ),
    Chain(
        named("get date"),
        named("create event"),
        {"date": "date" + NEXT_DAY},
        "{put|add} $title {in|on} my calendar tomorrow at $time|{schedule|plan} a meeting called $title tomorrow at $time",
    ),
    Chain(
        named("get date"),
        named("get steps"),
        {"date": "date"},
        "How many steps {did I walk|have I done} today?|{show|get} today's steps",
    ),
    Chain(
        FIND_PERSON,
        named("send email"),
        {"to": "email"},
        "{send|write} {an email|a mail} to $name, subject $subject, saying $body|{email|mail} $name that $body, subject $subject",
    ),
    Chain(
        FIND_PERSON,
        named("call"),
        {"phone": "phone"},
        "{call|ring|phone} $name|{I want to|I need to} {speak to|call} $name",
    ),
    Chain(
        named("find contact"),
        named("call"),
        {"phone": "phone"},
        "{call|ring|phone} $name|{make|start} a call to $name",
    ),
    Chain(
        named("find contact"),
        named("share document"),
        {"mail": "email"},
        "share document $id with $name|give $name access to document $id",
    ),
    Chain(
        named("geocode"),
        named("places near"),
        {"point": "latitude longitude"},
        "{find|search for|show me} a $thing {near|close to|around} $place",
    ),
    Chain(
        FIND_SONG,
        PLAY_BY_ID,
        {"id": "id"},
        "play {the song |}$title|{I want to|I'd like to} hear $title|put on $title",
        {"id": "title"},
    ),
    Chain(
        FIND_DOCUMENT,
        READ_AT,
        {"id": "id"},
        "What {does the document about $query say|do our documents say about $query}?|{find|get} the document "
        "about $query and read it{ to me|}",
    ),
    Chain(
        named("stock price"),
        named("convert currency"),
        {"amount": "price"},
        "How much is $symbol in $to? {It is|The price is} in $from.|"
        "{get|tell me} the price of $symbol, which is in $from, and convert it to $to",
    ),
]


def chain(random: Random) -> Chain:
    """Two tools of which the second needs what the first finds."""
    return random.choice(CHAINS) if random.random() < 0.5 else _invented(random)


def _invented(random: Random) -> Chain:
    """Find a thing by its name, then do something with it by its id."""
    thing = invented_tools.noun(random)
    key = thing.name.replace(" ", "_")
    kind = random.choice(["code", "filed", "code"])
    known = {"id": kind, random.choice(["price", "level", "count"]): "int:1:900"}
    if random.random() < 0.4:
        known = dict(reversed(known.items()))
    said = {"Noun": thing.one, "Nouns": thing.many, "Verb": "find", "Past": "found"}
    name = Parameter(
        random.choice(["name", f"{key}_name", "title", "label", "query"]),
        "token",
        "{The name|Name to look for}",
        " called $v",
    )
    verbs = random.choice(
        ["find search lookup", "find get_id search", "resolve locate find", "get_id id_of find"]
    )
    finder = Action(
        thing.one.replace(" ", "_"),
        "|".join(f"{verb} {thing.name}".replace("_", " ") for verb in verbs.split()),
        "{find|look up} {a $Noun|the id of a $Noun} by {its |}name",
        "{find|look up} the $Noun $name",
        facts("{The |}$Noun $name has the id $id.", **known),
        {"name": name},
        {},
        "",
        said,
    )
    deed = invented_tools.action(random, thing, ("find", "resolve", "get"), invented_tools.ONE)
    identifier = Parameter(
        random.choice([f"{key}_id", "id", f"{key}_id", "target"]),
        kind,
        "{The id|Id of the thing}",
        " with the id $v",
    )
    deed = replace(
        deed, needs={"id": identifier, **{slot: one for slot, one in deed.needs.items() if slot != "id"}}
    )
    asks = "$Verb {the |my |our |}$Noun {called |named |}$name|$Verb the $Noun {called|named} $name"
    return Chain(finder, deed, {"id": "id"}, asks, {"id": "name"})


def chained(random: Random, wanted: Chain, first: Tool, second: Tool) -> Turn:
    """One message, two rounds; where the first fails there is no second."""
    links = [second.input(slot) for slot in wanted.links]
    inputs = (*first.inputs, *(one for one in second.inputs if one not in links))
    both = Tool("", wanted.second, second.does, inputs, {})
    made = request(random, both, asks=wanted.asks)
    start = Request("", arguments(first, made.values), made.values)
    thought = f"First {first.name}, then {second.name}. {why(random, first, start.arguments)}"
    if random.random() < 0.12:
        written, answer = outcomes.failure(random, first.name)
        use = ToolUse(first.name, start.arguments, written, thought)
        last = f"{first.name} failed, so I cannot go on. I say so."
        return Turn(made.text, answer, last, exact=True, rounds=((use,),))
    found = result_of(random, first, start)
    use = ToolUse(first.name, start.arguments, found.text, thought)
    linked = {one.slot: _linked(one, found.plain, wanted.links[one.slot]) for one in links}
    whole = made.values | linked
    end = Request("", arguments(second, whole), whole)
    got = result_of(random, second, end)
    now = " and ".join(f"{one.key} is {linked[one.slot].said}" for one in links)
    if any(names.endswith(NEXT_DAY) for names in wanted.links.values()):
        now = f"today is {found.plain['date']}, so tomorrow is {linked[links[0].slot].said}"
    next_use = ToolUse(
        second.name, end.arguments, got.text, f"Now I know: {now}. {why(random, second, end.arguments)}"
    )
    said = end.said | {slot: end.said[other] for slot, other in wanted.shown.items()}
    answer = told(random, second, end, got, said)
    return Turn(made.text, answer, then(random, second, got), exact=True, rounds=((use,), (next_use,)))


def _linked(one: Input, found: Mapping[str, Any], names: str) -> Value:
    """What the first tool found, in the form the second wants."""
    parts = [found[name.removesuffix(NEXT_DAY)] for name in names.split()]
    if len(parts) > 1:
        return Value(
            dict(zip(one.schema["properties"], parts, strict=True)), ", ".join(str(part) for part in parts)
        )
    if names.endswith(NEXT_DAY):
        parts = [(date.fromisoformat(str(found["date"])) + timedelta(days=1)).isoformat()]
    value = str(parts[0]) if one.schema.get("type") == "string" else parts[0]
    return Value(value, str(parts[0]))
