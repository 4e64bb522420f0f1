"""Tools for the day: weather, clock, calendar."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing
from duologue_mini.toolbox.parameters import Parameter

SKY = "one:sunny|cloudy|rainy|windy|snowy|foggy|clear|stormy|overcast|light rain|drizzle|hail"

WEATHER = [
    Action(
        "weather",
        "get weather|current weather|weather|weather now|fetch weather|get current weather|weather at|conditions",
        "{get|look up|fetch|show} the {current |}weather",
        "{What's|What is|How is|How's} the weather {|like }{in|at} $place{| right now| now| today}?|{Is it|Is it very} {cold|"
        "warm|hot|windy|raining|sunny|wet|icy} in $place{| now| today}?|Do I need {an umbrella|a coat|gloves|sunscreen|boots|"
        "a hat} in $place{| today}?|{check|get|look up|tell me|show me} the weather {in|for} $place|How {warm|cold|hot} is it"
        " in $place?|What should I wear in $place?",
        facts(
            "{In $place it is $sky{ with|,} $temperature degrees|It is $sky in $place, {at|with} $temperature degrees}.",
            temperature="int:-15:39",
            sky=SKY,
            humidity="int:10:99",
            wind="int:0:90",
        ),
        {"place": o.PLACE},
        {"units": o.UNITS},
        also="weather",
    ),
    Action(
        "weather",
        "get forecast|forecast|weather forecast|daily forecast|predict weather|forecast days",
        "{get|fetch|show} the weather forecast{| for some days}",
        "{What will the weather be|What's the forecast|What is the forecast} {in|for} $place for the next $days days?|{get|show"
        " me|fetch} the forecast for $place for $days days|Will it {rain|snow|be sunny|be windy} in $place in the next $days days?",
        facts(
            "{The forecast for $place is $outlook, {with|at} up to $high degrees|$place: $outlook, $low to $high degrees}.",
            outlook=SKY,
            low="int:-20:10",
            high="int:11:40",
            rain_chance="int:0:100",
        ),
        {
            "place": o.PLACE,
            "days": Parameter(
                "days num_days horizon count",
                "int:1:14",
                "{How many days|Number of days}",
                " for $v days",
                "For how many days?",
            ),
        },
        also="weather",
    ),
    Action(
        "weather",
        "air quality|get air quality|pollution|aqi lookup|air index",
        "{get|check|measure} the air quality",
        "{How is|How's|What's|What is} the air {quality |}in $place{| today}?|Is the air {clean|dirty|bad|good} in $place?|{check|get"
        "} the {air quality|pollution} {in|for} $place",
        facts(
            "The air in $place is $rating{, {the|with an} index {is|of} $index|}.",
            index="int:1:400",
            rating="one:good|fair|moderate|poor|bad|very poor",
        ),
        {"place": o.PLACE},
    ),
    Action(
        "weather",
        "sun times|sunrise sunset|get sunrise|daylight|sun calendar",
        "{get|tell} {when the sun rises and sets|sunrise and sunset|the times of sunrise and sunset}",
        "When does the sun {rise|set} in $place{| $day}?|When is {sunrise|sunset} in $place{| $day}?|{get|tell me} the {sunrise|sunset|sun times} for $place",
        facts("{In|At} $place the sun rises at $sunrise and sets at $sunset.", sunrise="time", sunset="time"),
        {"place": o.PLACE},
        {"day": o.DAY},
    ),
]
CLOCK = [
    Action(
        "clock",
        "get time|current time|time now|clock|get current time|what time|tell time|now",
        "{get|tell|return|read} the {current |}time",
        "What time is it{| now| right now}?|{What's|What is} the {time|current time}{| now}?|Do you {have|know} the time?|{tell me|get|check|give me} the"
        " time|How late is it?|What does the clock say?",
        facts("It is $time{| now}.|The time is $time.", time="time"),
        {},
        {
            "zone": Parameter(
                "timezone tz zone time_zone", "zone", "{Time zone|IANA time zone}", " in {|the zone }$v"
            )
        },
    ),
    Action(
        "clock",
        "get date|today|current date|date today|get today|calendar date|todays date",
        "{get|tell|return} {today's date|the current date|the date of today}",
        "What day is it{| today}?|{What's|What is} {the date|today's date|the date today}?|Which {day|date} is it{| today}?|{tell me|get|check} {the|today's} date",
        facts(
            "Today is {$date|$weekday, $date}.|It is $date.",
            date="date",
            weekday="one:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
        ),
    ),
    Action(
        "clock",
        "set timer|start timer|timer|create timer|countdown|timer start",
        "{set|start} a {timer|countdown}",
        "{set|start} a timer {for|of} $minutes minutes|{set|start} a $minutes minute {timer|countdown}|{count down|wake me in|time} $minutes minutes|Timer for $minutes minutes",
        done("{The timer is set for|Timer started:|I set a timer for} $minutes minutes."),
        {"minutes": o.MINUTES},
        {
            "label": Parameter(
                "label name title", "word", "{Name of the timer|A label}", " {called|named|labelled} $v"
            )
        },
    ),
    Action(
        "clock",
        "set alarm|create alarm|alarm|add alarm|wake up|alarm set",
        "set an alarm",
        "{set|make} an alarm {for|at} $time|wake me {up |}at $time|{I want|I need} an alarm at $time",
        done("{The alarm is set for|I set an alarm for|Alarm set:} $time."),
        {"time": o.TIME},
        {
            "day": o.DAY,
            "sound": Parameter(
                "sound tone ringtone", "word", "{Sound|Tone}{ to play|}", " with the sound $v"
            ),
        },
    ),
    Action(
        "clock",
        "convert time|time zone convert|shift time|time in zone|convert timezone",
        "convert a time {between time zones|from one zone to another}",
        "{convert|shift} $time from $from to $to|What is $time $from in $to?|{When it is|If it is} $time in $from, what time is it in $to?",
        facts("{That is|It is} $result in $to.", result="time"),
        {
            "time": o.TIME,
            "from": Parameter(
                "from_zone source_timezone from from_tz", "zone", "{Source|Original} zone", " from $v"
            ),
            "to": Parameter("to_zone target_timezone to to_tz", "zone", "Target zone", " to $v"),
        },
        also="clock",
    ),
]
CALENDAR = [
    Action(
        "calendar",
        "create event|add event|new event|calendar create|schedule event|book meeting|add to calendar|create meeting",
        "{create|add|schedule} {an event|a calendar event|an appointment|a meeting}",
        "{schedule|create|add|put|set up|plan} {a meeting|an event|an appointment} {called|named|titled} $title {on|for} $date at $time|{add|put}"
        " $title {to|on|in} my calendar {on|for} $date at $time|{schedule|book|plan} {an event|a meeting}",
        done("{The event|$title} is in {your|the} calendar for $date{| at $time}."),
        {"title": o.TITLE, "date": o.DATE, "time": o.TIME},
        {
            "minutes": o.MINUTES,
            "guests": Parameter(
                "attendees guests invitees participants", "persons", "{People to invite|Guests}", " with $v"
            ),
            "where": Parameter("location place room where", "place", "Where it takes place", " in $v"),
        },
    ),
    Action(
        "calendar",
        "list events|get events|calendar list|get agenda|agenda|show schedule|upcoming events",
        "{list|show|get} {events|the events of a day|appointments|what is in the calendar}",
        "What {do I have|is on my calendar|have I got|is planned|meetings do I have} {on|for} $date?|{show|list|give me|read} my {events|appointments|calendar|schedule|agenda} {for|on} $date|Am I {free|busy} on $date?",
        listing("events", "title"),
        {"date": o.DATE},
        {"limit": o.LIMIT},
    ),
    Action(
        "calendar",
        "delete event|remove event|cancel event|cancel meeting|calendar delete|drop event",
        "{delete|cancel|remove} {an event|an appointment|a meeting}",
        "{cancel|delete|remove|drop|call off} {the|my} {event|meeting|appointment} {number |with id |}$id|{I don't need|I can't make} {the meeting|event} $id{, cancel it|, please delete it}",
        done("{The event|Event} $id is {cancelled|deleted|gone}."),
        {
            "id": Parameter(
                "event_id id event meeting_id", "id", "Id of the event", " with id $v", "Which event?"
            )
        },
        {"notify": o.NOTIFY},
    ),
    Action(
        "calendar",
        "move event|reschedule event|reschedule|change event|update event time|shift meeting",
        "{move|reschedule} {an event|a meeting|an appointment}{| to another time}",
        "{move|reschedule|shift|postpone|push} {event|meeting|appointment} $id to $date at $time|{Can event|Can meeting} $id {be moved|move} to $date at $time?",
        done("{Event|Meeting} $id is {now|moved to} $date at $time."),
        {
            "id": Parameter("event_id id event meeting_id", "id", "Id of the event", " $v", "Which event?"),
            "date": o.DATE,
            "time": o.TIME,
        },
    ),
]
ACTIONS = [*WEATHER, *CLOCK, *CALENDAR]
