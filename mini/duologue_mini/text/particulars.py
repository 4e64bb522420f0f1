"""Prices, dates, times, durations, amounts and reasons, as they stand in a text."""

from random import Random

from duologue_mini.text import payloads, words
from duologue_mini.text.lexicon import QUALITIES

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
JOBS = [
    *(
        "teacher",
        "nurse",
        "cook",
        "baker",
        "farmer",
        "pilot",
        "painter",
        "writer",
        "singer",
        "driver",
        "doctor",
    ),
    *(
        "student",
        "gardener",
        "carpenter",
        "tailor",
        "plumber",
        "lawyer",
        "judge",
        "dentist",
        "librarian",
        "sailor",
    ),
    *(
        "programmer",
        "photographer",
        "mechanic",
        "chemist",
        "waiter",
        "florist",
        "engineer",
        "architect",
        "tutor",
    ),
    *(
        "clerk",
        "guard",
        "guide",
        "barber",
        "butcher",
        "potter",
        "beekeeper",
        "translator",
        "cleaner",
        "blacksmith",
    ),
]
MATERIALS = "wood steel glass copper clay paper silk wool stone plastic cotton leather brass bamboo".split()  # noqa: SIM905
_CURRENCIES = ["euros", "dollars", "pounds", "francs", "crowns", "yen", "coins"]
_WEATHER = [
    "it rained",
    "it snowed",
    "it was too hot",
    "there was fog",
    "a storm came",
    "it was dark",
    "it was icy",
]


def price(random: Random) -> str:
    """An amount of money."""
    amount = random.choice([random.randint(2, 99), random.randint(100, 999), random.randint(1, 20) * 50])
    kind = random.random()
    if kind < 0.7:
        return f"{amount} {random.choice(_CURRENCIES)}"
    if kind < 0.85:
        return f"{random.choice('$€£')}{amount}"
    return f"{random.randint(1, 60)}.{random.choice(['50', '99', '20', '75', '95'])} {random.choice(_CURRENCIES[:3])}"


def date(random: Random) -> str:
    """A day of some month, now and then with a year."""
    day, month = random.randint(1, 28), random.choice(MONTHS)
    text = f"{day} {month}" if random.random() < 0.6 else f"{month} {day}"
    return f"{text}, {random.randint(1950, 2035)}" if random.random() < 0.1 and text[0].isalpha() else text


def clock(random: Random) -> str:
    """A time of day."""
    kind = random.random()
    if kind < 0.5:
        return f"{random.randint(0, 23)}:{random.choice([0, 15, 30, 45, random.randint(0, 59)]):02d}"
    if kind < 0.75:
        return f"{random.randint(1, 12)} {random.choice(['am', 'pm', 'a.m.', 'p.m.'])}".removesuffix(".")
    return random.choice(
        [f"{words.NUMBERS[random.randint(1, 12)]} o'clock", "noon", "midnight", "half past nine"]
    )


def weekday(random: Random) -> str:
    """A day of the week."""
    return random.choice(WEEKDAYS)


def year(random: Random) -> str:
    """A year."""
    return str(random.randint(1650, 2030))


def span(random: Random) -> str:
    """A duration."""
    unit = random.choice(["minutes", "hours", "days", "weeks", "months", "years"])
    return f"{random.choice([str(random.randint(2, 90)), random.choice(words.NUMBERS[2:13])])} {unit}"


def amount(random: Random) -> str:
    """A count: digits, or words for small numbers."""
    if random.random() < 0.25:
        return random.choice(words.NUMBERS[2:])
    return str(random.choice([random.randint(2, 30), random.randint(2, 400), random.randint(10, 9000)]))


def age(random: Random) -> str:
    """An age in years."""
    return str(random.randint(2, 99)) if random.random() < 0.8 else random.choice(words.NUMBERS[2:])


def street(random: Random) -> str:
    """A street, often with a number."""
    name = random.choice(
        [
            payloads.surname(random),
            payloads.coin_word(random).capitalize(),
            payloads.thing(random).capitalize(),
        ]
    )
    road = f"{name} {random.choice(['Street', 'Road', 'Lane', 'Square', 'Avenue'])}"
    return f"{random.randint(1, 240)} {road}" if random.random() < 0.6 else road


def spot(random: Random) -> str:
    """Where a thing may be: a place in a room or house."""
    where = random.choice(
        ["under", "behind", "next to", "in", "on top of", "inside", "near", "beside", "in front of"]
    )
    return f"{where} the {random.choice(['', random.choice(QUALITIES) + ' '])}{payloads.thing(random)}"


def meeting_place(random: Random) -> str:
    """A meeting place."""
    return random.choice(
        [
            f"in {payloads.place(random)}",
            f"at the {payloads.thing(random)} {random.choice(['hall', 'cafe', 'park', 'station', 'museum'])}",
            f"in room {random.randint(1, 400)}",
            f"on {street(random)}",
        ]
    )


def thing_with_quality(random: Random) -> str:
    """A thing with a quality: a rusty key."""
    quality = random.choice(QUALITIES + words.COLOURS)
    return f"{payloads.article(quality)} {payloads.thing(random)}"


def reason(random: Random) -> str:
    """A reason, as the words after "because"."""
    kind = random.randrange(6)
    thing = payloads.thing(random)
    if kind == 0:
        return random.choice(_WEATHER)
    if kind == 1:
        return f"the {thing} was {random.choice(QUALITIES)}"
    if kind == 2:
        return f"{payloads.first_name(random)} had {random.choice(['lost', 'forgotten', 'sold', 'broken'])} the {thing}"
    if kind == 3:
        return f"there was {random.choice(['no', 'too much', 'hardly any'])} {random.choice(['time', 'money', 'wind', 'light', 'water', 'room'])}"
    if kind == 4:
        return f"the {random.choice(['bridge', 'road', 'door', 'lift', 'office', 'station'])} was {random.choice(['closed', 'blocked', 'under repair', 'too narrow'])}"
    return f"{payloads.first_name(random)} {random.choice(['was ill', 'came too late', 'missed the train', 'asked for it', 'did not call'])}"


def aim(random: Random) -> str:
    """A purpose, as the words after "to"."""
    return random.choice(
        [
            f"visit {payloads.person(random)}",
            f"buy {thing_with_quality(random)}",
            f"see the {payloads.thing(random)} of {payloads.place(random)}",
            f"learn {random.choice(words.LANGUAGES)}",
            f"study {random.choice(words.HOBBIES)}",
            f"repair the {payloads.thing(random)}",
            f"sell {random.choice(words.FOODS)}",
        ]
    )
