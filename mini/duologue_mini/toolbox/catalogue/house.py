"""Tools for the house: lights, heating, doors, sensors, music, food."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing
from duologue_mini.toolbox.parameters import Parameter

HOME = [
    Action(
        "home",
        "set light|switch light|light|toggle light|turn light|control light|lamp|light switch",
        "{turn|switch} {a light|the lights|a lamp} on or off",
        "{turn|switch} $state the {light|lights|lamp} in the $room|{turn|switch} the {light|lights|lamp} in the $room $state|{turn|switch} the $room {light|lights|lamp} $state|I want the $room {light|lights} $state",
        done("{The {light|lights} in the $room {is|are} $state|Done: $room {light|lights} $state}{ now|}."),
        {"room": o.ROOM, "state": o.STATE},
    ),
    Action(
        "home",
        "set brightness|dim light|brightness|light level|dim",
        "{set|change} the brightness{| of a light}",
        "{dim|set|bring} the {light|lights|lamp} in the $room to $level percent|{set|change} the brightness in the $room to {$level|$level percent}|{dim|make} the $room {lights|lamp} $level percent",
        done("The light in the $room is at $level percent{ now|}."),
        {
            "room": o.ROOM,
            "level": Parameter(
                "level brightness percent value",
                "int:0:100",
                "{Brightness in percent|From 0 to 100}",
                " to $v percent",
                "How bright, in percent?",
            ),
        },
    ),
    Action(
        "home",
        "set temperature|thermostat|set thermostat|heating|set heating|climate set",
        "{set the {temperature|heating|thermostat}|change the room temperature}",
        "{set|turn|put|change} the {heating|thermostat|temperature} in the $room to $degrees{| degrees}|make it $degrees degrees in the $room|I want $degrees degrees in the $room",
        done("The $room is set to $degrees degrees."),
        {
            "room": o.ROOM,
            "degrees": Parameter(
                "temperature degrees target value",
                "num:10:30",
                "Target temperature",
                " to $v degrees",
                "{How warm|To how many degrees}?",
            ),
        },
        {"units": o.UNITS},
    ),
    Action(
        "home",
        "lock door|door lock|set lock|lock|control lock",
        "{lock or unlock a door|control a door lock}",
        "$action the {door|door lock} {of|in|to} the $room|$action the $room door",
        done("The $room door is done: $action."),
        {
            "room": Parameter(
                "door room name location", "room", "{Which door|The door}", " in the $v", "Which door?"
            ),
            "action": Parameter(
                "action command operation",
                about="What to do",
                choices=(("lock", "lock"), ("unlock", "unlock")),
                question="Lock or unlock?",
            ),
        },
    ),
    Action(
        "home",
        "set blinds|blinds|move blinds|shutters|curtains|open blinds",
        "{open or close the blinds|move the {blinds|curtains|shutters}}",
        "$action the {blinds|curtains|shutters} in the $room|{I'd like|I want} you to $action the $room {blinds|curtains}",
        done("{Done|All right}: blinds in the $room, $action."),
        {
            "room": o.ROOM,
            "action": Parameter(
                "action command position",
                about="Open or close",
                choices=(("open", "open"), ("close", "close")),
                question="Open or close?",
            ),
        },
    ),
    Action(
        "home",
        "read sensor|get sensor|sensor value|sensor read|measure",
        "{read|get} {a sensor|the value of a sensor}",
        "{read|check|query} {the sensor|sensor} $sensor|What does {the sensor|sensor} $sensor {say|show|measure}?|{get|give me} the value of sensor $sensor",
        facts(
            "{Sensor $sensor {shows|reads|says} $value|The value of $sensor is $value}.",
            value="num:-20:900",
            battery="int:1:100",
        ),
        {
            "sensor": Parameter(
                "sensor sensor_id name device",
                "code",
                "{Id of the sensor|The sensor}",
                " $v",
                "Which sensor?",
            )
        },
    ),
    Action(
        "home",
        "start vacuum|vacuum|clean room|robot clean|vacuum room",
        "{start the vacuum|vacuum a room|send the robot to clean}",
        "{vacuum|clean} the $room|{start|send} the {vacuum|robot} {in|to} the $room|The $room is dirty, {vacuum it|send the robot}",
        done("{The robot is {cleaning|on its way to}|Vacuuming} the $room{ now|}."),
        {"room": o.ROOM},
        {
            "mode": Parameter(
                "mode power suction",
                about="How thorough",
                choices=(("quiet", "{quietly|in quiet mode}"), ("turbo", "{in turbo mode|with full power}")),
            )
        },
    ),
]
MUSIC = [
    Action(
        "music",
        "play song|play music|play|play track|start music|music play|play media",
        "play {music|a song|a track|some music}",
        "play {the song |the track |}$title|put on $title|{I want to|I'd like to} {hear|listen to} $title|start {the song|the album|the playlist} $title|play {some music|a song}",
        done("{Now playing|Playing}{:|} $title."),
        {
            "title": Parameter(
                "title song track query name",
                "title",
                "{What to play|Song title}",
                " called $v",
                "{What should I play|Which song}?",
            )
        },
        {
            "artist": Parameter("artist by band performer", "person", "{The artist|Who plays it}", " by $v"),
            "device": Parameter(
                "device speaker room output",
                "room",
                "{Where to play|Speaker}",
                " {in|on the speaker in} the $v",
            ),
            "shuffle": Parameter(
                "shuffle random_order",
                about="Whether to shuffle",
                choices=(
                    (True, "{, shuffled|in random order|with shuffle on}"),
                    (False, "{, not shuffled|without shuffle}"),
                ),
            ),
        },
    ),
    Action(
        "music",
        "set volume|volume|change volume|volume level|audio volume",
        "{set|change} the volume",
        "{set|turn|put|change} the volume to {$level|$level percent}|Volume {to |}$level|make it {louder|quieter}: $level percent",
        done("The volume is {at|now} $level{ percent|}."),
        {
            "level": Parameter(
                "level volume value percent",
                "int:0:100",
                "{From 0 to 100|The level}",
                " to $v",
                "{How loud|To which level}?",
            )
        },
    ),
    Action(
        "music",
        "pause music|pause|stop music|stop playback|media pause|playback stop",
        "{pause|stop} the {music|playback}",
        "{pause|stop} {the|this} {music|song|playback|track}|{stop playing|make the music stop}|Silence{, please|}",
        done("{The music is {paused|off}|Paused|It is quiet now}."),
    ),
    Action(
        "music",
        "create playlist|new playlist|playlist create|make playlist|add playlist",
        "{create|make} a playlist",
        "{create|make|start} a {new |}playlist {called|named} $title|{I want|I need} a {new |}playlist called $title|{create|make} a playlist",
        done("{The playlist|Playlist} $title {is ready|exists now}."),
        {"title": o.TITLE},
        {"songs": Parameter("tracks songs items", "words", "Songs to put in", " with the songs $v")},
    ),
]
FOOD = [
    Action(
        "restaurants",
        "find restaurants|search restaurants|restaurant search|places to eat|nearby food",
        "{find|search} {restaurants|places to eat}",
        "{find|search for|look for|show me} {a restaurant|restaurants|somewhere to eat|places to eat} in $place|Where can I {eat|have dinner|have lunch} in $place?|I'm hungry in $place, {find me a restaurant|where can I eat}?",
        listing("restaurants", "title"),
        {"place": o.PLACE},
        {
            "food": Parameter(
                "cuisine food dish kind", "food", "{Kind of food|What to eat}", " {with|that serves} $v"
            ),
            "limit": o.LIMIT,
        },
    ),
    Action(
        "restaurants",
        "book table|reserve table|table reservation|make reservation|reserve",
        "{book|reserve} a table",
        "{book|reserve|get me} a table {at|in} $name for $people{| people} at $time|{book|reserve|I need} a table for $people{| people} at $time{ in| at} $name|{book|reserve} a table",
        done("{A table at $name is booked|Your table at $name is reserved} for $people at $time."),
        {
            "name": Parameter(
                "restaurant name place venue",
                "title",
                "{Name of the restaurant|Where}",
                " at $v",
                "Which restaurant?",
            ),
            "people": Parameter(
                "people guests party_size persons seats",
                "int:1:20",
                "{How many people|Number of guests}",
                " for $v people",
                "For how many people?",
            ),
            "time": o.TIME,
        },
        {"date": o.DATE},
    ),
    Action(
        "recipes",
        "find recipe|search recipes|recipe search|recipes by ingredients|cook with",
        "{find|search for} recipes{| by ingredients}",
        "{find|search|look up|show me} {a recipe|recipes} with $foods|What can I {cook|make} with $foods?|{I have|There is} $foods, what can I cook?",
        listing("recipes", "title"),
        {
            "foods": Parameter(
                "ingredients foods with include",
                "foods",
                "{What you have|Ingredients}",
                " with $v",
                "Which ingredients do you have?",
            )
        },
        {
            "limit": o.LIMIT,
            "minutes": Parameter(
                "max_minutes time_limit max_time",
                "int:5:120",
                "Longest time in minutes",
                " {in at most|within} $v minutes",
            ),
        },
    ),
    Action(
        "orders",
        "order food|place food order|food order|order meal|order",
        "order {food|a meal}",
        "order $count {portions of |}$food|{I want|I'd like|get me} $count {portions of |}$food{, delivered|}|order {some food|dinner|a meal}",
        done("{I ordered|Ordered:} $count {portions of |}$food."),
        {
            "food": Parameter("dish food item meal", "food", "What to order", ": $v", "What should I order?"),
            "count": o.QUANTITY,
        },
        {"address": Parameter("address deliver_to street", "street", "Where to deliver", " to $v")},
    ),
]
ACTIONS = [*HOME, *MUSIC, *FOOD]
