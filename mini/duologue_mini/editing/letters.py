"""Changes of one word and questions about it, letter by letter: spelling, reversing, counting, case."""

from random import Random

from duologue_mini.editing.changes import Change, Work
from duologue_mini.text import payloads
from duologue_mini.text.numerals import ordinal
from duologue_mini.text.phrases import pick

VOWELS = "aeiou"


def spell_out(word: str, mark: str = "-") -> str:
    """The letters with a mark between them."""
    return (" " if mark == "-" and "-" in word else mark).join(word)


def times(count: int) -> str:
    """Once, twice, 3 times."""
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def letters(count: int, noun: str = "letter") -> str:
    """1 letter, 2 letters."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


MARKS = [
    (" ", "spaces"),
    (", ", "commas"),
    (".", "dots"),
    ("-", "hyphens"),
    ("-", "dashes"),
    ("/", "slashes"),
]


def _spell(random: Random, word: str) -> Work:
    """Spells the word with hyphens, unless the request names another mark."""
    chance = random.random()
    if chance < 0.75:
        return Work(spell_out(word), f"I spell {word}, letter by letter.", fills={"m": ""})
    if chance < 0.85:
        return Work(spell_out(word.upper()), f"I spell {word} in capitals.", fills={"m": " in capitals"})
    mark, name = random.choice(MARKS)
    return Work(
        spell_out(word, mark),
        f"I spell {word} with {name}.",
        fills={"m": f" with {name} between the letters"},
    )


def _reverse(random: Random, word: str) -> Work:
    backwards = word[::-1]
    thought = f"{word}: {spell_out(word, ' ')}\nbackwards: {spell_out(backwards, ' ')}\n{backwards}"
    if len(word) <= 4:
        return Work(backwards, thought, outcome=backwards)
    answer = pick(
        random,
        ["$s, backwards $b: $w", '$s turned round is $b, so "$w".'],
        s=spell_out(word),
        b=spell_out(backwards),
        w=backwards,
    )
    return Work(answer, thought, backwards, backwards)


def _number_letters(word: str) -> str:
    return ", ".join(f"{index} {letter}" for index, letter in enumerate(word, 1))


def _count(random: Random, word: str) -> Work:
    size = letters(len(word))
    full = pick(random, ["$s: {that is $n|$n}.", '"$w" is $s: $n.'], s=spell_out(word), n=size, w=word)
    brief = pick(random, ['"$w" has $n.', "$n.", "It has $n."], w=word, n=size)
    return Work(full, f"I count: {_number_letters(word)}. {size}.", brief)


def _count_one(random: Random, word: str) -> Work:
    lower = word.lower()
    letter = random.choice(lower) if random.random() < 0.8 else random.choice(payloads.LETTERS)
    count, lines = 0, []
    for one in lower:
        count += one == letter
        lines.append(f"{one} {count}" if one == letter else f"{one} -")
    says = (
        f'the letter {letter} is in "{word}" {times(count)}' if count else f'there is no {letter} in "{word}"'
    )
    capital = says[0].upper() + says[1:]
    fills: dict[str, object] = {"l": random.choice([letter, f'"{letter}"', letter.upper(), f"'{letter}'"])}
    return Work(
        f"{spell_out(lower)}: {says}.",
        f"I look for {letter}: {', '.join(lines)}.",
        f"{capital}.",
        fills=fills,
    )


def _vowels(random: Random, word: str) -> Work:
    vowels = [letter for letter in word.lower() if letter in VOWELS]
    count = letters(len(vowels), "vowel")
    suffix = f" ({', '.join(vowels)})" if vowels else ""
    return Work(
        f"{spell_out(word)}: {count}{suffix}.",
        f"{spell_out(word, ' ')}\nvowels: {' '.join(vowels)}",
        f"{count}{suffix}.",
    )


def _nth(random: Random, word: str) -> Work:
    place = random.choice([1, 1, len(word), len(word), random.randint(1, len(word))])
    last = place == len(word) and random.random() < 0.8
    which = "last" if last else ordinal(place)
    letter = word[place - 1]
    answer = pick(random, ['The $i letter {of "$w" |}is $l.', "$l", 'It is "$l".'], i=which, w=word, l=letter)
    return Work(answer, f"I count: {_number_letters(word)}. The {which} is {letter}.", fills={"i": which})


def _contains(random: Random, word: str) -> Work:
    letter = random.choice(word.lower() if random.random() < 0.5 else payloads.LETTERS)
    inside = letter in word.lower()
    answer = f'Yes, there is {"an" if letter in "aefhilmnorsx" else "a"} {letter} in "{word}".'
    if not inside:
        answer = f'No, there is no {letter} in "{word}".'
    return Work(
        answer,
        f"{spell_out(word, ' ')}: {letter} is {'there' if inside else 'not there'}.",
        fills={"l": letter},
    )


def _without(random: Random, word: str) -> Work | None:
    letter = random.choice(word.lower())
    rest = "".join(one for one in word if one.lower() != letter)
    if not rest:
        return None
    marks = " ".join("(" + one + ")" if one.lower() == letter else one for one in word)
    return Work(rest, f"{marks}\nWithout {letter}: {rest}", outcome=rest, fills={"l": letter})


def _exchange(random: Random, word: str) -> Work:
    old = random.choice(word.lower())
    new = random.choice([letter for letter in payloads.LETTERS if letter != old])
    result = "".join(new if letter == old else letter for letter in word.lower())
    thought = f"{spell_out(word.lower(), ' ')}\n{spell_out(result, ' ')}"
    return Work(result, thought, outcome=result, fills={"l": old, "k": new})


def mirror(random: Random, word: str) -> Work:
    """Whether a word, or one made from it, reads the same backwards."""
    lower = word.lower()
    if random.random() < 0.5:
        half = lower[:4]
        lower = half + half[::-1][random.randint(0, 1) :]
    backwards = lower[::-1]
    same = lower == backwards
    thought = f"{spell_out(lower, ' ')}\nbackwards: {spell_out(backwards, ' ')}"
    answer = f"{spell_out(lower)}, backwards {spell_out(backwards)}: "
    verdict = "yes, it is the same both ways" if same else "no, they are not the same"
    return Work(f"{answer}{verdict}.", thought, f"{verdict[0].upper()}{verdict[1:]}.", fills={"z": lower})


def _upper(random: Random, word: str) -> Work:
    return Work(word.upper(), f"{spell_out(word, ' ')}\n{spell_out(word.upper(), ' ')}", outcome=word.upper())


def _lower(random: Random, word: str) -> Work:
    return Work(word.lower(), f"{spell_out(word, ' ')}\n{spell_out(word.lower(), ' ')}", outcome=word.lower())


def _title(random: Random, word: str) -> Work:
    return Work(word.capitalize(), f"The first letter of {word} becomes large.", outcome=word.capitalize())


SPELL = [
    "{Spell|Please spell|Can you spell|Spell out|How do you spell|How is it spelled:|Tell me how to spell} $o$m[.|?]",
    "{Write|Say|Give me|Show me} $o letter by letter$m[.]",
    "{Split|Break|Take} $o {into|apart into} {letters|its letters|single letters}$m[.]",
    "{What are|List} the letters {of|in} $o$m[?]",
]
WORD_CHANGES = [
    Change(SPELL, _spell, ["{Now spell|Spell|And spell} {it|that}[.]", "Letter by letter[ please]?"], 9),
    Change(
        [
            "{Reverse|Turn round|Flip|Mirror|Invert} $o[.]",
            "{Write|Spell|Say|Put|Type} $o {backwards|in reverse|from back to front|the other way round}[.]",
            "{What is|How do I write|How does one spell} $o {backwards|spelled backwards|in reverse}?",
            "{Reverse|Turn round} the {letters|order of the letters} {of|in} $o[.]",
        ],
        _reverse,
        ["{Now reverse|Reverse|And turn round} {it|that}[.]", "{And|Now} backwards[?|.]"],
        8,
    ),
    Change(
        [
            "How many letters {are in|are there in|has|in} $o[?]",
            "How many letters does $o have[?]",
            "{Count|Please count} the {letters|characters} {of|in} $o[.]",
            "{How long is|What is the length of} $o[ in letters]?",
        ],
        _count,
        ["{And how|How} many letters {is that|has it|does it have}?"],
        6,
    ),
    Change(
        [
            "How many {times does the letter $l|times is $l|$l's are|$l are} in $o?",
            "How often {is the letter $l in|does the letter $l appear in|does $l come up in|is there {an|a} $l in} $o?",
            "Count the {letter |}$l in $o[.]",
        ],
        _count_one,
        weight=5,
    ),
    Change(
        [
            "How many vowels {are in|are there in|in} $o[?]",
            "Count the vowels in $o[.]",
            "{Which|What} vowels are in $o?",
        ],
        _vowels,
        weight=2,
    ),
    Change(
        [
            "{What|Which} is the $i letter {of|in} $o?",
            "{Give|Tell|Show} me the $i letter of $o[.]",
            "{What|Which} letter {comes $i|is $i} in $o?",
            "{In|Of} $o, {which|what} is the $i letter?",
        ],
        _nth,
        ["{And the|What is the} $i letter[ of it]?"],
        5,
    ),
    Change(
        [
            "{Is there|Do you see|Can you find} {a|the letter|an} $l in $o?",
            "Does $o {have|contain} {the letter|a} $l?",
        ],
        _contains,
        weight=3,
    ),
    Change(
        [
            "{Remove|Delete|Leave out|Drop|Take out} {every|each|all} $l {from|in} $o[.]",
            "{Write|Say} $o without {the letter $l|any $l}[.]",
        ],
        _without,
        ["Now without {the letter |}$l[.]"],
        3,
    ),
    Change(
        [
            "{Replace|Change|Swap|Exchange} {every|each|all|the letter} $l {with|by|for|to} $k in $o[.]",
            "In $o, {put $k for every $l|make every $l $k|write $k instead of $l}[.]",
        ],
        _exchange,
        weight=3,
    ),
    Change(
        [
            "{Write|Put|Convert|Turn|Change|Make|Set} $o {in|into|to} {upper case|uppercase|capitals|capital letters|all"
            " caps|big letters}[.]",
            "{Uppercase|Capitalise all of|Shout} $o[.]",
            "{What is|How do I write} $o in {capitals|upper case|capital letters}?",
        ],
        _upper,
        ["{Now in|In|And in|Same in|Now make it} {capitals|upper case|capital letters|all caps}[.|?]"],
        7,
    ),
    Change(
        [
            "{Write|Put|Convert|Turn|Change|Make} $o {in|into|to} {lower case|lowercase|small letters}[.]",
            "{Lowercase|Make small letters of} $o[.]",
        ],
        _lower,
        ["{Now in|In|And in} {lower case|lowercase|small letters}[.|?]"],
        4,
    ),
    Change(
        ["{Capitalise|Capitalize} $o[.]", "{Write|Start} $o with a {capital|large first} letter[.]"],
        _title,
        weight=2,
    ),
]
JOIN = [
    "{What|Which} word {do|is made of|comes from} {the letters |}$s{ make|}?",
    "{Join|Put together|Combine|Connect|Glue} {these|the} letters: $s",
    "{Make|Form} one word {of|from|out of} $s[.]",
    "$s {spells what|is which word|makes what word}?",
]
MIRROR = [
    "Is {the word |}$z {a palindrome|the same backwards|the same when reversed}?",
    "Does $z read the same {backwards|both ways|from both ends}?",
]
