"""Skill: one simple tool call and the use of its result."""
# ruff: noqa: SIM905 (word lists read better as running text)

from collections.abc import Callable
from random import Random
from typing import Any

from duologue_mini.scene import Scene, ToolUse, Turn
from duologue_mini.skills import beyond, greetings, identity
from duologue_mini.text import words
from duologue_mini.text.phrases import pick

Tool = dict[str, Any]


def _tool(name: str, description: str, parameters: dict[str, str], nested: bool) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function} if nested else function


CLOCK_NAMES = (
    "get_time clock current_time time_now get_current_time now tell_time what_time get_datetime".split()
)
CLOCK_ASK = [
    "{What time is it|What's the time|Tell me the time|Do you know what time it is|Do you have the time|"
    "Time please|How late is it|Can you tell me the time|What is the time|What does the clock say}[ {now|"
    "right now|please}][?]"
]
DATE_NAMES = "get_date today current_date date_today get_today calendar_date".split()
DATE_ASK = [
    "{What day is it|What's the date|What is the date|Which day is it|What date is it|What is today's"
    " date}[ today][?]"
]
WEATHER_NAMES = "get_weather weather weather_at forecast get_forecast current_weather weather_lookup".split()
WEATHER_ASK = [
    "{What's|What is|How is|How's|Tell me} the {weather|weather like|forecast|temperature} in $p[ {today|"
    "now|right now}][?]",
    "{Is it|Will it be} {raining|sunny|cold|warm|hot|windy} in $p[ today]?",
    "{Do I need an umbrella|Do I need a coat|What should I wear} in $p[ today]?",
    "{How warm|How cold} is it in $p[ now]?",
]
LOOKUP_NAMES = "search find look_up web_search lookup query find_info search_web".split()
LOOKUP_ASK = [
    "{Search|Look|Search the web|Look up|Find|Google}[ for] $w[.]",
    "{Can you|Could you|Please} {look up|search for|find} $w[?]",
]
PLAY_NAMES = "play_song play_music start_music play music_player".split()
PLAY_ASK = [
    "{Play|Put on|Start} {some|the song|something by|music by} $w[.]",
    "{I want to hear|Can you play} $w[?]",
]
LAMP_NAMES = "switch_lamp set_light light turn_light toggle_lamp lamp".split()
LAMP_ASK = [
    "{Turn|Switch} {on|off} the {lamp|light} in the $w[.]",
    "{Turn|Switch} the $w {light|lamp} {on|off}[.]",
]
ROOMS = "kitchen bedroom hall bathroom garden garage office attic cellar".split()
ROLL_NAMES = "roll_dice dice random_number throw_dice roll".split()
ROLL_ASK = ["{Roll|Throw} {a|the} {dice|die}[.]", "{Give me|Draw|Pick} a random number[.]"]


def draw(random: Random) -> Scene:
    """A question that one of the tools answers, or one that needs no tool."""
    if random.random() < 0.2:
        return _no_tool_needed(random)
    maker = random.choices([_clock, _date, _weather, _lookup, _play, _lamp, _roll], [3, 2, 4, 2, 1, 2, 1])[0]
    nested = random.random() < 0.8
    name, description, parameters, question, arguments, result, answer = maker(random)
    tools = [_tool(name, description, parameters, nested)]
    while random.random() < 0.4 and len(tools) < 3:
        other = random.choice([other for other in MAKERS if other is not maker])(random)
        if all(other[0] != (tool.get("function") or tool)["name"] for tool in tools):
            tools.append(_tool(other[0], other[1], other[2], nested))
    random.shuffle(tools)
    use = ToolUse(name, arguments, result, pick(random, ["{I need|I call|This needs} $n."], n=name))
    turn = Turn(question, answer, "The tool has answered. I pass it on.", exact=True, rounds=((use,),))
    return Scene("tools", [turn], tools=tools)


def _no_tool_needed(random: Random) -> Scene:
    nested = random.random() < 0.8
    tools = [_tool(*random.choice(MAKERS)(random)[:3], nested) for _ in range(random.choice([1, 1, 2]))]
    scene = random.choice(
        [greetings.draw, identity.draw, lambda generator: beyond.draw(generator, beside_tools=True)]
    )(random)
    return Scene("tools", scene.turns, tools=tools)


Drawn = tuple[str, str, dict[str, str], str, dict[str, Any], str, str]


def _tool_name(random: Random, names: list[str]) -> str:
    if random.random() < 0.12:
        return f"{words.invent_word(random)}_{random.choice(names)}"
    return random.choice(names)


def _clock(random: Random) -> Drawn:
    time = f"{random.randint(0, 23):02d}:{random.randint(0, 59):02d}"
    result = random.choice([time, f'{{"time": "{time}"}}', f"The time is {time}"])
    description = pick(random, ["{Gets|Returns|Tells|Get} the [current] time[.]"])
    return (
        _tool_name(random, CLOCK_NAMES),
        description,
        {},
        pick(random, CLOCK_ASK),
        {},
        result,
        pick(random, ["It is {$t|**$t**}[ now].", "The time is $t."], t=time),
    )


