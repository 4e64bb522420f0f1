"""Chains of two tools: the second needs what the first finds. Everyday pairs, and invented ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random
from typing import Any

from duologue_mini.scene import ToolUse, Turn
from duologue_mini.toolbox import invented_tools, outcomes
from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action, Request, Tool, arguments, request
from duologue_mini.toolbox.catalogue import action_named
from duologue_mini.toolbox.exchanges import report, result_of, then, why
from duologue_mini.toolbox.outcomes import done, facts
from duologue_mini.toolbox.parameters import Input, Parameter
from duologue_mini.toolbox.value_kinds import Value


@dataclass(frozen=True)
class Chain:
    """`links` are slots of the second filled from fields of the first; `asks` may hold slots of both.

    `labels` are slots of the second that the answer names by the user's words for another slot.
    """

    first: Action
    second: Action
    links: Mapping[str, str]
    asks: str
    labels: Mapping[str, str] = field(default_factory=dict)


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
        action_named("get weather"),
        {"place": "city"},
        "{What's|How is} the weather {here|where I am|outside}?|Is it {cold|warm|raining} "
        "{here|where I am|outside}?|Do I need {a coat|an umbrella} {here|outside}?|{check|tell me|get} the weather {here|where I am}",
    ),
    Chain(
        HERE,
        action_named("find restaurants"),
        {"place": "city"},
        "Where can I eat {here|around here|near me}?|{find|show me} {a restaurant|restaurants} {near me|"
        "around here|here}",
    ),
    Chain(
        HERE,
        action_named("next train"),
        {"from": "city"},
        "When does the next train go from here to $to?|{find|get} the next train from here to $to",
    ),
    Chain(
        action_named("get date"),
        action_named("list events"),
        {"date": "date"},
        "What {do I have|is on my calendar|is planned} today?|{show|list|give me} "
        "{today's events|my events for today|my calendar for today}|Am I busy today?",
    ),
    Chain(
        action_named("get date"),
        action_named("list events"),
        {"date": "date" + NEXT_DAY},
        "What {do I have|is on my calendar|is planned} tomorrow?|{show|list|give me} {tomorrow's events|my events for tomorrow}",
    ),
    Chain(
        action_named("get date"),
        action_named("create event"),
        {"date": "date"},
        "{put|add} $title {in|on} my calendar today at $time|{schedule|plan} a meeting called $title today at $time",
    ),
    Chain(
        action_named("get date"),
        action_named("create event"),
        {"date": "date" + NEXT_DAY},
        "{put|add} $title {in|on} my calendar tomorrow at $time|{schedule|plan} a meeting called $title tomorrow at $time",
    ),
    Chain(
        action_named("get date"),
        action_named("get steps"),
        {"date": "date"},
        "How many steps {did I walk|have I done} today?|{show|get} today's steps",
    ),
    Chain(
        FIND_PERSON,
        action_named("send email"),
        {"to": "email"},
        "{send|write} {an email|a mail} to $name, subject $subject, saying $body|{email|mail} $name that $body, subject $subject",
    ),
    Chain(
        FIND_PERSON,
        action_named("call"),
        {"phone": "phone"},
        "{call|ring|phone} $name|{I want to|I need to} {speak to|call} $name",
    ),
    Chain(
        action_named("find contact"),
        action_named("call"),
        {"phone": "phone"},
        "{call|ring|phone} $name|{make|start} a call to $name",
    ),
    Chain(
        action_named("find contact"),
        action_named("share document"),
        {"mail": "email"},
        "share document $id with $name|give $name access to document $id",
    ),
    Chain(
        action_named("geocode"),
        action_named("places near"),
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
        action_named("stock price"),
        action_named("convert currency"),
        {"amount": "price"},
        "How much is $symbol in $to? {It is|The price is} in $from.|"
        "{get|tell me} the price of $symbol, which is in $from, and convert it to $to",
    ),
]


def chain(random: Random) -> Chain:
    """Draws a chain: the second tool needs what the first finds."""
    return random.choice(CHAINS) if random.random() < 0.5 else _invent_chain(random)


def _invent_chain(random: Random) -> Chain:
    """Finds an invented thing by its name, then uses it by its id."""
    thing = invented_tools.noun(random)
    key = thing.name.replace(" ", "_")
    kind = random.choice(["code", "filed", "code"])
    fields = {"id": kind, random.choice(["price", "level", "count"]): "int:1:900"}
    if random.random() < 0.4:
        fields = dict(reversed(fields.items()))
    nouns = {"Noun": thing.one, "Nouns": thing.many, "Verb": "find", "Past": "found"}
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
        facts("{The |}$Noun $name has the id $id.", **fields),
        {"name": name},
        {},
        "",
        nouns,
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


def chain_turn(random: Random, pair: Chain, first: Tool, second: Tool) -> Turn:
    """One message, two rounds; if the first call fails there is no second."""
    links = [second.input(slot) for slot in pair.links]
    inputs = (*first.inputs, *(one for one in second.inputs if one not in links))
    both = Tool("", pair.second, second.does, inputs, {})
    opening = request(random, both, asks=pair.asks)
    start = Request("", arguments(first, opening.values), opening.values)
    thought = f"First {first.name}, then {second.name}. {why(random, first, start.arguments)}"
    if random.random() < 0.12:
        error, answer = outcomes.failure(random, first.name)
        use = ToolUse(first.name, start.arguments, error, thought)
        last = f"{first.name} failed, so I cannot go on. I say so."
        return Turn(opening.text, answer, last, exact=True, rounds=((use,),))
    first_result = result_of(random, first, start)
    use = ToolUse(first.name, start.arguments, first_result.text, thought)
    links_by_slot = {one.slot: _link(one, first_result.plain, pair.links[one.slot]) for one in links}
    whole = opening.values | links_by_slot
    end = Request("", arguments(second, whole), whole)
    second_result = result_of(random, second, end)
    now = " and ".join(f"{one.key} is {links_by_slot[one.slot].text}" for one in links)
    if any(names.endswith(NEXT_DAY) for names in pair.links.values()):
        now = f"today is {first_result.plain['date']}, so tomorrow is {links_by_slot[links[0].slot].text}"
    next_use = ToolUse(
        second.name,
        end.arguments,
        second_result.text,
        f"Now I know: {now}. {why(random, second, end.arguments)}",
    )
    words = end.written_values | {slot: end.written_values[other] for slot, other in pair.labels.items()}
    answer = report(random, second, end, second_result, words)
    return Turn(
        opening.text, answer, then(random, second, second_result), exact=True, rounds=((use,), (next_use,))
    )


def _link(one: Input, fields: Mapping[str, Any], names: str) -> Value:
    """A field of the first result, in the form the second tool takes."""
    parts = [fields[name.removesuffix(NEXT_DAY)] for name in names.split()]
    if len(parts) > 1:
        return Value(
            dict(zip(one.schema["properties"], parts, strict=True)), ", ".join(str(part) for part in parts)
        )
    if names.endswith(NEXT_DAY):
        parts = [(date.fromisoformat(str(fields["date"])) + timedelta(days=1)).isoformat()]
    value = str(parts[0]) if one.schema.get("type") == "string" else parts[0]
    return Value(value, str(parts[0]))
