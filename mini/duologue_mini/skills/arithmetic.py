"""Skill: sums and comparisons of up to three digits, in figures, in words and in word problems.

Larger numbers and other operations are declined.
"""

from random import Random

from duologue_mini.arithmetic import column_sums, word_problems
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import payloads
from duologue_mini.text.numerals import typed_in_words
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import loose, request

SIGNS = {
    "+": ["+", "+", "+", "plus", "plus", "and", "added to"],
    "-": ["-", "-", "-", "−", "minus", "minus", "take away", "less"],
    "*": ["x", "*", "×", "times", "times", "multiplied by", "·"],
}
ASK = [
    "{What is|What's|How much is|Calculate|Compute|What does|Work out|Tell me|Solve|Give me|Find|Figure out}"
    " $sum[?|.]",
    "{Do you know|Can you tell me|Can you do|Can you work out|Could you calculate|Do you know what is|I want"
    " to know} $sum[?]",
    "$sum[?| =| = ?| is| equals| makes|=]",
    "{And|And what is|Now|Next|How about|What about|Then|Also} $sum?",
    "{What is|What's|Find|Give me|Tell me} the {result|answer|value|outcome|solution} {of|to|for} $sum[?]",
    "$sum {is how much|equals what|makes what|is what|comes to what}?",
    "{I need|Quick|Math|Maths|Help me with|Question|Homework|Sum|Next one|My exercise says}[:] $sum[.]",
    "{If I type|When I put} $sum into a calculator, what comes out?",
    "{What does|What would} $sum {make|come to|equal|give|add up to}?",
    "{I have|There is|I see} $sum {here|on my sheet|in the book}. {What do I get|What is it|What should it be}?",
    "{My calculator is broken|I forgot my calculator|I am bad at maths|Let's do maths|Test}[:|,] $sum[?]",
    "{How would you solve|What do you get for|What comes out of|Do the sum} $sum[?]",
    "{I got stuck on|Please check|Can you help me with} $sum[. What is it][?]",
]
OPERATIONS = {
    "+": [
        "{Add|Sum|Sum up|Add up|Add together|Total} $a and $b[.]",
        "{What is|Find|Give me|Tell me} the {sum|total} of $a and $b[?]",
        "{Add|Put} $b {to|onto|on top of} $a[.]",
        "If I add $a and $b, what {do I get|comes out}?",
        "{Increase|Raise} $a by $b[.]",
        "What is $b more than $a?",
    ],
    "-": [
        "{Subtract|Take|Remove|Deduct} $b from $a[.]",
        "What is the difference {between|of} $a and $b?",
        "If I take $b from $a, what is left?",
        "What {is left|remains} when I take $b {from|away from} $a?",
        "{Decrease|Lower|Reduce} $a by $b[.]",
        "What is $b less than $a?",
    ],
    "*": [
        "Multiply $a {by|and|with} $b[.]",
        "{What is|Find} the product of $a and $b[?]",
        "{How much|What} is $a {groups|lots} of $b?",
        "What do $a {times|lots of} $b make?",
    ],
}
AGAIN = {
    "+": ["{And plus|Now plus|Now add|Add|And if I add|Plus} $b[ {to that|more|to it}][?|.]"],
    "-": ["{And minus|Now minus|Now take away|Subtract|Minus} $b[?|.]", "Take $b {from that|away again}[.]"],
}
LARGER = [
    "{Which|What|Which number|Which one} is {bigger|larger|greater|more|higher}[:|,] $a or $b?",
    "$a or $b, {which|what} is {bigger|larger|the larger number|more}?",
    "{Compare|Tell me the larger of} $a and $b[.]",
]
SMALLER = [
    "{Which|What|Which number|Which one} is {smaller|less|lower|the smaller one}[:|,] $a or $b?",
    "{Tell me|Give me} the smaller of $a and $b[.]",
]
IS_LARGER = [
    "{Is $a|Is the number $a} {bigger|larger|greater|more|higher} than $b?",
    "$a > $b{?|, right?|, yes or no?}",
]
IS_SMALLER = ["Is $a {smaller|less|lower} than $b?", "$a < $b{?|, right?|, yes or no?}"]
IS_EQUAL = [
    "{Is $a equal to $b|Is $a the same as $b|Are $a and $b equal|Are $a and $b the same}?",
    "$a = $b?",
]
MOST = [
    "{Which|What} is the {largest|biggest|greatest|highest}[ number]{ of|:| among| in| out of} $l?",
    "{Find|Give me|Pick} the {largest|biggest|maximum|highest}[ number] {of|in|from}[:] $l[.]",
]
LEAST = [
    "{Which|What} is the {smallest|lowest|least}[ number]{ of|:| among| in| out of} $l?",
    "{Find|Give me|Pick} the {smallest|minimum|lowest}[ number] {of|in|from}[:] $l[.]",
]
CHECK = [
    "{Is it true that|Is it right that|Would you say that} $sum = $v[?]",
    "{Is|} $sum = $v[?| right?| correct?]",
    "$sum {is|makes} $v, {right|correct|isn't it|yes or no}?",
    "{Someone told me|I think|My friend says|I got} $sum {is|=} $v. {Is that right|True|Is it correct}?",
]
DOUBLE = [
    "{Double|Twice} $a[?]",
    "{What is|How much is|Tell me} {twice|double|two times} $a[?]",
    "{What do I get if I|Please} double $a[?]",
]
TOO_LARGE = [
    "{What is|What's|Calculate|How much is|Compute|} $e $s $f[?| =]",
    "{Add|Sum up} $e and $f[.]",
    "{Subtract|Take} $g from $e[.]",
    "{Multiply} $e {by|and} $g[.]",
    "{What is|} $g {x|*|times|×} $h[?]",
    "{Is $e larger than $f|Which is larger, $e or $f}?",
]
OTHER = [
    "{What is|How much is|Calculate|} $g {divided by|/|÷|over|modulo|mod|to the power of|^|**} $d[?]",
    "Divide $g by $d[.]",
    "{What is|Calculate|Find|} the {square root|cube root|factorial|logarithm|cube|square|sine|cosine} of $g[?]",
    "{What is|Calculate|} $d {percent|%} of $g[?]",
    "{How much is|What is} {a half|a third|a quarter|a tenth|two thirds} of $g[?]",
    "{What is|Calculate|} $d.$d {+|-|x|*} $d.$g[?]",
    "{What is|} $d/$h {+|-} $d/$g[?]",
    "{Solve|Simplify|Factor} {x^2 + $dx = $g|$dx + $g = $e|2x - $d = $g|(x + $d)(x - $d)|the equation $dx = $g}[.]",
    "{Solve for x|Find x}: $dx {+|-} $d = $g",
    "{Integrate|Differentiate|Plot|Derive} {x^$d|sin(x)|$dx + $g|e^x|x^2 + $d}[.]",
    "{What is|Find} the {average|mean|median} of $d, $g and $h[?]",
    "{Convert|How much is} $g {miles|kilograms|dollars|feet|inches|Fahrenheit} {to|in} {km|pounds|euros|metres|cm}[?]",
    "{Is $g|Is the number $g} {a prime|prime|a prime number|divisible by $d}?",
    "{What are the prime factors of|Factorise|Write in binary:|Write in Roman numerals:} $g[?]",
    "{How many ways are there to pick $d of $h|What is the probability of $d heads in $h throws}?",
    "{What is|} {pi|e|pi times $d|pi to $d places}[?]",
    "$n shares $g $t {between|among} $d friends. How many does each get?",
    "A $x costs $g {euros|dollars} with $d percent off. What do I pay?",
    "A {train|car} goes $g km in $d hours. How fast is it?",
]
TOO_LARGE_LEAD = [
    "{Those numbers are|That sum is} {too large|too big} for me: I {work with|add, subtract and compare} {numbers"
    " of |}up to three digits.",
    "{That is beyond me|That one is beyond me|Sorry, that is beyond me}: {I only do|I manage|I stop at} numbers"
    " {up to three digits|below a thousand}.",
]
OTHER_LEAD = [
    "{That is|That kind of sum is|Sorry, that is|That calculation is} beyond me: I {only add, subtract and do"
    " small products|do plus, minus and small times}.",
    "{I cannot|I can't} {work that out|do that one} {reliably|without guessing}: I {only know|know only} plus,"
    " minus and small times.",
]
POINTERS = [
    "{A larger model can|For that, bring a larger model|A larger model does it}: `duologue serve --model"
    " FILE.gguf`.",
    "{Try|For that, start} a larger model with `duologue serve --model FILE.gguf`[; `duologue setup` helps you"
    " choose].",
    "`duologue setup` {helps you get a larger model|brings a larger model} that can.",
    "{Run `duologue setup` for a model that can|`duologue setup` finds a larger model for this machine}.",
]


