"""Changes of a list and questions about it: order, sorting, counting, removing, bullets, numbers, joining."""

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
    distinct: list[str] = []
    while len(distinct) < count:
        item = maker(random)
        if item not in distinct:
            distinct.append(item)
    return distinct


def _small_number(random: Random) -> str:
    return str(random.randrange(random.choice([10, 100, 100, 1000])))


MAKERS: list[Callable[[Random], str]] = [
    lambda random: random.choice(payloads.KNOWN),
    payloads.coin_word,
    payloads.first_name,
    lambda random: random.choice(words.FOODS + words.ANIMALS + words.COLOURS),
    _small_number,
    payloads.any_word,
    payloads.odd,
    payloads.person,
    lambda random: f"{random.choice(words.ADJECTIVES)} {payloads.thing(random)}",
]


def numeric(entries: list[str]) -> bool:
    """Whether these are all whole numbers."""
    return all(one.isdigit() for one in entries)


def write_list(random: Random, entries: list[str]) -> str:
    """The list in one of the forms users write."""
    style = random.random()
    if style < 0.6:
        return ", ".join(entries)
    if style < 0.7:
        return ", ".join(entries[:-1]) + " and " + entries[-1]
    if style < 0.75 and not any(" " in one for one in entries):
        return " ".join(entries)
    if style < 0.8:
        return random.choice(["; ", " | ", " / "]).join(entries)
    if style < 0.87:
        return "\n".join(f"- {one}" for one in entries)
    if style < 0.92:
        return "\n".join(f"{index}. {one}" for index, one in enumerate(entries, 1))
    return "\n".join(entries) if style < 0.96 else "[" + ", ".join(entries) + "]"


def _work(entries: list[str], thought: str, **fills: object) -> Work:
    return Work(", ".join(entries), thought, outcome=entries, fills=fills)


def _reverse(random: Random, entries: list[str]) -> Work:
    return _work(entries[::-1], f"{len(entries)} items, from last to first.")


def _sort(random: Random, entries: list[str]) -> Work | None:
    return _by_alphabet(entries, "In order", downwards=False)


def _sorted_down(random: Random, entries: list[str]) -> Work | None:
    return _by_alphabet(entries, "From z to a", downwards=True)


def _by_alphabet(entries: list[str], name: str, *, downwards: bool) -> Work | None:
    if not all(one.isascii() and one[0].isalpha() for one in entries):
        return None
    order = sorted(entries, key=str.casefold, reverse=downwards)
    firsts = ", ".join(f"{one[0].lower()} {one}" for one in entries)
    initials = ", ".join(f"{one[0].lower()} {one}" for one in order)
    return _work(order, f"First letters: {firsts}.\n{name}: {initials}.")


def _numbers_up(random: Random, entries: list[str]) -> Work:
    order = sorted(entries, key=int)
    return _work(order, _lengths(entries) + f"Smallest first: {', '.join(order)}.")


def _numbers_down(random: Random, entries: list[str]) -> Work:
    order = sorted(entries, key=int, reverse=True)
    return _work(order, _lengths(entries) + f"Largest first: {', '.join(order)}.")


def _lengths(entries: list[str]) -> str:
    groups = [[one for one in entries if len(one) == size] for size in (1, 2, 3)]
    names = ["one digit", "two digits", "three digits"]
    parts = [f"{name}: {', '.join(group)}" for name, group in zip(names, groups, strict=True) if group]
    return ". ".join(parts)[:1].upper() + ". ".join(parts)[1:] + ".\n"


def _number_items(entries: list[str]) -> str:
    return ", ".join(f"{index} {one}" for index, one in enumerate(entries, 1))


def _count(random: Random, entries: list[str]) -> Work:
    answer = pick(random, ["{There are|That is|That makes} $n[ in the list].", "$n."], n=len(entries))
    return Work(answer, f"I count: {_number_items(entries)}. {len(entries)}.")


