"""Changes and questions about a list: order, sorting, counting, taking out, bullets, numbers, joining.

Knows how a list is written in a request and how each change is worked out; nothing about who asks.
"""

from collections.abc import Callable
from random import Random

from duologue_mini.editing.changes import ListChange, Work
from duologue_mini.text import payloads, words
from duologue_mini.text.numerals import ordinal
from duologue_mini.text.phrases import pick


def items(random: Random) -> list[str]:
    """Three to nine different things of one kind."""
    count = random.choices([2, 3, 4, 5, 6, 7, 8, 9], [2, 6, 7, 6, 4, 3, 2, 1])[0]
    maker = random.choices(MAKERS, [8, 4, 4, 4, 6, 3, 2, 2, 3])[0]
    found: list[str] = []
    while len(found) < count:
        drawn = maker(random)
        if drawn not in found:
            found.append(drawn)
    return found


def _small_number(random: Random) -> str:
    return str(random.randrange(random.choice([10, 100, 100, 1000])))


MAKERS: list[Callable[[Random], str]] = [
    lambda random: random.choice(payloads.KNOWN),
    payloads.coined,
    payloads.first_name,
    lambda random: random.choice(words.FOODS + words.ANIMALS + words.COLOURS),
    _small_number,
    payloads.any_word,
    payloads.odd,
    payloads.person,
    lambda random: f"{random.choice(words.ADJECTIVES)} {payloads.thing(random)}",
]


def numeric(found: list[str]) -> bool:
    """Whether these are all whole numbers."""
    return all(one.isdigit() for one in found)


def listed(random: Random, found: list[str]) -> str:
    """The list as somebody might write it."""
    style = random.random()
    if style < 0.6:
        return ", ".join(found)
    if style < 0.7:
        return ", ".join(found[:-1]) + " and " + found[-1]
    if style < 0.75 and not any(" " in one for one in found):
        return " ".join(found)
    if style < 0.8:
        return random.choice(["; ", " | ", " / "]).join(found)
    if style < 0.87:
        return "\n".join(f"- {one}" for one in found)
    if style < 0.92:
        return "\n".join(f"{index}. {one}" for index, one in enumerate(found, 1))
    return "\n".join(found) if style < 0.96 else "[" + ", ".join(found) + "]"


def _made(found: list[str], thought: str, **fills: object) -> Work:
    return Work(", ".join(found), thought, outcome=found, fills=fills)


def _reverse(random: Random, found: list[str]) -> Work:
    return _made(found[::-1], f"{len(found)} items, from last to first.")


def _sorted(random: Random, found: list[str]) -> Work | None:
    return _by_alphabet(found, "In order", downwards=False)


def _sorted_down(random: Random, found: list[str]) -> Work | None:
    return _by_alphabet(found, "From z to a", downwards=True)


def _by_alphabet(found: list[str], name: str, *, downwards: bool) -> Work | None:
    if not all(one.isascii() and one[0].isalpha() for one in found):
        return None
    ordered = sorted(found, key=str.casefold, reverse=downwards)
    firsts = ", ".join(f"{one[0].lower()} {one}" for one in found)
    shown = ", ".join(f"{one[0].lower()} {one}" for one in ordered)
    return _made(ordered, f"First letters: {firsts}.\n{name}: {shown}.")


def _numbers_up(random: Random, found: list[str]) -> Work:
    ordered = sorted(found, key=int)
    return _made(ordered, _lengths(found) + f"Smallest first: {', '.join(ordered)}.")


def _numbers_down(random: Random, found: list[str]) -> Work:
    ordered = sorted(found, key=int, reverse=True)
    return _made(ordered, _lengths(found) + f"Largest first: {', '.join(ordered)}.")


def _lengths(found: list[str]) -> str:
    groups = [[one for one in found if len(one) == size] for size in (1, 2, 3)]
    names = ["one digit", "two digits", "three digits"]
    parts = [f"{name}: {', '.join(group)}" for name, group in zip(names, groups, strict=True) if group]
    return ". ".join(parts)[:1].upper() + ". ".join(parts)[1:] + ".\n"


def _numbered(found: list[str]) -> str:
    return ", ".join(f"{index} {one}" for index, one in enumerate(found, 1))


def _count(random: Random, found: list[str]) -> Work:
    answer = pick(random, ["{There are|That is|That makes} $n[ in the list].", "$n."], n=len(found))
    return Work(answer, f"I count: {_numbered(found)}. {len(found)}.")


def _nth(random: Random, found: list[str]) -> Work:
    place = random.choice([1, 1, len(found), len(found), random.randint(1, len(found))])
    which = "last" if place == len(found) and random.random() < 0.85 else ordinal(place)
    one = found[place - 1]
    thought = (
        f"The last is {one}." if which == "last" else f"{_numbered(found[:place])}. The {which} is {one}."
    )
    return Work(pick(random, ["$w", "$w", "The $i one is $w."], i=which, w=one), thought, fills={"i": which})


