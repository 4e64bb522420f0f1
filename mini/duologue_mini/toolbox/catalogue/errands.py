"""Tools for errands: shops, parcels, travel, health, news, games."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing
from duologue_mini.toolbox.parameters import Parameter

PRODUCT = Parameter(
    "product product_id item sku article", "thing", "{The product|What it is}", " of $v", "Which product?"
)
ORDER = Parameter(
    "order_id order id order_number", "id", "{Number of the order|Order id}", " $v", "Which order?"
)
FROM = Parameter(
    "origin from departure start from_city",
    "place",
    "{Where it starts|Origin|From}",
    " from $v",
    "From where?",
)
TO = Parameter(
    "destination to arrival end to_city",
    "place",
    "{Where it goes|Destination|To}",
    " to $v",
    "{Where to|To which place}?",
)
PEOPLE = Parameter(
    "passengers travellers people guests adults",
    "int:1:9",
    "{How many people|Number of guests}",
    " for $v {people|persons}",
    "For how many people?",
)

SHOP = [
    Action(
        "shop",
        "search products|product search|find product|shop search|catalog search|find articles",
        "{search|find} products{| in the shop}",
        "search the shop for $query|{find|look for|show me} $query {in the shop|to buy}|{Do you have|Is there|Do you sell} {something like |}$query in the shop?|What does the shop have {for|about} $query?",
        listing("products", "title"),
        {"query": o.QUERY},
        {
            "price": Parameter(
                "max_price price_limit budget upto",
                "num:1:900",
                "Highest price",
                " {under|for at most|below} $v {euros|dollars}",
            ),
            "limit": o.LIMIT,
            "sort": Parameter(
                "sort sort_by order",
                about="How to sort",
                choices=(
                    ("price", "{, sorted by price|, cheapest first}"),
                    ("rating", "{, sorted by rating|, best rated first}"),
                    ("newest", "{, newest first|, the newest ones first}"),
                ),
            ),
        },
    ),
    Action(
        "shop",
        "add to cart|cart add|basket add|put in cart|add cart item",
        "{add|put} a product {to|into} the {cart|basket}",
        "{put|add} $count {pieces of |}$product {in|into|to} {my|the} {cart|basket}|{I'll take|I want|I'd like} $count {pieces of |}$product in my {cart|basket}|{put|add} {something|a product} {in|to} my {cart|basket}",
        done("$count {pieces of |}$product went into your {cart|basket}."),
        {"product": PRODUCT, "count": o.QUANTITY},
    ),
    Action(
        "shop",
        "order status|get order|check order|track order|order lookup",
        "{get|check} {the status of an order|an order}",
        "Where is {my |}order $id?|{What's|What is} {the status of|with|happening with} order $id?|{check|look up|track} {my |}order $id|{Is|Has} order $id {on its way|been sent}?",
        facts(
            "{Order $id is $status|Your order is $status}{, due on $due| and comes on $due}.",
            status="one:packed|shipped|on its way|delayed|ready|paid",
            due="date",
            total="num:5:900",
        ),
        {"id": ORDER},
    ),
    Action(
        "shop",
        "cancel order|order cancel|stop order|void order",
        "cancel an order",
        "cancel {my |the |}order $id|{I don't want|I no longer want} order $id{, cancel it| any more}|cancel {an|my} order",
        done("Order $id is cancelled."),
        {"id": ORDER},
        {"reason": Parameter("reason comment why", "text", "Why", " with the reason $v")},
    ),
    Action(
        "parcels",
        "track parcel|track package|parcel status|tracking|shipment status",
        "{track|find} a {parcel|package}",
        "Where is {the |my |}{parcel|package|shipment} $code?|{track|find} {the |my |}{parcel|package} $code|When does {parcel|package} $code {arrive|come}?",
        facts(
            "{The parcel|Parcel $code} is in $place and {arrives|should arrive} on $due.",
            place="place",
            due="date",
            weight_kg="num:0:30",
        ),
        {
            "code": Parameter(
                "tracking_number number code parcel_id",
                "code",
                "{Tracking number|Number of the parcel}",
                " $v",
                "{Which parcel|What is its number}?",
            )
        },
    ),
    Action(
        "reviews",
        "add review|rate product|post review|leave rating|rate",
        "{rate|review} a product",
        "{give|rate} $product $stars stars|{leave|write} a review of $stars stars for $product|{rate|review} a product",
        done("{$stars stars for $product: saved|Your review of $product is saved}."),
        {
            "product": PRODUCT,
            "stars": Parameter(
                "rating stars score", "int:1:5", "{Stars|From 1 to 5}", " with $v stars", "How many stars?"
            ),
        },
        {"text": Parameter("comment text review", "text", "What you think", " saying $v")},
    ),
]
TRAVEL = [
    Action(
        "flights",
        "search flights|find flights|flight search|flights|get flights",
        "{search|find} flights",
        "{find|search|look for|show} {me |}{flights|a flight} from $from to $to {on|for} $date|{I want|I need|I have} to fly from $from to $to on $date|{Are there|What} flights from $from to $to on $date?|{find|search} {flights|a flight}",
        listing("flights", "code"),
        {"from": FROM, "to": TO, "date": o.DATE},
        {
            "people": PEOPLE,
            "cabin": Parameter(
                "cabin cabin_class travel_class",
                about="Class",
                choices=(
                    ("economy", "in economy"),
                    ("business", "{in business class|, business}"),
                    ("first", "{in first class|, first class}"),
                ),
            ),
            "direct": Parameter(
                "direct nonstop direct_only",
                about="Only without a stop",
                choices=(
                    (True, "{, direct only|without a stop}"),
                    (False, "{, stops are fine|with or without stops}"),
                ),
            ),
        },
    ),
    Action(
        "hotels",
        "book hotel|hotel booking|reserve room|book room|reserve hotel",
        "{book|reserve} a {hotel|hotel room}",
        "{book|reserve|find me} a {hotel|room} in $place for $nights nights{ for| and} $people people|{I need|get me} a {hotel|room} in $place for $nights nights, $people people|{book|reserve} a {hotel|room}",
        done("{The hotel|A room} in $place is booked for $nights nights."),
        {
            "place": o.PLACE,
            "nights": Parameter(
                "nights number_of_nights stay",
                "int:1:21",
                "How many nights",
                " for $v nights",
                "For how many nights?",
            ),
            "people": PEOPLE,
        },
        {
            "date": Parameter("check_in arrival from_date start", "date", "First day", " from $v"),
            "breakfast": Parameter(
                "breakfast with_breakfast",
                about="With breakfast",
                choices=((True, "with breakfast"), (False, "without breakfast")),
            ),
        },
    ),
    Action(
        "trains",
        "next train|train times|departures|get departures|timetable|find trains",
        "{find|get} {trains|train times|departures}",
        "When {does the next train go|is the next train|does a train leave} from $from to $to?|{find|get|show} {the next train|trains|departures} from $from to $to|Is there a train from $from to $to?",
        facts(
            "{The next train|A train} leaves at $departure{ from platform $platform| and arrives at $arrival}.",
            departure="time",
            arrival="time",
            platform="int:1:24",
        ),
        {"from": FROM, "to": TO},
        {"time": Parameter("after time earliest depart_after", "time", "Earliest time", " after $v")},
    ),
    Action(
        "maps",
        "get directions|route|directions|plan route|navigate|find way",
        "{find|plan|get} {the way|a route|directions}",
        "How do I get from $from to $to?|{show|tell|give} me the way from $from to $to|{plan a|find the} route from $from to $to|How {long|far} is it from $from to $to?",
        facts(
            "{It is|The way is} $kilometres kilometres and takes $minutes minutes.",
            kilometres="num:1:900",
            minutes="int:3:900",
        ),
        {"from": FROM, "to": TO},
        {
            "mode": Parameter(
                "mode travel_mode by transport",
                about="How to travel",
                choices=(
                    ("walking", "{on foot|walking}"),
                    ("driving", "{by car|driving}"),
                    ("cycling", "{by bike|cycling}"),
                    ("transit", "{by public transport|by bus or train}"),
                ),
            )
        },
    ),
    Action(
        "maps",
        "geocode|get coordinates|place to coordinates|locate place|coordinates of",
        "{find|get} the coordinates of a place",
        "{What are|Give me|Get} the coordinates of $place|{find|get|look up} the {coordinates|position} of $place|{Where exactly|On which latitude} is $place?",
        facts("$place is at $latitude, $longitude.", latitude="num:-80:80", longitude="num:-170:170"),
        {"place": o.PLACE},
    ),
    Action(
        "maps",
        "places near|nearby search|find nearby|around point|poi search",
        "{find|search} {places|shops} near a point",
        "{find|search for|show} {me |}{a |}$thing near {the point |}$point|{What|Which places} with {a |}$thing are near $point?",
        listing("places", "title"),
        {
            "point": Parameter(
                "location position point center",
                "point",
                "Latitude and longitude",
                " near $v",
                "Near which point? I need latitude and longitude.",
            ),
            "thing": Parameter(
                "kind type category keyword",
                "thing",
                "What to look for",
                " for $v",
                "What should I look for?",
            ),
        },
        {
            "radius": Parameter(
                "radius radius_km distance within",
                "int:1:100",
                "Radius in kilometres",
                " within $v {kilometres|km}",
            )
        },
    ),
    Action(
        "taxi",
        "order taxi|book taxi|call taxi|ride request|request ride",
        "{order|call|book} a {taxi|ride|car}",
        "{order|call|book|get} {me |}a {taxi|cab|ride} from $from to $to|{I need|I want} {a ride|a taxi} from $from to $to|{order|call} {me |}a {taxi|cab}",
        done("{The taxi is ordered|A taxi is on its way}{: from $from to $to|}."),
        {
            "from": Parameter(
                "pickup from pickup_address start",
                "street",
                "Where it picks you up",
                " from $v",
                "{Where should it pick you up|From where}?",
            ),
            "to": Parameter("dropoff to destination", "street", "Where it goes", " to $v", "Where to?"),
        },
        {"time": o.TIME},
    ),
]
PASTIME = [
    Action(
        "health",
        "log workout|add workout|track exercise|record training|workout add",
        "{log|record} {a workout|exercise}",
        "{log|record|add} $minutes minutes of $sport|I {did|had} $minutes minutes of $sport{, log it|, write it down|}|{log|record} a workout",
        done("{$minutes minutes of $sport: {logged|noted}|Your $minutes minutes of $sport are recorded}."),
        {
            "sport": Parameter(
                "activity exercise sport type",
                "one:running|swimming|yoga|rowing|cycling|boxing|tennis|climbing|dancing|judo|skating|hiking",
                "What you did",
                " of $v",
                "Which activity?",
            ),
            "minutes": o.MINUTES,
        },
        {
            "effort": Parameter(
                "intensity effort level",
                about="How hard",
                choices=(
                    ("light", "{, easy|with light effort}"),
                    ("moderate", "{, moderate effort|with moderate effort}"),
                    ("hard", "{, really hard|with hard effort}"),
                ),
            )
        },
    ),
    Action(
        "health",
        "get steps|step count|steps|daily steps|activity today",
        "{get|count} {the steps of a day|steps}",
        "How many steps {did I walk|have I done|did I take} on $date?|{get|show|check} my steps {for|on} $date",
        facts(
            "{You walked|It was|I see} $steps steps{ on $date|}.",
            steps="int:200:30000",
            kilometres="num:0:30",
        ),
        {"date": o.DATE},
    ),
    Action(
        "news",
        "get headlines|news|top news|headlines|latest news|news search",
        "{get|read} {the news|headlines}",
        "{What's|What is} {the news|new|in the news} about $query?|{show|read|get|give me} {the |}{news|headlines} about $query|{Any|Is there} news about $query?",
        listing("headlines", "title"),
        {"query": o.QUERY},
        {"limit": o.LIMIT, "language": o.LANGUAGE},
        also="web search",
    ),
    Action(
        "sports",
        "match score|get score|live score|game result|score",
        "{get|look up} the {score|result} of a match",
        "{What's|What is|What was} the {score|result} of {the |}{match|game} $id?|How did {match|game} $id end?|{get|check|look up} the {score|result} of {match|game} $id",
        facts(
            "{It is|The score is|It stands} $home to $away.",
            home="int:0:9",
            away="int:0:9",
            minute="int:1:90",
        ),
        {"id": Parameter("match_id game_id id match", "id", "Id of the match", " $v", "Which match?")},
    ),
    Action(
        "books",
        "find book|search books|book search|library search|get book",
        "{find|look up} a book",
        "{find|look up|search for} {the book |a book called |}$title|{Do you have|Is there} {the |a }book {called |}$title?|{find|look up} a book",
        facts(
            "{$book by $author, from $year|I found $book by $author ($year)}.",
            book="title",
            author="person",
            year="int:1900:2030",
            pages="int:40:900",
        ),
        {"title": o.TITLE},
        {"author": Parameter("author by writer", "person", "Who wrote it", " by $v")},
    ),
    Action(
        "games",
        "make move|move piece|play move|chess move|game move",
        "make a move{| in the game}",
        "{move|play} $from to $to|{My move is|I play} $from to $to",
        done("{The move is made|Moved}: $from to $to."),
        {
            "from": Parameter(
                "from source from_square",
                "one:a2|b2|c2|d2|e2|f2|g2|h2|g1|b1|e1|d1",
                "Where the piece stands",
                " from $v",
                "From where?",
            ),
            "to": Parameter(
                "to target to_square",
                "one:a3|a4|b3|c4|d4|e4|f3|g3|h4|c3|e5|d5",
                "Where it goes",
                " to $v",
                "Where to?",
            ),
        },
    ),
    Action(
        "photos",
        "take photo|camera capture|snapshot|camera snap|shoot photo",
        "take a {photo|picture}{| with the camera}",
        "{take|shoot|make} a {photo|picture|snapshot}{ with the camera| of this|}|Use the camera and take a picture",
        done("{The photo is taken|I took the picture}."),
        {},
        {
            "flash": Parameter(
                "flash use_flash",
                about="Use the flash",
                choices=((True, "with flash"), (False, "without flash")),
            )
        },
    ),
]
ACTIONS = [*SHOP, *TRAVEL, *PASTIME]