def _nth(random: Random, entries: list[str]) -> Work:
    place = random.choice([1, 1, len(entries), len(entries), random.randint(1, len(entries))])
    which = "last" if place == len(entries) and random.random() < 0.85 else ordinal(place)
    one = entries[place - 1]
    thought = (
        f"The last is {one}."
        if which == "last"
        else f"{_number_items(entries[:place])}. The {which} is {one}."
    )
    return Work(pick(random, ["$w", "$w", "The $i one is $w."], i=which, w=one), thought, fills={"i": which})


def _without(random: Random, entries: list[str]) -> Work:
    one = random.choice(entries)
    return _work([other for other in entries if other != one], f"All but {one}.", w=one)


def _add(random: Random, entries: list[str]) -> Work:
    new = random.choice(MAKERS[:4])(random)
    front = random.random() < 0.3
    where = "at the {start|beginning|front}" if front else "[at the end]"
    result = [new, *entries] if front else [*entries, new]
    return _work(result, f"{new} goes {'first' if front else 'last'}.", w=new, a=pick(random, [where]))


def _exchange(random: Random, entries: list[str]) -> Work:
    old, new = random.choice(entries), random.choice(MAKERS[:4])(random)
    return _work([new if one == old else one for one in entries], f"{old} becomes {new}.", w=old, n=new)


def _bullets(random: Random, entries: list[str]) -> Work:
    return Work("\n".join(f"- {one}" for one in entries), f"{len(entries)} bullets.", outcome=entries)


def _numbers(random: Random, entries: list[str]) -> Work:
    lines = "\n".join(f"{index}. {one}" for index, one in enumerate(entries, 1))
    return Work(lines, f"{len(entries)} numbered lines.", outcome=entries)


def _lines(random: Random, entries: list[str]) -> Work:
    return Work("\n".join(entries), "One line each.", outcome=entries)


def _join(random: Random, entries: list[str]) -> Work:
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
    return Work(mark.join(entries), f"{name} between them.", outcome=entries, fills={"m": name})


def _contains(random: Random, entries: list[str]) -> Work:
    one = random.choice(entries) if random.random() < 0.5 else random.choice(MAKERS[:4])(random)
    inside = one in entries
    answer = f"Yes, {one} is in the list." if inside else f"No, {one} is not in the list."
    return Work(answer, f"I look for {one}: {'found' if inside else 'not there'}.", fills={"w": one})


def _place(random: Random, entries: list[str]) -> Work:
    one = random.choice(entries)
    which = ordinal(entries.index(one) + 1)
    answer = pick(
        random, ["{It is|$w is} the $i.", "$w is number $k."], w=one, i=which, k=entries.index(one) + 1
    )
    return Work(answer, f"{_number_items(entries[: entries.index(one) + 1])}.", fills={"w": one})


def _neighbour(random: Random, entries: list[str]) -> Work | None:
    index = random.randrange(len(entries) - 1)
    after = random.random() < 0.6
    given_item, answer = (
        (entries[index], entries[index + 1]) if after else (entries[index + 1], entries[index])
    )
    which = "after" if after else "before"
    return Work(
        pick(random, ["$w", "$w comes $i $z."], w=answer, i=which, z=given_item),
        f"{which.capitalize()} {given_item}: {answer}.",
        fills={"w": given_item, "i": which},
    )


def _upper(random: Random, entries: list[str]) -> Work:
    return _work([one.upper() for one in entries], "Every letter becomes large.")


def _title(random: Random, entries: list[str]) -> Work:
    return _work([one[:1].upper() + one[1:] for one in entries], "Each one starts with a large letter.")


def _some(random: Random, entries: list[str]) -> Work | None:
    if len(entries) < 4:
        return None
    count = random.randint(2, len(entries) - 1)
    front = random.random() < 0.6
    part = entries[:count] if front else entries[-count:]
    which = "first" if front else "last"
    return _work(
        part,
        f"The {which} {count}: {', '.join(part)}.",
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
        _sort,
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
        _add,
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
        _join,
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