def _without(random: Random, found: list[str]) -> Work:
    one = random.choice(found)
    return _made([other for other in found if other != one], f"All but {one}.", w=one)


def _added(random: Random, found: list[str]) -> Work:
    new = random.choice(MAKERS[:4])(random)
    front = random.random() < 0.3
    where = "at the {start|beginning|front}" if front else "[at the end]"
    changed = [new, *found] if front else [*found, new]
    return _made(changed, f"{new} goes {'first' if front else 'last'}.", w=new, a=pick(random, [where]))


def _exchange(random: Random, found: list[str]) -> Work:
    old, new = random.choice(found), random.choice(MAKERS[:4])(random)
    return _made([new if one == old else one for one in found], f"{old} becomes {new}.", w=old, n=new)


def _bullets(random: Random, found: list[str]) -> Work:
    return Work("\n".join(f"- {one}" for one in found), f"{len(found)} bullets.", outcome=found)


def _numbers(random: Random, found: list[str]) -> Work:
    lines = "\n".join(f"{index}. {one}" for index, one in enumerate(found, 1))
    return Work(lines, f"{len(found)} numbered lines.", outcome=found)


def _lines(random: Random, found: list[str]) -> Work:
    return Work("\n".join(found), "One line each.", outcome=found)


def _joined(random: Random, found: list[str]) -> Work:
    name, mark = random.choice(
        [
            ("commas", ", "),
            ("semicolons", "; "),
            ("dashes", " - "),
            ("slashes", "/"),
            ('"and"', " and "),
            ('"or"', " or "),
            ("plus signs", " + "),
            ("arrows", " -> "),
        ]
    )
    return Work(mark.join(found), f"{name} between them.", outcome=found, fills={"m": name})


def _contains(random: Random, found: list[str]) -> Work:
    one = random.choice(found) if random.random() < 0.5 else random.choice(MAKERS[:4])(random)
    inside = one in found
    answer = f"Yes, {one} is in the list." if inside else f"No, {one} is not in the list."
    return Work(answer, f"I look for {one}: {'found' if inside else 'not there'}.", fills={"w": one})


def _place(random: Random, found: list[str]) -> Work:
    one = random.choice(found)
    which = ordinal(found.index(one) + 1)
    answer = pick(
        random, ["{It is|$w is} the $i.", "$w is number $k."], w=one, i=which, k=found.index(one) + 1
    )
    return Work(answer, f"{_numbered(found[: found.index(one) + 1])}.", fills={"w": one})


def _neighbour(random: Random, found: list[str]) -> Work | None:
    index = random.randrange(len(found) - 1)
    after = random.random() < 0.6
    asked, answer = (found[index], found[index + 1]) if after else (found[index + 1], found[index])
    which = "after" if after else "before"
    return Work(
        pick(random, ["$w", "$w comes $i $z."], w=answer, i=which, z=asked),
        f"{which.capitalize()} {asked}: {answer}.",
        fills={"w": asked, "i": which},
    )


def _upper(random: Random, found: list[str]) -> Work:
    return _made([one.upper() for one in found], "Every letter becomes large.")


def _title(random: Random, found: list[str]) -> Work:
    return _made([one[:1].upper() + one[1:] for one in found], "Each one starts with a large letter.")


def _some(random: Random, found: list[str]) -> Work | None:
    if len(found) < 4:
        return None
    count = random.randint(2, len(found) - 1)
    front = random.random() < 0.6
    kept = found[:count] if front else found[-count:]
    which = "first" if front else "last"
    return _made(
        kept,
        f"The {which} {count}: {', '.join(kept)}.",
        i=which,
        k=random.choice([str(count), words.NUMBERS[count]]),
    )


