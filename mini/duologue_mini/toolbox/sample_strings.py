"""Sample strings for arguments: messages, titles, queries, paths, dates, commands and the like."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.text import payloads, words
from duologue_mini.text.phrases import say

_ZONES = """UTC GMT CET EST PST Europe/Oslo Europe/Berlin Asia/Tokyo Asia/Seoul America/Lima America/Bogota
Africa/Cairo Australia/Sydney Pacific/Auckland Europe/Riga Africa/Lagos""".split()
_ROOMS = """kitchen bedroom bathroom hall hallway garage office attic cellar garden study nursery balcony
basement lounge pantry porch workshop library corridor""".split()
_ROOMS += ["living room", "dining room", "guest room", "upstairs hall", "front door"]
_CURRENCIES = "EUR USD GBP JPY CHF SEK NOK DKK PLN CZK INR BRL KRW TRY CAD AUD MXN ZAR".split()
_SUFFIXES = "txt md csv json pdf py log yaml toml html png jpg xml ini sql js ts rs go docx zip".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_SERVICE_ENDS = ["", "-api", "-service", "-web", "d", "-worker", "_db", "-proxy"]
_MESSAGES = [
    "{the|our|my} {$q |}$n is {ready|broken|late|here|missing|$q}",
    "{I will be|I'm|we are} {late|there at $t|in $p|on my way|ill today|back {soon|on $w}}",
    "{meet|see you|call} {me |}{at $t|at the $n|in $p|on $w}",
    "{please |}{bring|send|buy|check|fix|sell|return} the {$q |}$n{| before $t| on $w| to $m}",
    "{buy|get} $f{ and $g| and a $n|}",
    "{call|ask|thank|pay|visit|tell} $m {about the $n|at $t|on $w|tomorrow|}",
    "{happy birthday|thank you|well done|good luck|welcome|congratulations}{|, $m|!| and see you in $p}",
    "{don't|do not} {forget|lose|touch|open} the {$q |}$n",
    "{is|are} {the $n|you|$m} {ready|in $p|coming on $w|there at $t}?",
    "$m {called|is here|has {a|the} {$q |}$n|wants the $n|lives in $p}",
    "{the |}{meeting|lunch|lesson|party|call} {is|starts} at $t{| in $p| on $w}",
    "$z {$y|is $q|the $n|and $y|needs $z}",
    "{water|feed|wash|paint|move} the {$q |}{$n|$n and the $z}",
    "{it|this} {costs|weighs|takes} $k{| euros| kilos| hours}{, $m said|}",
    "we need $k $s{ by $w| for $m|}",
]
_QUERIES = [
    "{$q |}$n {repair|prices|ideas|manual|history|parts|near $p|in $p|recipe|shops}",
    "{$n|$z} {and|or|versus} {$n|$y}",
    "how to {fix|build|clean|paint|sell} {a|the} {$q |}$n",
    "{best|cheap|old|new|$q} $s{ in $p| for $m|}",
    "$z",
    "$z $y",
    "{$n|$z} $k",
    "{$f|$n} {with|without} {$g|$n}",
    "$m {$z|$p|$n}",
    "{$q|$z} $n",
]


def _draw(random: Random, patterns: list[str]) -> str:
    pattern = random.choice(patterns)
    fills: dict[str, object] = {}
    if "$m" in pattern:
        fills["m"] = payloads.first_name(random)
    if "$p" in pattern:
        fills["p"] = payloads.place(random)
    return say(
        random,
        pattern,
        n=payloads.thing(random),
        q=random.choice(words.ADJECTIVES),
        z=payloads.coin_word(random),
        y=payloads.word(random),
        s=payloads.plural(random.choice(words.THINGS)),
        f=random.choice(words.FOODS),
        g=random.choice(words.FOODS),
        k=random.randint(2, 400),
        t=time(random),
        w=random.choice(_WEEKDAYS),
        **fills,
    )


def message(random: Random) -> str:
    """A message or a note."""
    chance = random.random()
    if chance < 0.72:
        text = _draw(random, _MESSAGES)
    elif chance < 0.86:
        text = payloads.sentence(random)
    else:
        text = payloads.phrase(random, 2, 8)
    if random.random() < 0.3:
        text = text[:1].upper() + text[1:]
    if random.random() < 0.02:
        text = text.replace("the ", 'the "', 1) + '"' if "the " in text else text
    return text


def title(random: Random) -> str:
    """A heading of a few words."""
    text = _draw(random, _QUERIES) if random.random() < 0.6 else payloads.phrase(random, 1, 4)
    style = random.random()
    if style < 0.35:
        return " ".join(word[:1].upper() + word[1:] for word in text.split())
    return text[:1].upper() + text[1:] if style < 0.7 else text


def query(random: Random) -> str:
    """A search query."""
    if random.random() < 0.75:
        return _draw(random, _QUERIES)
    return payloads.phrase(random, 1, 4)


def token(random: Random) -> str:
    """A string without spaces: a word, a compound name, a code."""
    return payloads.any_word(random) if random.random() < 0.7 else payloads.odd(random)


def path(random: Random) -> str:
    """A file path; now and then in Windows style."""
    if random.random() < 0.06:
        return f"C:\\{payloads.word(random)}\\{file_name(random)}"
    return payloads.file_path(random)


def folder(random: Random) -> str:
    """A folder."""
    names = [payloads.word(random) for _ in range(random.randint(1, 3))]
    return random.choice(["/", "", "~/", "./", "../"]) + "/".join(names) + random.choice(["", "", "/"])


def file_name(random: Random) -> str:
    """A file without its folder."""
    joint = random.choice(["", "_", "-", "."])
    stem = payloads.word(random) + (joint + token_word(random) if random.random() < 0.4 else "")
    return f"{stem}.{random.choice(_SUFFIXES)}"


def token_word(random: Random) -> str:
    """A word or a small number, as the second part of a name."""
    return payloads.word(random) if random.random() < 0.6 else str(random.randint(1, 2030))


def glob(random: Random) -> str:
    """A pattern that fits many files."""
    return random.choice(["*.", "**/*.", payloads.word(random) + "*.", "test_*."]) + random.choice(_SUFFIXES)


def url(random: Random) -> str:
    """A web address with its scheme."""
    tail = "/".join(["", *(token(random) for _ in range(random.randint(0, 2)))])
    return f"{random.choice(['https://', 'https://', 'http://', 'https://www.'])}{host(random)}{tail}"


def host(random: Random) -> str:
    """A machine or domain by name."""
    if random.random() < 0.15:
        return ".".join(str(random.randint(1, 254)) for _ in range(4))
    return payloads.mail(random).rpartition("@")[2]


def date(random: Random) -> str:
    """A date of digits: year, month, day."""
    return f"20{random.randint(20, 39)}-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"


def day(random: Random) -> str:
    """A day as users write it."""
    kind = random.randrange(6)
    if kind == 0:
        return random.choice(
            ["today", "tomorrow", "tonight", "next week", "this weekend", "the day after tomorrow"]
        )
    if kind == 1:
        return random.choice(["", "next ", "this "]) + random.choice(_WEEKDAYS)
    if kind == 2:
        return f"{random.randint(1, 28)} {random.choice(_MONTHS)}"
    if kind == 3:
        return f"{random.choice(_MONTHS)} {random.randint(1, 28)}"
    if kind == 4:
        return f"{random.randint(1, 28):02d}.{random.randint(1, 12):02d}.20{random.randint(20, 39)}"
    return date(random)


def time(random: Random) -> str:
    """A time of the day."""
    if random.random() < 0.3:
        return f"{random.randint(1, 12)}{random.choice(['', ' '])}{random.choice(['am', 'pm'])}"
    hour = f"{random.randint(0, 23):02d}" if random.random() < 0.7 else str(random.randint(0, 23))
    return f"{hour}:{random.choice([0, 15, 30, 45, random.randint(0, 59)]):02d}"


def moment(random: Random) -> str:
    """Date and time in one."""
    joint = random.choice(["T", "T", " "])
    return f"{date(random)}{joint}{random.randint(0, 23):02d}:{random.choice([0, 15, 30, 45]):02d}"


def phone(random: Random) -> str:
    """A telephone number."""
    groups = [
        "".join(random.choices("0123456789", k=random.randint(2, 4))) for _ in range(random.randint(2, 3))
    ]
    return random.choice(["+", "0", "555-"]) + random.choice([" ", "-", ""]).join(
        [str(random.randint(1, 99)), *groups]
    )


def colour(random: Random) -> str:
    """A colour by name or as hexadecimal digits."""
    if random.random() < 0.2:
        return "#" + "".join(random.choices("0123456789abcdef", k=6))
    return random.choice(words.COLOURS)


def currency(random: Random) -> str:
    """A currency's three letters."""
    if random.random() < 0.2:
        return "".join(random.choices(payloads.LETTERS.upper(), k=3))
    return random.choice(_CURRENCIES)


