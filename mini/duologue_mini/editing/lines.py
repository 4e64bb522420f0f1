"""Changes of a line of words and questions about it: case, order, counting, removing, inserting, repeating."""

from random import Random

from duologue_mini.editing.changes import Change, Work
from duologue_mini.text import payloads
from duologue_mini.text.numerals import in_words, ordinal
from duologue_mini.text.phrases import pick


def bare(word: str) -> str:
    """The word without punctuation around it."""
    return word.strip(".,!?;:\"'")


def _work(text: str, thought: str) -> Work:
    return Work(text, thought, outcome=text)


def _upper(random: Random, text: str) -> Work:
    return _work(text.upper(), "Every letter becomes large.")


def _lower(random: Random, text: str) -> Work:
    return _work(text.lower(), "Every letter becomes small.")


def _title(random: Random, text: str) -> Work:
    result = " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))
    return _work(result, "Every word gets a large first letter.")


def _first_large(random: Random, text: str) -> Work:
    return _work(text[:1].upper() + text[1:], "Only the first letter becomes large.")


def _backwards(random: Random, text: str) -> Work:
    backwards = text.split(" ")[::-1]
    return _work(" ".join(backwards), "The words from last to first: " + ", ".join(backwards) + ".")


def _count(random: Random, text: str) -> Work:
    words = text.split()
    numbering = ", ".join(f"{index} {bare(word)}" for index, word in enumerate(words, 1))
    size = f"{len(words)} word" + ("" if len(words) == 1 else "s")
    brief = pick(random, ["{There are |That is |}$n.", "$n."], n=size)
    full = brief if len(words) <= 5 else f"{numbering}: {size}."
    return Work(full, f"I count: {numbering}. {size}.", brief)


def _nth(random: Random, text: str) -> Work:
    words = text.split()
    place = random.choice([1, 1, len(words), len(words), random.randint(1, len(words))])
    which = "last" if place == len(words) and random.random() < 0.85 else ordinal(place)
    word = bare(words[place - 1])
    numbering = ", ".join(f"{index} {bare(one)}" for index, one in enumerate(words[:place], 1))
    thought = f"The last word is {word}." if which == "last" else f"{numbering}. The {which} is {word}."
    answer = pick(random, ["$w", 'The $i word is "$w".', "It is $w."], i=which, w=word)
    return Work(answer, thought, fills={"i": which})


def _without(random: Random, text: str) -> Work | None:
    words = text.split()
    word = random.choice(words)
    rest = [one for one in words if one != word]
    if not rest or word != bare(word):
        return None
    result = " ".join(rest)
    return Work(result, f"All but {word}: {result}", outcome=result, fills={"w": word})


def _exchange(random: Random, text: str) -> Work | None:
    words = text.split()
    old = random.choice(words)
    new = payloads.odd(random) if random.random() < 0.15 else payloads.any_word(random)
    if old != bare(old):
        return None
    result = " ".join(new if one == old else one for one in words)
    return Work(result, f"{old} becomes {new}.", outcome=result, fills={"w": old, "n": new})


def _place(random: Random, text: str) -> Work:
    front = random.random() < 0.5
    new = payloads.any_word(random)
    result = f"{new} {text}" if front else f"{text} {new}"
    where = random.choice(
        ["at the start", "at the beginning", "in front"] if front else ["at the end", "to the end"]
    )
    return Work(result, f"{new} goes {where}.", outcome=result, fills={"n": new, "a": where})