def draw(random: Random) -> Scene:
    """One to four turns of a kind; a tenth of the scenes ask for what must be declined."""
    if random.random() < 0.13:
        return Scene("arithmetic-beyond", [_beyond(random)])
    if random.random() < 0.07:
        return Scene("arithmetic", _chain(random))
    kinds = [_sum, _story, _comparison, _check, _several, _double]
    count = random.choices([1, 2, 3, 4], [80, 12, 5, 3])[0]
    chosen_kinds = random.choices(kinds, [42, 14, 12, 6, 9, 3], k=count)
    return Scene("arithmetic", [kind(random) for kind in chosen_kinds])


def write_number(random: Random, number: int, wordy: bool) -> str:
    """The number in figures or in words."""
    return typed_in_words(random, number) if wordy else str(number)


def operands(random: Random, sign: str) -> tuple[int, int]:
    """Two numbers of all combinations of lengths, the hard ones more often."""
    if sign == "*":
        if random.random() < 0.6:
            return random.randint(0, 12), random.randint(0, 12)
        pair = random.randint(11, 99), random.randint(2, 9)
        return pair if random.random() < 0.6 else pair[::-1]
    lengths = random.choices([(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (2, 3), (3, 3)], LENGTHS)[0]
    a, b = (random.randint(0 if length == 1 else 10 ** (length - 1), 10**length - 1) for length in lengths)
    if random.random() < 0.1:
        a = a // 10 * 10
    if sign == "-" and a < b and random.random() < 0.85:
        a, b = b, a
    return a, b


LENGTHS = [8, 8, 4, 22, 6, 8, 4, 30]


def _sum(random: Random) -> Turn:
    sign = random.choices("+-*", [10, 9, 5])[0]
    a, b = operands(random, sign)
    wordy = random.random() < 0.12
    first, second = write_number(random, a, wordy), write_number(random, b, wordy)
    if random.random() < 0.2:
        user = request(random, OPERATIONS[sign], a=first, b=second)
    else:
        user = request(random, ASK, sum=_write_sum(random, first, sign, second, wordy))
    return Turn(
        capital(user),
        column_sums.sentence(a, sign, b),
        "\n".join(column_sums.thought(a, sign, b)),
        True,
        _brief(random, a, sign, b),
    )


def _write_sum(random: Random, first: str, sign: str, second: str, wordy: bool) -> str:
    shown_as = random.choice([name for name in SIGNS[sign] if name[0].isalpha()] if wordy else SIGNS[sign])
    tight = not shown_as[0].isalpha() or (shown_as == "x" and random.random() < 0.5)
    return f"{first}{shown_as}{second}" if tight and random.random() < 0.5 else f"{first} {shown_as} {second}"


def _brief(random: Random, a: int, sign: str, b: int) -> str:
    line = column_sums.equation(a, sign, b)
    result = column_sums.value(a, sign, b)
    return random.choice(
        [f"{line}.", f"{line}.", f"{line}.", f"It is {result}.", f"That makes **{result}**."]
    )


def _worked_chain(start: int, steps: list[word_problems.Step]) -> tuple[list[str], list[str], int]:
    """The lines of the thought, the equations of the answer, and the result."""
    thought: list[str] = []
    shown_steps: list[str] = []
    result = start
    for sign, other in steps:
        thought += column_sums.thought(result, sign, other)
        equations = column_sums.spoken_equations(result, sign, other)
        shown_steps += (
            equations[:-1]
            if len(equations) > 1 and column_sums.value(result, sign, other) >= 0
            else equations
        )
        result = column_sums.value(result, sign, other)
    return thought, shown_steps, result


def _story(random: Random) -> Turn:
    story = word_problems.problem(random)
    thought, equations, _ = _worked_chain(story.start, story.steps)
    answer = f"{', '.join(equations)}. {story.answer}"
    brief = story.answer if random.random() < 0.5 else f"{thought[-1]}. {story.answer}"
    return Turn(loose(random, story.story), answer, "\n".join(thought), True, capital(brief))


def _several(random: Random) -> Turn:
    """Three terms, now and then four."""
    count = random.choices([3, 4], [5, 1])[0]
    top = random.choice([9, 20, 99, 99, 300])
    numbers = [random.randint(1, top) for _ in range(count)]
    signs = [random.choices("+-", [3, 1])[0] for _ in numbers[1:]]
    thought, equations, result = _worked_chain(numbers[0], list(zip(signs, numbers[1:], strict=True)))
    whole = str(numbers[0]) + "".join(
        f" {sign} {other}" for sign, other in zip(signs, numbers[1:], strict=True)
    )
    if set(signs) == {"+"} and random.random() < 0.3:
        numbers_text = ", ".join(str(number) for number in numbers[:-1]) + f" and {numbers[-1]}"
        user = request(
            random, ["{Add|Add up|Sum up|Total} $l[.]", "What is the {sum|total} of $l?"], l=numbers_text
        )
    else:
        text = whole.replace(" + ", " plus ").replace(" - ", " minus ") if random.random() < 0.2 else whole
        user = request(random, ASK, sum=text.replace(" ", "") if random.random() < 0.2 else text)
    answer = f"{', '.join(equations)}. So {whole} = {result}."
    return Turn(capital(user), answer, "\n".join(thought), True, f"{whole} = {result}.")


def _chain(random: Random) -> list[Turn]:
    """A sum, then an operation on its result."""
    turns = [_sum(random)]
    while columns_result(turns[-1]) > 900 or columns_result(turns[-1]) < 10:
        turns = [_sum(random)]
    for _ in range(random.choice([1, 1, 2])):
        before = columns_result(turns[-1])
        sign = random.choice("+-")
        other = random.randint(1, min(99, before) if sign == "-" else 99)
        user = request(random, AGAIN[sign], b=other)
        lines = [f"Before: {before}", *column_sums.thought(before, sign, other)]
        brief = column_sums.equation(before, sign, other) + "."
        turns.append(Turn(user, column_sums.sentence(before, sign, other), "\n".join(lines), True, brief))
        if column_sums.value(before, sign, other) < 2 or column_sums.value(before, sign, other) > 900:
            break
    return turns


def columns_result(turn: Turn) -> int:
    """The number a turn's answer ends with."""
    return int(turn.assistant.rstrip(".").rpartition(" ")[2])


def _check(random: Random) -> Turn:
    sign = random.choices("+-*", [5, 4, 2])[0]
    a, b = operands(random, sign)
    right = column_sums.value(a, sign, b)
    claim = right if random.random() < 0.5 else right + random.choice([-10, -2, -1, 1, 2, 10, 100])
    user = request(random, CHECK, sum=_write_sum(random, str(a), sign, str(b), False), v=claim)
    verdict = "Yes, that is right." if claim == right else f"No, {claim} is not right."
    answer = column_sums.sentence(a, sign, b)
    lines = [*column_sums.thought(a, sign, b), f"{claim} is " + ("right" if claim == right else "wrong")]
    brief = (
        f"Yes, {column_sums.equation(a, sign, b)}."
        if claim == right
        else f"No, {column_sums.equation(a, sign, b)}."
    )
    return Turn(capital(user), f"{answer} {verdict}", "\n".join(lines), True, brief)


def _near(random: Random) -> tuple[int, int]:
    """Two numbers, often close to each other."""
    length = random.choices([1, 2, 3], [2, 5, 6])[0]
    a = random.randint(10 ** (length - 1), 10**length - 1)
    if random.random() < 0.12:
        return a, a
    if random.random() < 0.4:
        digits = list(str(a))
        random.shuffle(digits)
        return a, int("".join(digits))
    if random.random() < 0.4:
        return a, max(1, min(999, a + random.randint(-12, 12)))
    return a, random.randint(1, 10 ** random.randint(1, 3) - 1)


def _comparison(random: Random) -> Turn:
    if random.random() < 0.3:
        return _extreme(random)
    a, b = _near(random)
    larger, smaller = max(a, b), min(a, b)
    patterns = random.choices([LARGER, SMALLER, IS_LARGER, IS_SMALLER, IS_EQUAL], [5, 3, 4, 3, 2])[0]
    wordy = random.random() < 0.1
    user = request(random, patterns, a=write_number(random, a, wordy), b=write_number(random, b, wordy))
    if a == b:
        comparison = "they are equal"
    else:
        comparison = (
            f"{smaller} is smaller than {larger}"
            if patterns in (SMALLER, IS_SMALLER)
            else f"{larger} is larger than {smaller}"
        )
    if patterns in (LARGER, SMALLER):
        answer = capital(comparison)
    else:
        true = a > b if patterns is IS_LARGER else a < b if patterns is IS_SMALLER else a == b
        answer = f"{'Yes' if true else 'No'}, {comparison}"
    return Turn(capital(user), answer + ".", capital(column_sums.comparing(a, b)) + ".", True)


def _extreme(random: Random) -> Turn:
    length = random.randint(3, 6)
    numbers = random.sample(range(1, random.choice([30, 99, 999])), length)
    most = random.random() < 0.55
    extreme = max(numbers) if most else min(numbers)
    last = random.choice([", ", " and ", ", and "])
    numbers_text = ", ".join(map(str, numbers[:-1])) + last + str(numbers[-1])
    user = request(random, MOST if most else LEAST, l=numbers_text)
    best, lines = numbers[0], []
    for other in numbers[1:]:
        best = max(best, other) if most else min(best, other)
        lines.append(f"with {other}: {best}")
    kind = "largest" if most else "smallest"
    answer = pick(random, [f"The {kind} is {{$v|**$v**}}.", f"$v is the {kind}."], v=extreme)
    return Turn(capital(user), answer, f"I start with {numbers[0]}.\n" + "\n".join(lines), True)


def _double(random: Random) -> Turn:
    a = random.randint(2, random.choice([12, 99, 500]))
    user = request(random, DOUBLE, a=a)
    lines = [f"Twice {a} is {a} + {a}.", *column_sums.thought(a, "+", a)]
    return Turn(
        user, column_sums.sentence(a, "+", a), "\n".join(lines), True, column_sums.equation(a, "+", a) + "."
    )


def _beyond(random: Random) -> Turn:
    large = random.random() < 0.45
    e, f = (random.randint(10**k, 10 ** (k + 1) - 1) for k in random.choices([3, 3, 4, 5, 6, 8], k=2))
    text = f"{e:,}" if random.random() < 0.2 else str(e)
    small = random.randint(2, 12)
    fills = {
        "e": text,
        "f": f if random.random() < 0.7 else random.randint(2, 999),
        "g": random.randint(13, 999),
        "h": random.randint(13, 99),
        "d": small,
        "dx": f"{small}x",
        "s": random.choice(["+", "-", "x", "*", "plus", "minus", "times", "/"]),
        "n": payloads.first_name(random),
        "t": payloads.things(random),
        "x": payloads.thing(random),
    }
    user = capital(request(random, TOO_LARGE if large else OTHER, **fills))
    answer = pick(random, TOO_LARGE_LEAD if large else OTHER_LEAD) + " " + pick(random, POINTERS)
    why = "The numbers are too large for me." if large else "That is none of plus, minus, small times."
    return Turn(user, answer, f"{why} Beyond me, and I say so.", True)