def _date(random: Random) -> Drawn:
    date = f"20{random.randint(24, 39)}-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"
    result = random.choice([date, f'{{"date": "{date}"}}'])
    description = pick(
        random, ["{Gets|Returns|Tells|Get} {today's date|the date of today|the current date}[.]"]
    )
    return (
        _tool_name(random, DATE_NAMES),
        description,
        {},
        pick(random, DATE_ASK),
        {},
        result,
        pick(random, ["Today is $t.", "It is {$t|**$t**}."], t=date),
    )


def _weather(random: Random) -> Drawn:
    place = words.invent_word(random).capitalize() if random.random() < 0.2 else random.choice(words.PLACES)
    sky = random.choice(["sunny", "cloudy", "rainy", "windy", "snowy", "foggy", "clear", "stormy"])
    degrees = random.randint(-9, 38)
    key = random.choice(["city", "place", "location", "town", "where"])
    result = random.choice(
        [f"{sky}, {degrees} degrees", f'{{"sky": "{sky}", "degrees": {degrees}}}', f"{degrees} C, {sky}"]
    )
    description = pick(
        random,
        ["{Gets|Returns|Tells|Get|Looks up} the {weather|current weather|forecast}[ of a {place|city}][.]"],
    )
    answer = pick(
        random,
        ["In $p it is $s[ now], {with $d degrees|$d degrees}.", "It is $s in $p, {with|at} $d degrees."],
        p=place,
        s=sky,
        d=degrees,
    )
    return (
        _tool_name(random, WEATHER_NAMES),
        description,
        {key: f"Name of the {key if key != 'where' else 'place'}"},
        pick(random, WEATHER_ASK, p=place),
        {key: place},
        result,
        answer,
    )


def _lookup(random: Random) -> Drawn:
    what = _topic(random)
    key = random.choice(["query", "q", "text", "term", "words"])
    fact = pick(
        random,
        [
            "$w is {a|an old|a new|a small} {place|thing|company|word|song} {in|from|about} $c.",
            "No page about $w.",
            "$w: {see|more on} page $k.",
        ],
        w=what,
        c=random.choice(words.COUNTRIES),
        k=random.randint(1, 99),
    )
    description = pick(
        random, ["{Searches|Search|Looks up things on|Find something on} the {web|internet}[.]"]
    )
    return (
        _tool_name(random, LOOKUP_NAMES),
        description,
        {key: "What to look for"},
        pick(random, LOOKUP_ASK, w=what),
        {key: what},
        fact,
        pick(random, ["{I found this|The search says|This is what I found}: $f"], f=fact),
    )


def _topic(random: Random) -> str:
    return random.choice(
        [
            random.choice(words.ADJECTIVES) + " " + random.choice(words.ANIMALS + words.THINGS),
            words.invent_word(random),
            random.choice(words.PLACES),
            random.choice(words.FOODS),
            words.name(random) + " " + words.invent_word(random).capitalize(),
        ]
    )


def _play(random: Random) -> Drawn:
    what = _topic(random)
    key = random.choice(["title", "song", "name", "music"])
    description = pick(random, ["{Plays|Play|Starts} {a song|music}[.]"])
    return (
        _tool_name(random, PLAY_NAMES),
        description,
        {key: "What to play"},
        pick(random, PLAY_ASK, w=what),
        {key: what},
        random.choice(["ok", "playing", '{"ok": true}']),
        pick(random, ["{Now playing|Playing}: $w."], w=what),
    )


def _lamp(random: Random) -> Drawn:
    room = random.choice(ROOMS)
    question = pick(random, LAMP_ASK, w=room)
    state = "off" if " off" in question else "on"
    keys = random.choice([("room", "state"), ("where", "to"), ("place", "switch")])
    description = pick(random, ["{Turns|Switches|Turn} a {lamp|light} on or off[.]"])
    return (
        _tool_name(random, LAMP_NAMES),
        description,
        {keys[0]: "The room", keys[1]: "on or off"},
        question,
        {keys[0]: room, keys[1]: state},
        random.choice(["ok", "done", '{"ok": true}']),
        pick(
            random,
            ["{Done|All right}: the light in the $r is $s.", "The $r light is $s now."],
            r=room,
            s=state,
        ),
    )


def _roll(random: Random) -> Drawn:
    value = random.randint(1, 6)
    description = pick(random, ["{Rolls a dice|Draws a random number|Throws a die}[.]"])
    return (
        _tool_name(random, ROLL_NAMES),
        description,
        {},
        pick(random, ROLL_ASK),
        {},
        random.choice([f"{value}", f'{{"value": {value}}}']),
        pick(random, ["{It is|You got|I got} $v."], v=value),
    )


MAKERS: list[Callable[[Random], Drawn]] = [_clock, _date, _weather, _lookup, _play, _lamp, _roll]