def symbol(random: Random) -> str:
    """The ticker symbol of a share."""
    return "".join(random.choices(payloads.LETTERS.upper(), k=random.randint(2, 5)))


def version(random: Random) -> str:
    """A version number."""
    parts = ".".join(str(random.randint(0, 30)) for _ in range(random.choice([2, 3, 3])))
    return random.choice(["", "", "v"]) + parts + random.choice(["", "", "", "-rc1", "-beta"])


def branch(random: Random) -> str:
    """A branch of a repository."""
    if random.random() < 0.3:
        return random.choice(["main", "develop", "next", payloads.word(random)])
    return (
        f"{random.choice(['feature', 'fix', 'release', 'docs'])}/{payloads.word(random)}-{token_word(random)}"
    )


def repository(random: Random) -> str:
    """A repository with its owner."""
    return (
        f"{payloads.word(random)}/{payloads.word(random)}{random.choice(['', '-' + payloads.word(random)])}"
    )


def channel(random: Random) -> str:
    """A chat channel."""
    name = payloads.word(random) + random.choice(["", "", "-" + payloads.word(random)])
    return random.choice(["#", "#", ""]) + name


def service(random: Random) -> str:
    """A service on a server."""
    return payloads.word(random) + random.choice(_SERVICE_ENDS)


