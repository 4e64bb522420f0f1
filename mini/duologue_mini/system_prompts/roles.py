"""Roles that a system prompt gives to the model: names, posts and the places they belong to."""

from dataclasses import dataclass
from random import Random

from duologue_mini.text import payloads, words
from duologue_mini.text.phrases import pick

POSTS = [
    *(
        "receptionist",
        "assistant",
        "helper",
        "guide",
        "librarian",
        "clerk",
        "tutor",
        "concierge",
        "coach",
        "waiter",
    ),
    *(
        "shop assistant",
        "gardener",
        "host",
        "support agent",
        "companion",
        "storyteller",
        "butler",
        "secretary",
    ),
    *("ticket seller", "museum guide", "travel agent", "caretaker", "doorman", "co-pilot", "kitchen helper"),
]
HOUSES = [
    *(
        "hotel",
        "museum",
        "library",
        "bakery",
        "shop",
        "school",
        "zoo",
        "theatre",
        "garden",
        "station",
        "clinic",
    ),
    *(
        "farm",
        "cafe",
        "restaurant",
        "gym",
        "bank",
        "campsite",
        "bookshop",
        "factory",
        "ship",
        "castle",
        "office",
    ),
]
INTRODUCED = [
    "{You are|You're} $n, {the|a} $o of $h[.]",
    "{You are|Your name is|You are called|Act as|Play|Pretend to be} $n, {the|a} $o{| of $h}[.]",
    "{You are|Act as|Play} the $o of $h{. Your name is $n|, and your name is $n}[.]",
    "Your name is $n and you {work|help people} {at|for} $h[ as $p][.]",
    "You are {a|the} $d $o {named|called} $n[.]",
    "{Your name is|You are called|Call yourself|You go by the name of|Introduce yourself as} $n[.]",
    "Name: $n[\nRole: $o]",
    "$n is {the|a} $o of $h. You are $n[.]",
]
WHO = [
    "{Who|What} are you[ exactly]?",
    "{What is|What's|Tell me} your name[?]",
    "{Who|Whom} am I {talking|speaking|writing} {to|with}[ here]?",
    "{How|What} {should|may|can} I call you?",
    "{Introduce|Describe|Present} yourself[ please][.]",
    "{Tell me|Say something} about yourself[.]",
    "{Do you have a name|And you are|Your name, please|And who are you|So who is this}?",
    "{Hi|Hello|Hey}[,] {who are you|what is your name|who is there}?",
]


@dataclass(frozen=True)
class Role:
    """A name, a post if there is one, and the sentence that assigns them."""

    name: str
    post: str
    system: str


def role(random: Random) -> Role:
    """Draws a role."""
    name = (
        payloads.first_name(random)
        if random.random() < 0.6
        else payloads.change_case(random, payloads.coin_word(random))
    )
    if random.random() < 0.1:
        name = f"{name} {payloads.surname(random)}"
    post = random.choice(POSTS)
    house = f"{payloads.article(random.choice(words.ADJECTIVES))} {random.choice(HOUSES)}"
    if random.random() < 0.4:
        house = f"{payloads.coin_word(random).capitalize()} {random.choice(HOUSES).capitalize()}"
    pattern = random.choice(INTRODUCED)
    system = pick(
        random,
        [pattern],
        n=name,
        o=post,
        h=house,
        d=random.choice(words.ADJECTIVES),
        p=payloads.article(post),
    )
    place = f" of {house}" if f" of {house}" in system else ""
    return Role(name, f"the {post}{place}" if post in system else "", system)


def who(random: Random, being: Role) -> tuple[str, str]:
    """A question who the model is, and the answer in one sentence."""
    if being.post and random.random() < 0.6:
        return pick(random, WHO), pick(random, ["I am $n, $p{.|!}"], n=being.name, p=being.post)
    answers = [
        "I am $n{.|!}",
        "My name is $n{.|!}",
        "I am $n, nice to meet you{.|!}",
        "I am $n, how can I help you?",
    ]
    return pick(random, WHO), pick(random, answers, n=being.name)
