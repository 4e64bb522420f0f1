"""Kinds of things that people mention in a chat: names, codes, places, plans, likes, invented meanings."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.text import particulars as of
from duologue_mini.text import payloads, words

Value = Callable[[Random], str]


@dataclass(frozen=True, eq=False)
class StatementKind:
    """A kind of statement. `mine` is the user's wording, `yours` the model's; `$k` is a key, `$v` the value."""

    key: Value
    value: Value
    mine: str
    yours: str
    questions: list[str]
    about: str
    statements: list[str]


def one_of(*options: str) -> Value:
    """A function that draws one of these."""
    return lambda random: random.choice(options)


def _nothing(random: Random) -> str:
    return ""


def _several(maker: Value) -> Value:
    def draw(random: Random) -> str:
        values = [maker(random) for _ in range(random.randint(2, 5))]
        return words.join_words(list(dict.fromkeys(values)))

    return draw


RELATIVE = one_of(
    *(
        "cat",
        "dog",
        "horse",
        "parrot",
        "sister",
        "brother",
        "mother",
        "father",
        "boss",
        "teacher",
        "neighbour",
    ),
    *(
        "cousin",
        "uncle",
        "aunt",
        "son",
        "daughter",
        "friend",
        "hamster",
        "boat",
        "team",
        "band",
        "grandfather",
    ),
)
LOCKED = one_of(
    "front door",
    "locker",
    "bike",
    "garage",
    "safe",
    "gym",
    "phone",
    "suitcase",
    "office",
    "wifi",
    "cellar",
    "account",
)


def _thing(random: Random) -> str:
    return random.choice(words.THINGS) if random.random() < 0.6 else payloads.thing(random)


def _favourite(key: Value, *favourites: list[str]) -> tuple["StatementKind", int]:
    """Mostly something of the kind, at times any word."""

    def value(random: Random) -> str:
        return random.choice(random.choice(favourites)) if random.random() < 0.7 else payloads.word(random)

    questions = [
        "{What is|What's|Tell me|Do you remember|Do you know} my {favourite|favorite} $k[?]",
        "{Which|What} $k do I like {best|most}?",
    ]
    telling = [
        "My {favourite|favorite} $k is $v[.|!]",
        "The $k I like {best|most} is $v[.]",
        "$v is my {favourite|favorite} $k[.]",
    ]
    patterns = ("my favourite $k is $v", "your favourite $k is $v")
    return StatementKind(key, value, *patterns, questions, "my favourite $k", telling), 2


KINDS: list[tuple[StatementKind, int]] = [
    (
        StatementKind(
            _nothing,
            payloads.person,
            "my name is $v",
            "your name is $v",
            [
                "{What is|What's|Do you remember|Do you know|Say|Tell me} my name[?]",
                "{Who am I|What am I called|What do people call me|How am I called}?",
            ],
            "my name",
            [
                "{I am|I'm|Call me|This is|They call me|You can call me} $v[.|!]",
                "{Hi|Hello|Hey}[,] {I am|my name is|I'm|this is} $v[.|!]",
            ],
        ),
        8,
    ),
    _favourite(one_of("colour", "color"), words.COLOURS),
    _favourite(one_of("food", "dish", "snack", "meal"), words.FOODS),
    _favourite(one_of("animal", "pet"), words.ANIMALS),
    _favourite(one_of("city", "place", "town"), words.PLACES),
    _favourite(one_of("hobby", "sport", "pastime"), words.HOBBIES),
    _favourite(one_of("number"), [str(number) for number in range(1, 1000)]),
    _favourite(one_of("word", "song", "game", "band"), payloads.KNOWN),
    _favourite(one_of("language"), words.LANGUAGES),
    _favourite(one_of("day"), of.WEEKDAYS),
    _favourite(one_of("country"), words.COUNTRIES),
    (
        StatementKind(
            RELATIVE,
            payloads.first_name,
            "my $k is called $v",
            "your $k is called $v",
            [
                "{What is|What's} {my $k's name|the name of my $k}[?]",
                "{What is my $k called|How is my $k called|What is the name of my $k}?",
            ],
            "my $k",
            ["{My $k is called|The name of my $k is|I have a $k called|My $k's name is} $v[.]"],
        ),
        7,
    ),
    (
        StatementKind(
            _nothing,
            payloads.place,
            "I live in $v",
            "you live in $v",
            ["{Where do I live|In which {town|city|place} do I live|Where is my home}?"],
            "where I live",
            ["I live in $v[.]", "{I am from|My home is in|I'm based in|I moved to} $v[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            _nothing,
            one_of(*of.JOBS),
            "I work as a $v",
            "you work as a $v",
            ["{What is my job|What do I do|What do I work as|What is my work|How do I earn my money}?"],
            "my job",
            ["{I am|I'm|I work as} a $v[.]", "My job: $v."],
        ),
        4,
    ),
    (
        StatementKind(
            _nothing,
            of.age,
            "I am $v years old",
            "you are $v years old",
            ["{How old am I|What is my age|Which age do I have}?"],
            "my age",
            ["I am $v years old[.]", "{I am|I'm} $v[.]", "My age is $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            _nothing,
            of.date,
            "my birthday is on $v",
            "your birthday is on $v",
            ["{When is my birthday|When was I born|On which day is my birthday}?"],
            "my birthday",
            ["My birthday is[ on] $v[.]", "I was born on $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            LOCKED,
            payloads.code,
            "the code of my $k is $v",
            "the code of your $k is $v",
            [
                "{What is|What's|Tell me|I forgot} the {code|password|PIN} {of|for} my $k[?]",
                "{Which|What} code {opens|do I need for} my $k?",
            ],
            "my $k",
            [
                "The {code|password|PIN} {of|for} my $k is $v[.]",
                "{Remember|Note|Keep} the code {of|for} my $k: $v",
            ],
        ),
        7,
    ),
    (
        StatementKind(
            _thing,
            of.spot,
            "I put the $k $v",
            "you put the $k $v",
            ["{Where is|Where did I put|Where can I find|Where did I leave} the $k[?]"],
            "the $k",
            ["I {put|left|hid} the $k $v[.]", "The $k is $v[.]"],
        ),
        6,
    ),
    (
        StatementKind(
            payloads.first_name,
            of.clock,
            "I meet $k at $v",
            "you meet $k at $v",
            [
                "{When|At what time} do I {meet|see} $k?",
                "{When|What time} is {my meeting with $k|$k coming}?",
            ],
            "$k",
            ["I {meet|see|have lunch with|have a call with} $k at $v[.]", "$k comes at $v[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            of.weekday,
            payloads.place,
            "on $k I go to $v",
            "on $k you go to $v",
            ["Where do I go on $k?", "What {are my plans|is my plan} for $k?"],
            "$k",
            ["On $k I {go|travel|drive|fly} to $v[.]", "{My plan for $k is|Plan for $k}: go to $v[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            payloads.first_name,
            lambda r: r.choice(words.FOODS + words.HOBBIES),
            "$k likes $v",
            "$k likes $v",
            ["What does $k like?", "Do you remember what $k likes?"],
            "$k",
            ["{My friend |}$k {likes|loves} $v[.]", "$k is fond of $v[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            payloads.first_name,
            one_of(*of.JOBS),
            "$k is a $v",
            "$k is a $v",
            ["What does $k do?", "What is $k's job?"],
            "$k",
            ["{My friend |}$k is a $v[.]", "$k works as a $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            one_of("report", "homework", "tax form", "painting", "application", "project", "article"),
            of.date,
            "the $k is due on $v",
            "the $k is due on $v",
            ["{When is|By when is} the $k due?", "What is the deadline {of|for} the $k?"],
            "the $k",
            ["The $k is due on $v[.]", "The deadline {of|for} the $k is $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            _thing,
            of.price,
            "I paid $v for the $k",
            "you paid $v for the $k",
            ["{How much did I pay|What did I pay} for the $k?", "What did the $k cost[ me]?"],
            "the $k",
            ["I paid $v for {the|that} $k[.]", "The $k cost[ me] $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            one_of("number", "secret number", "lucky number"),
            payloads.number,
            "the $k is $v",
            "the $k is $v",
            ["{What is|What was|Tell me|Do you remember} the $k[?]"],
            "the $k",
            ["{Remember|Keep in mind|Note|Please remember} the $k $v[.]", "The $k is $v[.]"],
        ),
        5,
    ),
    (
        StatementKind(
            one_of("word", "secret word", "password", "magic word", "code word"),
            payloads.any_word,
            "the $k is $v",
            "the $k is $v",
            ["{What is|What was|Tell me|Do you remember} the $k[?]"],
            "the $k",
            ['{Remember|Keep in mind|Note|Please remember} the $k {$v|"$v"}[.]', 'The $k is {$v|"$v"}[.]'],
        ),
        6,
    ),
    (
        StatementKind(
            payloads.coin_word,
            lambda r: payloads.article(payloads.thing(r)),
            "a $k is $v",
            "a $k is $v",
            ["What is a $k?", "What does {the word |}$k mean?"],
            "a $k",
            ["{In my game|In our language|At home}, a $k is $v[.]", "A $k is $v[.]", "We call $v a $k[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            _thing,
            one_of(*words.COLOURS),
            "my $k is $v",
            "your $k is $v",
            ["{What|Which} colour {is|has} my $k?", "What is the colour of my $k?"],
            "my $k",
            ["My $k is $v[.]", "{I have|I own|I bought} a $v $k[.]"],
        ),
        5,
    ),
    (
        StatementKind(
            one_of("shopping list", "list", "packing list", "to-buy list"),
            _several(lambda r: r.choice([r.choice(words.FOODS), payloads.things(r)])),
            "$v are on my $k",
            "$v are on your $k",
            ["{What is|What's} on my $k?", "{Read|Tell|Show} me my $k[.]"],
            "my $k",
            ["{On my $k are|Put on my $k:|My $k:} $v[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            _nothing,
            lambda r: r.choice(words.FOODS),
            "I am allergic to $v",
            "you are allergic to $v",
            ["{What am I allergic to|Which food must I not eat|Which allergy do I have}?"],
            "my allergy",
            ["{I am|I'm} allergic to $v[.]", "I cannot eat $v, I am allergic[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            _nothing,
            payloads.mail,
            "my mail address is $v",
            "your mail address is $v",
            ["{What is|What's} my {mail|email|e-mail}[ address]?", "Where can people write to me?"],
            "my mail address",
            ["My {mail|email}[ address] is $v", "{You can reach me at|Write to me at} $v"],
        ),
        3,
    ),
    (
        StatementKind(
            payloads.things,
            of.amount,
            "I have $v $k",
            "you have $v $k",
            ["How many $k do I have?", "What number of $k do I {have|own}?"],
            "my $k",
            ["I {have|own} $v $k[.]", "{There are|I counted} $v $k {at home|in my garden|in my room}[.]"],
        ),
        4,
    ),
    (
        StatementKind(
            one_of("file", "report", "log", "config", "picture", "song"),
            payloads.file_path,
            "the $k is $v",
            "the $k is $v",
            ["{Where is|What is} the $k[ called]?", "{Which|What} is the {path|name} of the $k?"],
            "the $k",
            ["The $k is {$v|`$v`}", "I saved the $k as {$v|`$v`}"],
        ),
        3,
    ),
    (
        StatementKind(
            _thing,
            payloads.code,
            "the $k has number $v",
            "the $k has number $v",
            ["{What|Which} number does the $k have?", "What is the number of the $k?"],
            "the $k",
            ["The $k has number $v[.]", "The number of the $k is $v[.]"],
        ),
        3,
    ),
    (
        StatementKind(
            payloads.first_name,
            payloads.place,
            "$k lives in $v",
            "$k lives in $v",
            ["Where does $k live?", "In which {town|place} does $k live?"],
            "$k",
            ["{My friend |}$k lives in $v[.]", "$k moved to $v[.]"],
        ),
        3,
    ),
]
