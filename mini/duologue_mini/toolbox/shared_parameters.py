"""Parameters that many tools share: places, people, dates, limits, priorities, switches."""

from duologue_mini.toolbox.parameters import Parameter

PLACE = Parameter(
    "city location place town q where location_name",
    "place",
    "{Name of the |The |}{city|place|town|location}{ or town|}",
    " {in|for|at} $v",
    "{Which|What} {city|place|town}?",
)
PERSON = Parameter(
    "name person who user full_name",
    "person",
    "{Name of the person|Who it is about|Full name}",
    " {for|of} $v",
    "{For whom|Whom do you mean|Which person}?",
)
DAY = Parameter(
    "date day when on_day",
    "day",
    "{The day|Day|Date}{, as text|}",
    " {|on |for }$v",
    "{For which day|Which day|When}?",
)
DATE = Parameter(
    "date day on start_date",
    "date",
    "{Date|The day}{ (YYYY-MM-DD)| in ISO format|, YYYY-MM-DD}",
    " {on|for} $v",
    "{On which date|Which date}?",
)
TIME = Parameter(
    "time at start_time start hour",
    "time",
    "{Time|Time of day|When it starts|HH:MM}",
    " at $v",
    "{At what time|What time|When}?",
)
LIMIT = Parameter(
    "limit max_results count n top_k page_size max",
    "int:1:50",
    "{How many|Maximum number of} {results|items}{| to return}",
    "{, at most $v|, only $v|, no more than $v|, limit $v|, the first $v}",
)
PRIORITY = Parameter(
    "priority urgency importance level",
    about="{How urgent it is|Priority|Importance}",
    choices=(
        ("low", "{with low priority|, low priority|, it's not urgent}"),
        ("medium", "{with medium priority|, medium priority|, priority medium}"),
        ("high", "{with high priority|, high priority|, priority high|, it's urgent}"),
    ),
)
STATE = Parameter(
    "state power status switch action",
    about="{On or off|New state|What to do}",
    choices=(("on", "on"), ("off", "off")),
    question="On or off?",
)
RECURSIVE = Parameter(
    "recursive deep include_subfolders",
    about="{Whether to go into subfolders|Include subfolders}",
    choices=(
        (True, "{including subfolders|with all subfolders|, recursively}"),
        (False, "{without subfolders|, not recursive}"),
    ),
)
MINUTES = Parameter(
    "minutes duration_minutes length duration",
    "int:1:180",
    "{Duration|Length} in minutes",
    " {for|of} $v minutes",
    "{How long, in minutes|How many minutes}?",
)
TEXT = Parameter(
    "text content body message note",
    "text",
    "{The text|Text|What it says}",
    " {saying|that says|with the text|:} $v",
    "{What should it say|Which text|What is the text}?",
)
TITLE = Parameter(
    "title name subject summary heading",
    "title",
    "{Title|A short title|Name}",
    " {called|titled|named|with the title} $v",
    "{What is the title|Which title|What should it be called}?",
)
QUERY = Parameter(
    "query q search_term text keywords search",
    "query",
    "{What to look for|Search terms|The query|Keywords}",
    " {for|about} $v",
    "{What should I look for|What are you looking for}?",
)
IDENTIFIER = Parameter(
    "id identifier key number ref",
    "id",
    "{The id|Identifier|Its id}",
    " {with id|with the id|number|, id} $v",
    "{Which id|What is its id}?",
)
TO_MAIL = Parameter(
    "to recipient email address to_address",
    "mail",
    "{Mail address|Email address} of the {recipient|receiver}",
    " to $v",
    "{To which address|What is the address}?",
)
TAGS = Parameter(
    "tags labels categories",
    "tokens",
    "{Tags|Labels}{ to attach|}",
    " {tagged|with the tags|with the labels} $v",
)
CURRENCY = Parameter(
    "currency",
    "currency",
    "{Currency|Three-letter currency code|ISO currency code}",
    " in $v",
    "{In which currency|Which currency}?",
)
AMOUNT = Parameter(
    "amount value sum total",
    "num:1:9000",
    "{The amount|Amount of money|How much}",
    " {of|for} $v",
    "{How much|What amount}?",
)
NOTIFY = Parameter(
    "notify send_notification alert silent_off",
    about="Whether to {send a notification|tell the others}",
    choices=(
        (True, "{and tell everyone|, with a notification|and notify them}"),
        (False, "{without a notification|but don't notify anyone|, silently}"),
    ),
)
PATH = Parameter(
    "path file_path file filename target",
    "path",
    "{Path of the file|The file|Path|Absolute or relative path}",
    " {in|of|at} $v",
    "{Which file|What is the path}?",
)
FOLDER = Parameter(
    "path directory folder dir root",
    "folder",
    "{The folder|Directory|Where to look}",
    " {in|under|inside} $v",
    "{Which folder|In which folder}?",
)
URL = Parameter(
    "url link address uri page",
    "url",
    "{Web address|The URL|Address of the page}",
    " {at|from} $v",
    "{Which address|What is the URL}?",
)
ROOM = Parameter(
    "room location area zone where",
    "room",
    "{The room|Which room|Room name}",
    " in the $v",
    "{In which room|Which room}?",
)
QUANTITY = Parameter(
    "quantity count amount number_of_items qty",
    "int:1:40",
    "{How many|Number of pieces|Quantity}",
    "{, $v pieces|, $v of them|, quantity $v}",
    "How many?",
)
LANGUAGE = Parameter(
    "language target_language to lang",
    "language",
    "{Language|Target language|The language to use}",
    " {to|into|in} $v",
    "{Into which language|Which language}?",
)
UNITS = Parameter(
    "units unit temperature_unit system",
    about="{Unit of temperature|Units}",
    choices=(("celsius", "in celsius"), ("fahrenheit", "in fahrenheit")),
)