LIST_CHANGES = [
    ListChange(
        [
            "{Reverse|Turn round|Flip|Invert} $o[.]",
            "{Reverse|Turn round} the order of $o[.]",
            "{Write|Put|Give me|Say|Show} $o {backwards|in reverse order|from last to first|in reverse|the other way round}[.]",
        ],
        _reverse,
        [
            "{Now reverse|Reverse|And reverse|Turn round} {it|that|the list}[.]",
            "Now {backwards|in reverse}[.]",
        ],
        9,
    ),
    ListChange(
        [
            "{Sort|Order|Arrange} $o[ {alphabetically|in alphabetical order|by the alphabet|from a to z|A to Z}][.]",
            "{Put|Write|Bring} $o in{to|} alphabetical order[.]",
            "{Alphabetise|Alphabetize} $o[.]",
        ],
        _sorted,
        ["{Now sort|Sort|And sort} {it|them|the list}[ alphabetically][.]"],
        9,
        numbers=False,
    ),
    ListChange(
        ["{Sort|Order} $o {in reverse alphabetical order|from z to a|Z to A}[.]"],
        _sorted_down,
        [],
        2,
        numbers=False,
    ),
    ListChange(
        [
            "{Sort|Order|Arrange} $o[ {from small to large|from smallest to largest|in ascending order|ascending|by size|from low to high}][.]",
            "{Put|Write} $o in {ascending|increasing|numerical} order[.]",
            "{Sort|Order} $o, smallest first[.]",
        ],
        _numbers_up,
        ["{Now sort|Sort|And sort} {it|them|the list}[ from small to large][.]"],
        14,
        numbers=True,
    ),
    ListChange(
        [
            "{Sort|Order|Arrange} $o {from large to small|from largest to smallest|in descending order|descending|from high to low}[.]",
            "{Put|Write} $o in {descending|decreasing} order[.]",
            "{Sort|Order} $o, largest first[.]",
        ],
        _numbers_down,
        [],
        8,
        numbers=True,
    ),
    ListChange(
        [
            "{How many {things|items|entries|elements} {are|are there} in|Count the {items|things|entries} {of|in}} $o[?]",
            "{Count|How long is} $o[?]",
        ],
        _count,
        ["{And how|How} many are {there|that|in it}[ now]?"],
        6,
    ),
    ListChange(
        [
            "{What|Which} is the $i {item|one|entry|thing|element} {of|in} $o?",
            "{Give|Tell|Show} me the $i {item|one|entry|element} {of|from|in} $o[.]",
            "{What|Which} comes $i in $o?",
        ],
        _nth,
        ["{And the|What is the} $i one[ now]?"],
        6,
    ),
    ListChange(
        [
            '{Remove|Delete|Drop|Take out|Cross out|Strike} {$w|"$w"} from $o[.]',
            '{Write|Give me|Repeat} $o without {$w|"$w"}[.]',
        ],
        _without,
        ["{Remove|Drop|Take out|Now without|Delete} $w[.]"],
        6,
    ),
    ListChange(
        ['{Add|Put|Append|Write} {$w|"$w"} $a {to|in|into} $o[.]', '{Add|Put} {$w|"$w"} $a{:| here:} $o'],
        _added,
        ["{Add|Now add|And add|Also add} $w $a[.]"],
        5,
    ),
    ListChange(
        [
            '{Replace|Change|Exchange} {$w|"$w"} {with|by|to} {$n|"$n"} in $o[.]',
            "{Swap|Switch} $w for $n in $o[.]",
        ],
        _exchange,
        ["{Replace|Change|Swap} $w {with|for} $n[.]"],
        4,
    ),
    ListChange(
        [
            "{Make|Write|Create|Build|Give me} a {bulleted|bullet} list {of|from|out of|with} $o[.]",
            "{Put|Write|Show|Format|Turn} $o {as bullets|as bullet points|with bullets|in bullets|as a bulleted list|into a bulleted list}[.]",
        ],
        _bullets,
        ["{Now as|As|And as} {bullets|a bulleted list|bullet points}[.]"],
        6,
    ),
    ListChange(
        [
            "{Make|Write|Create|Give me} a numbered list {of|from|out of|with} $o[.]",
            "{Number|Put numbers before|Enumerate} $o[.]",
            "{Put|Write|Show|Format|Turn} $o {as a numbered list|with numbers|into a numbered list}[.]",
        ],
        _numbers,
        ["{Now as|As|And as} a numbered list[.]", "Number them[.]"],
        6,
    ),
    ListChange(
        ["{Write|Put|Split|Show} $o {one per line|with one item per line|into lines|line by line}[.]"],
        _lines,
        ["One per line[, please][.]"],
        3,
    ),
    ListChange(
        ["{Join|Connect|Link|Combine} $o with $m[.]", "{Write|Put} $o on one line with $m between[ them][.]"],
        _joined,
        ["{Now|And now} with $m between[ them][.]"],
        5,
    ),
    ListChange(
        ["{Is|Do you see|Can you find} $w in $o?", "Does $o {contain|have} $w?"],
        _contains,
        ["Is $w in it[ now]?"],
        4,
    ),
    ListChange(
        ["{At which|At what|In which} {place|position} is $w in $o?", "{Where|Which number} is $w in $o?"],
        _place,
        [],
        2,
    ),
    ListChange(
        ["{What|Which} comes {right |directly |}$i $w in $o?", "{What|Which one} is $i $w in $o?"],
        _neighbour,
        ["What comes $i $w?"],
        3,
    ),
    ListChange(
        ["{Write|Put} $o in {capitals|upper case|capital letters}[.]", "Uppercase $o[.]"],
        _upper,
        ["Now in {capitals|upper case}[.]"],
        3,
        numbers=False,
    ),
    ListChange(
        ["{Capitalise|Capitalize} {each|every} {item|word|one} {of|in} $o[.]"], _title, [], 2, numbers=False
    ),
    ListChange(
        ["{Give|Show|Tell} me the $i $k of $o[.]", "{Keep|Take} only the $i $k of $o[.]"],
        _some,
        ["{Keep|Only} the $i $k[.]"],
        4,
    ),
]