def _repeat(random: Random, text: str) -> Work:
    count = random.choice([2, 2, 3, 3, 3, 4, 5, 6])
    count = min(count, max(2, 40 // len(text.split())))
    lines = random.random() < 0.3
    times_text = random.choice([in_words(count), str(count)]) + " times"
    if count == 2 and random.random() < 0.6:
        times_text = "twice"
    result = ("\n" if lines else " ").join([text] * count)
    how = random.choice([", each on its own line", ", one per line", " on separate lines"]) if lines else ""
    return Work(
        result,
        f"I write it {count} times.",
        outcome=None if lines else result,
        fills={"c": times_text, "h": how},
    )


def _marks(random: Random, text: str) -> Work:
    how, style = random.choice(
        [
            ("in quotes", '"{}"'),
            ("in quotation marks", '"{}"'),
            ("in single quotes", "'{}'"),
            ("in brackets", "({})"),
            ("in parentheses", "({})"),
            ("in square brackets", "[{}]"),
            ("in bold", "**{}**"),
            ("in italics", "*{}*"),
            ("as code", "`{}`"),
            ("between stars", "*{}*"),
            ("as a quote", "> {}"),
            ("as a heading", "# {}"),
        ]
    )
    return Work(style.format(text), f"I put it {how}.", fills={"k": how})


def _join(random: Random, text: str) -> Work:
    name, mark = random.choice(
        [
            ("hyphens", "-"),
            ("dashes", "-"),
            ("underscores", "_"),
            ("commas", ", "),
            ("dots", "."),
            ("slashes", "/"),
            ("plus signs", "+"),
        ]
    )
    result = mark.join(text.split())
    return Work(result, f"{name.capitalize()} between the words.", outcome=result, fills={"m": name})


def _tight(random: Random, text: str) -> Work:
    result = "".join(text.split())
    return _work(result, "The words without the spaces.")


def _lines(random: Random, text: str) -> Work:
    return Work("\n".join(text.split()), "One word per line.")


def _initials(random: Random, text: str) -> Work:
    words = text.split()
    answer = "".join(bare(word)[:1].upper() for word in words)
    steps = ", ".join(f"{bare(word)} {bare(word)[:1].upper()}" for word in words)
    return Work(answer, f"{steps}: {answer}")


def _contains(random: Random, text: str) -> Work:
    words = [bare(word) for word in text.split()]
    word = random.choice(words) if random.random() < 0.5 else payloads.word(random)
    inside = word in words
    answer = f'Yes, "{word}" is in it.' if inside else f'No, "{word}" is not in it.'
    return Work(answer, f"I look for {word}: {'found' if inside else 'not there'}.", fills={"w": word})


def _same(random: Random, text: str) -> Work:
    return _work(text, "I copy it, word for word.")


TEXT_CHANGES = [
    Change(
        [
            "{Write|Put|Convert|Turn|Change|Make|Set|Type} $o {in|into|to} {upper case|uppercase|capitals|capital letters|all"
            " caps|big letters}[.]",
            "{Uppercase|Shout} $o[.]",
            "{I want|I need|Give me|Show me|Can I have} $o in {capitals|upper case|uppercase}[.]",
        ],
        _upper,
        ["{Now in|In|And in|Same in|Now make it} {capitals|upper case|capital letters|all caps}[.|?]"],
        6,
    ),
    Change(
        [
            "{Write|Put|Convert|Turn|Change|Make|Type} $o {in|into|to} {lower case|lowercase|small letters}[.]",
            "{Lowercase|Use no capitals in} $o[.]",
        ],
        _lower,
        ["{Now in|In|And in} {lower case|lowercase|small letters}[.|?]"],
        4,
    ),
    Change(
        [
            "{Write|Put|Convert|Turn|Make} $o {in|into|to} title case[.]",
            "{Capitalise|Capitalize} {every|each} word {in|of} $o[.]",
            "{Start|Begin} {every|each} word of $o with a capital[ letter][.]",
        ],
        _title,
        ["{Now in|In|And in} title case[.|?]"],
        4,
    ),
    Change(
        ["{Capitalise|Capitalize} the first letter of $o[.]", "{Start|Begin} $o with a capital letter[.]"],
        _first_large,
        weight=2,
    ),
    Change(
        [
            "{Reverse|Turn round|Flip} the {words|word order|order of the words} {of|in} $o[.]",
            "{Write|Say|Put} the words of $o {backwards|in reverse order|from last to first}[.]",
        ],
        _backwards,
        ["{Now|And now} {reverse the words|the words from last to first}[.]"],
        4,
    ),
    Change(
        [
            "{How many words {are|are there} in|Count the words {in|of}|What is the word count of} $o[?]",
            "{How many words is|Number of words in} $o[?]",
        ],
        _count,
        ["{And how|How} many words {is that|are in it|has it}?"],
        5,
    ),
    Change(
        [
            "{What|Which} is the $i word {of|in} $o?",
            "{Give|Tell|Show} me the $i word of $o[.]",
            "{What|Which} word comes $i in $o?",
        ],
        _nth,
        ["{And the|What is the} $i word?"],
        5,
    ),
    Change(
        [
            "{Remove|Delete|Drop|Leave out|Take out|Erase} {the word |}{$w|\"$w\"|'$w'} {from|in} $o[.]",
            '{Write|Say|Repeat} $o without {the word |}"$w"[.]',
        ],
        _without,
        ['Now {without|leave out} {the word |}"$w"[.]'],
        4,
    ),
    Change(
        [
            "{Replace|Change|Exchange} {the word |}{\"$w\"|$w|'$w'} {with|by|to} {\"$n\"|$n|'$n'} in $o[.]",
            'In $o, {put|write|use} "$n" {for|instead of|in place of} "$w"[.]',
            '{Swap|Switch} "$w" {for|with} "$n" in $o[.]',
        ],
        _exchange,
        ['Now {replace|change} "$w" {with|to} "$n"[.]'],
        5,
    ),
    Change(
        ['{Add|Put|Write} {the word |}"$n" $a of $o[.]', '{Add|Put} {$n|"$n"} $a: $o'],
        _place,
        weight=3,
    ),
    Change(
        [
            "{Repeat|Say|Write|Type|Print|Copy} $o $c$h[.]",
            "{Repeat|Write} $o $c$h[, please][.]",
        ],
        _repeat,
        weight=5,
    ),
    Change(
        ["{Put|Write|Set|Show|Format} $o $k[.]", "{I want|Give me} $o $k[.]"],
        _marks,
        ["{Now|And now} $k[.]"],
        4,
    ),
    Change(
        [
            "{Join|Connect|Link} the words of $o with $m[.]",
            "{Replace|Change} the spaces in $o {with|by|to} $m[.]",
            "{Write|Put} $o with $m {between the words|instead of spaces}[.]",
        ],
        _join,
        ["{Now|And now} with $m {between the words|instead of spaces}[.]"],
        4,
    ),
    Change(
        [
            "{Remove|Delete|Take out} {the|all|all the} spaces {from|in} $o[.]",
            "{Write|Put} $o {without spaces|as one word}[.]",
        ],
        _tight,
        ["{Now|And} without {the |}spaces[.]"],
        3,
    ),
    Change(
        [
            "{Write|Put|Split} $o {with one word per line|one word per line|into lines of one word}[.]",
            "Each word of $o on its own line[, please][.]",
        ],
        _lines,
        weight=2,
    ),
    Change(
        [
            "{What are|Give me|Write} the {initials|first letters} {of|in} $o[.|?]",
            "{Make|Form} {an acronym|a short form} {of|from} $o[.]",
        ],
        _initials,
        weight=3,
    ),
    Change(
        ['{Is|Do you see|Can you find} {the word |}"$w" in $o?', 'Does $o contain {the word |}"$w"?'],
        _contains,
        weight=3,
    ),
    Change(
        [
            "{Repeat|Copy|Echo|Say|Say back|Type|Write down|Write} $o[ {exactly|word for word|back to me|unchanged|as it is}][.]",
            "{Repeat after me|Say after me|Just repeat}: $o",
            "{Answer|Reply|Respond} {only |}with $o[ {and nothing else|only}][.]",
        ],
        _same,
        weight=7,
    ),
]
