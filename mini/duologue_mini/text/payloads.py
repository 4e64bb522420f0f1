"""Strings to be copied, changed and remembered: words, names, numbers, addresses, codes, lines.

Many are invented, so that the model learns to copy and not to recite.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

import re
from random import Random

from duologue_mini.text import words
from duologue_mini.text.lexicon import MEN, NOUNS, OTHER_SCRIPTS, QUALITIES, SURNAMES, VERBS, WOMEN

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SYLLABLES = """ba be bi bo bra bre bu ca che ci co cra da de di do dra du e el en fa fi fla fo fra gal ge gi go gra
ha he hi ho hu i in ja je jo ka ke ki ko kra la le li lo lu ma me mi mo mu na ne ni no nu o or pa pe pi plo po pra
qua ra re ri ro ru sa se shi si sko so sta ste stri su ta te thi ti to tra tri tu u ul va ve vi vo wa we wi wo
xa xi ya yo za ze zi zo zu""".split()
_ENDINGS = """a al an ar as b ck d den dle er est et ex f ff g gen ic in ing ion is ish it k l la le ll lo lum m mer
n na nd nes nk nt o on or ox p r rd rim rk rn s sen sk sor st t ta ter th ton um us ver vik x y z""".split()
KNOWN = [*NOUNS, *VERBS, *QUALITIES, *words.ADJECTIVES, *words.ANIMALS, *words.FOODS, *words.THINGS]
_UNCOUNTED = set(
    """autumn bamboo basement beard belief bottom breakfast butter cattle cement chalk clay climate cloth clover coffee
    copper cotton cream danger dawn dinner direction dust earth east echo evening exit fish flame flour freedom
    furniture future garlic ginger glass gold granite grass gravel hail harvest history honey horizon ice ink
    jam jewelry juice jungle lace language laundry leather lemonade lettuce luggage lunch marble meal metal milk
    mist money morning moss mouth music mystery night noise north oak oasis opinion paint paper parking parsley
    pasta person plastic pleasure police pottery powder quiet rain rhythm rice salt sand scissors science school
    shampoo silk sky smoke snow soap south spark spice spinach spring steam stomach storm sugar summer sun surprise
    syrup teacher throat thunder timber toast traffic universe velvet vinegar voice water weather west winter wood
    wool world knife shelf leaf tooth mouse goose sheep thief scarf half child man woman foot moon radio piano
    tomato potato mango volcano person minister moment message""".split()
)
COUNTABLE = [noun for noun in [*words.ANIMALS[:6], *words.THINGS, *NOUNS] if noun not in _UNCOUNTED]
_TAILS = "com org net io example dev lan cloud local ai eu app uk de".split()
_FILES = "txt md pdf py csv json gguf toml wav png log yaml html sh conf zip".split()
_FOLDERS = "home usr opt etc data notes music src models backup var photos work docs music build".split()


def coin_word(random: Random) -> str:
    """An invented word of one to five syllables."""
    if random.random() < 0.4:
        return words.invent_word(random)
    parts = random.choices(_SYLLABLES, k=random.choice([1, 1, 2, 2, 3, 4]))
    return "".join(parts) + random.choice(_ENDINGS)


def letter_salad(random: Random) -> str:
    """Random letters."""
    return "".join(random.choices(LETTERS, k=random.randint(2, 9)))


def word(random: Random) -> str:
    """A word in lower case: real more often than not."""
    chance = random.random()
    if chance < 0.6:
        return random.choice(KNOWN)
    if chance < 0.9:
        return coin_word(random)
    return letter_salad(random) if chance < 0.95 else random.choice(NOUNS) + random.choice(NOUNS)


def change_case(random: Random, text: str) -> str:
    """The text in another case, as in brands and passwords."""
    kind = random.random()
    if kind < 0.4:
        return text.capitalize()
    if kind < 0.6:
        return text.upper()
    if kind < 0.8:
        middle = len(text) // 2
        return text[:middle].capitalize() + text[middle:].capitalize()
    return "".join(letter.upper() if random.random() < 0.4 else letter for letter in text)


def any_word(random: Random) -> str:
    """A word in any case."""
    candidate = word(random)
    return change_case(random, candidate) if random.random() < 0.3 else candidate


def first_name(random: Random) -> str:
    """A given name; a third of them invented, a few in other scripts."""
    chance = random.random()
    if chance < 0.64:
        return random.choice(WOMEN if random.random() < 0.5 else MEN)
    return coin_word(random).capitalize() if chance < 0.97 else random.choice(OTHER_SCRIPTS)


def surname(random: Random) -> str:
    """A family name, half of them invented."""
    return random.choice(SURNAMES) if random.random() < 0.5 else coin_word(random).capitalize()


def person(random: Random) -> str:
    """A given name, or a full one."""
    name = first_name(random)
    return f"{name} {surname(random)}" if random.random() < 0.35 else name


def place(random: Random) -> str:
    """A town, real or invented."""
    if random.random() < 0.5:
        return random.choice(words.PLACES)
    name = coin_word(random).capitalize()
    return name + random.choice(["", "", "", " Bay", " Hill", "ville", " Bridge", "burg", " Falls", "ton"])


def thing(random: Random) -> str:
    """One countable thing, in lower case."""
    return coin_word(random) if random.random() < 0.15 else random.choice(COUNTABLE)


def things(random: Random) -> str:
    """A thing in the plural."""
    return plural(thing(random))


def plural(noun: str) -> str:
    """The regular plural of an English noun."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