def table(random: Random) -> str:
    """A database table."""
    return payloads.plural(payloads.word(random)) + random.choice(["", "", "_" + payloads.word(random)])


def sql(random: Random) -> str:
    """A short SQL query."""
    column, name = payloads.word(random), table(random)
    tail = random.choice(
        ["", f" WHERE {payloads.word(random)} > {random.randint(1, 99)}", f" LIMIT {random.randint(1, 50)}"]
    )
    return (
        random.choice(["SELECT ", "select "])
        + random.choice([column, "*", "count(*)"])
        + f" FROM {name}{tail}"
    )


def command(random: Random) -> str:
    """A shell command."""
    word = payloads.word(random)
    return random.choice(
        [
            f"ls -la {folder(random)}",
            f"cat {path(random)}",
            f"git checkout {branch(random)}",
            f"grep {word} {file_name(random)}",
            f"npm run {word}",
            f"python {word}.py --{payloads.word(random)} {random.randint(1, 99)}",
            f"mkdir {word}",
            f"du -sh {folder(random)}",
            f"make {word}",
            f"{word} --{payloads.word(random)}",
        ]
    )


def expression(random: Random) -> str:
    """An arithmetic expression as typed."""
    count = random.choice([2, 2, 2, 3, 3, 4])
    numbers = [str(random.randrange(1, 10 ** random.randint(1, 5))) for _ in range(count)]
    if random.random() < 0.2:
        numbers[0] += f".{random.randint(1, 99)}"
    tight = "" if random.random() < 0.3 else " "
    text = numbers[0]
    for one in numbers[1:]:
        text += f"{tight}{random.choice('+-*/')}{tight}{one}"
    if count == 3 and random.random() < 0.2:
        head, _, tail = text.partition(f"{tight}*{tight}")
        text = f"({head}){tight}*{tight}{tail}" if tail else text
    return (
        text
        if random.random() < 0.9
        else random.choice([f"sqrt({numbers[0]})", f"{numbers[0]}^{random.randint(2, 9)}"])
    )


def selector(random: Random) -> str:
    """A selector of an element on a web page."""
    return (
        random.choice(["#", ".", "button.", "input#", "a.", "div#"])
        + payloads.word(random)
        + random.choice(["", "", "-" + payloads.word(random)])
    )


def food(random: Random) -> str:
    """A food, at times invented."""
    return random.choice(words.FOODS) if random.random() < 0.8 else payloads.coin_word(random)


def room(random: Random) -> str:
    """A part of a house."""
    return random.choice(_ROOMS) if random.random() < 0.8 else payloads.word(random) + " room"


def zone(random: Random) -> str:
    """A time zone."""
    return random.choice(_ZONES)


def key(random: Random) -> str:
    """A storage key."""
    joint = random.choice(["_", "-", ".", ":"])
    return joint.join(payloads.word(random) for _ in range(random.choice([1, 2, 2, 3])))


def street(random: Random) -> str:
    """A street and a number."""
    name = (
        payloads.coin_word(random).capitalize()
        if random.random() < 0.5
        else random.choice(words.THINGS).capitalize()
    )
    return f"{random.randint(1, 199)} {name} {random.choice(['Street', 'Road', 'Lane', 'Avenue', 'Way'])}"


def enumerate_values(random: Random, several: list[str]) -> str:
    """Several values in running text."""
    style = random.random()
    if style < 0.65 or len(several) == 1:
        return words.join_words(several)
    return ", ".join(several) if style < 0.9 else " and ".join(several)