_LIKE_YOU = re.compile(r"uni|us[eu]|eu|one", re.I)


def article(word: str) -> str:
    """The word with "a" or "an" before it, by its sound."""
    vowel = word[0].lower() in "aeiou" and not _LIKE_YOU.match(word)
    return f"{'an' if vowel else 'a'} {word}"


def number(random: Random) -> str:
    """A number of one to seven digits."""
    return str(random.randrange(10 ** random.randint(1, 7)))


def code(random: Random) -> str:
    """A code of letters and digits, as on doors, parcels and bookings."""
    kind = random.randrange(5)
    digits = "".join(random.choices("0123456789", k=random.randint(2, 6)))
    if kind == 0:
        return digits
    if kind == 1:
        return "".join(random.choices(LETTERS.upper(), k=random.randint(1, 3))) + "-" + digits
    if kind == 2:
        return change_case(random, coin_word(random)) + digits
    if kind == 3:
        return "".join(random.choices(LETTERS.upper() + "0123456789", k=random.randint(4, 8)))
    return f"{word(random)}-{word(random)}-{digits[:2]}"


def mail(random: Random) -> str:
    """A mail address."""
    who = first_name(random).lower() if random.random() < 0.5 else word(random)
    if not who.isascii():
        who = coin_word(random)
    if random.random() < 0.4:
        who += random.choice([".", "_", "-", ""]) + random.choice([word(random), str(random.randint(1, 99))])
    return f"{who}@{coin_word(random)}.{random.choice(_TAILS)}"


def file_path(random: Random) -> str:
    """A file, with the folders above it."""
    folders = [
        random.choice(_FOLDERS) if random.random() < 0.6 else coin_word(random)
        for _ in range(random.randint(0, 3))
    ]
    name = word(random) + random.choice(["", "", "_" + word(random), str(random.randint(1, 99))])
    top = random.choice(["/", "", "~/", "./"]) if folders else ""
    return top + "/".join([*folders, f"{name}.{random.choice(_FILES)}"])


def link(random: Random) -> str:
    """A web address."""
    tail = f"/{word(random)}" if random.random() < 0.5 else ""
    start = random.choice(["https://", "http://", "", "www."])
    return f"{start}{coin_word(random)}.{random.choice(_TAILS)}{tail}"


def odd(random: Random) -> str:
    """A string that is not a plain word."""
    kind = random.randrange(9)
    if kind < 5:
        return (code, mail, file_path, link, number)[kind](random)
    if kind == 5:
        return "_".join(word(random) for _ in range(random.randint(2, 3)))
    if kind == 6:
        return "".join(word(random).capitalize() for _ in range(random.randint(2, 3)))
    if kind == 7:
        return f"{random.randint(0, 30)}.{random.randint(0, 99)}" + random.choice(
            ["", f".{random.randint(0, 9)}"]
        )
    return f"{random.randint(0, 23)}:{random.randint(0, 59):02d}"


def phrase(random: Random, least: int = 2, most: int = 6) -> str:
    """Some words that need not make sense together."""
    return " ".join(any_word(random) for _ in range(random.randint(least, most)))


def sentence(random: Random) -> str:
    """A plain sentence without its full stop."""
    who = random.choice(
        [
            first_name(random),
            f"the {random.choice(QUALITIES)} {thing(random)}",
            f"my {thing(random)}",
            "the children",
        ]
    )
    done = random.choice(
        [
            "lost",
            "found",
            "liked",
            "sold",
            "painted",
            "saw",
            "took",
            "wanted",
            "forgot",
            "broke",
            "bought",
            "hid",
        ]
    )
    what = f"{random.choice(['a', 'the', 'one', 'every', 'no'])} {random.choice(['', random.choice(QUALITIES) + ' '])}"
    where = random.choice(
        [
            "",
            "",
            f" in {place(random)}",
            f" near the {thing(random)}",
            " yesterday",
            f" with {first_name(random)}",
        ]
    )
    text = f"{who} {done} {what}{thing(random)}{where}"
    return (
        text.replace(" a a", " an a")
        .replace(" a e", " an e")
        .replace(" a i", " an i")
        .replace(" a o", " an o")
    )
