"""Word problems of one or two steps: apples, money, people on a bus. `column_sums.py` works them out."""

from dataclasses import dataclass
from random import Random

from duologue_mini.arithmetic.column_sums import value
from duologue_mini.text import payloads
from duologue_mini.text.phrases import capital, pick

Step = tuple[str, int]


@dataclass(frozen=True)
class Problem:
    """A story, its first number, the steps applied to it, and the wording of the answer (`$v` is the result)."""

    story: str
    start: int
    steps: list[Step]
    answer: str


MONEY = ["euros", "dollars", "pounds", "coins", "francs", "crowns", "cents", "credits"]

# Signs of the steps, the story with its numbers $a, $b, $c, and the answer.
STORIES: list[tuple[str, list[str], list[str]]] = [
    (
        "+",
        [
            "{I have|$n has|We have|There are} $a $t[,] and {I get|someone brings|then we find|we buy} $b more."
            " How many $t {are there|are there now|is that|are there in all}?",
            "There are $a $t {in one box|on the table|in the first room} and $b {in another|on the floor|in the"
            " second}. How many {altogether|in total|$t are there}?",
            "$n {collected|picked|counted|sold|baked} $a $t on Monday and $b on Tuesday. How many {in all|$t"
            " altogether|$t is that}?",
            "How many $t are $a $t and $b $t?",
        ],
        ["{That is|That makes|There are} $v $t[ in all].", "$v $t[ altogether]."],
    ),
    (
        "+",
        [
            "$n {has|owns|earned} $a $m and $o has $b. How much {do they have|is that} {together|in total}?",
            "A $x costs $a $m and a $y costs $b. {How much do both cost|What do I pay for both|What is the"
            " total}?",
            "I {paid|spent} $a $m for a $x and $b for a $y. How much did I spend[ in all]?",
            "$n saved $a $m and then got $b $m {from|as a gift from} $o. How much does $n have now?",
        ],
        ["{That is|That makes} $v $m[ in all].", "$v $m[ together]."],
    ),
    (
        "-",
        [
            "{I have|$n has|There are|We had} $a $t. {I lose|$o takes|Someone eats|We sell|I give away} $b[ of"
            " them]. How many {are left|remain|$t are left}?",
            "{I had|$n had} $a $t and gave {$b away|away $b|$b to $o}. How many are left?",
            "Of $a $t, $b are broken. How many are {whole|fine|still good}?",
            "A book has $a pages and I have read $b. How many pages are left?",
        ],
        ["$v are left.", "There are $v left.", "That leaves $v."],
    ),
    (
        "-",
        [
            "{I have|$n has} $a $m and {spends|pays} $b {for|on} a $x. How much {is left|money is left|remains}?",
            "A $x costs $b $m. I pay with $a $m. {How much change do I get|What do I get back}?",
            "$n had $a $m {in the bank|saved up} and took out $b. How much is {left|still there}?",
        ],
        ["$v $m are left.", "That leaves $v $m.", "$v $m."],
    ),
    (
        "-",
        [
            "$n has $a $t and $o has $b. How many more $t does $n have[ than $o]?",
            "$n is $a years old and $o is $b. How many years older is $n?",
            "One {tower|tree|wall} is $a metres high, another $b. What is the difference?",
        ],
        ["The difference is $v.", "$v more.", "It is $v."],
    ),
    (
        "*",
        [
            "There are $a {boxes|bags|shelves|baskets} with $b $t {each|in each}. How many $t {are there|in"
            " total|altogether}?",
            "$n buys $a $t for $b $m each. How much {is that|does $n pay|does it cost}?",
            "One $x costs $b $m. What do $a of them cost?",
            "$a {people|friends|children} have $b $t each. How many $t is that?",
        ],
        ["{That is|That makes|It is} $v[ in all]."],
    ),
    (
        "+-",
        [
            "{I have|$n has|We have} $a $t. {I find|$o brings} $b more and then {$c are lost|$c break|I give $c"
            " away}. How many {are left|$t are there now}?",
            "There are $a people on the bus. $b get on and $c get off. How many are on the bus now?",
            "$n had $a $m, got $b $m from $o and spent $c. How much {is left|does $n have now}?",
        ],
        ["{That leaves|There are} $v.", "Now it is $v."],
    ),
    (
        "-+",
        [
            "{I had|$n had} $a $t, gave $b to $o and then bought $c[ new ones]. How many {is that|$t now}?",
            "A shop had $a $t. It sold $b and then $c more came in. How many $t {are there now|does it have}?",
            "$n had $a $m, paid $b for a $x and then earned $c. How much money does $n have?",
        ],
        ["{That makes|Now there are} $v.", "It is $v now."],
    ),
    (
        "--",
        [
            "{I have|$n has} $a $m and {buys|pays for} a $x for $b and a $y for $c. How much is left?",
            "Of $a $t, $n took $b and $o took $c. How many are left?",
        ],
        ["That leaves $v.", "$v are left."],
    ),
    (
        "++",
        [
            "$n has $a $t, $o has $b and I have $c. How many $t do we have {together|in all}?",
            "I walked $a steps, then $b, then $c. How many steps in all?",
            "The $x costs $a $m, the $y $b and the bag $c. What is the total?",
        ],
        ["{That makes|That is} $v[ in all]."],
    ),
    (
        "*+",
        [
            "$n buys $a $t for $b $m each and a $x for $c $m. How much {is that|does $n pay} in all?",
            "There are $a rows of $b $t, and $c more on the floor. How many $t are there?",
        ],
        ["{That makes|That is} $v[ in all]."],
    ),
    (
        "*-",
        [
            "I had $a {boxes|bags} of $b $t and {lost|ate|sold} $c of the $t. How many $t are left?",
            "$n worked $a hours for $b $m an hour and then spent $c $m. How much is left?",
        ],
        ["That leaves $v.", "$v are left."],
    ),
]
WEIGHTS = [5, 4, 4, 4, 3, 4, 3, 3, 2, 3, 2, 2]


def problem(random: Random) -> Problem:
    """A problem whose numbers never fall below zero or grow too large for the model."""
    signs, stories, answers = random.choices(STORIES, WEIGHTS)[0]
    numbers = _numbers(random, signs)
    start, *others = numbers
    steps = list(zip(signs, others, strict=True))
    result = start
    for sign, other in steps:
        result = value(result, sign, other)
    one, other_name = payloads.first_name(random), payloads.first_name(random)
    x, y = payloads.thing(random), payloads.thing(random)
    fills = {
        "n": one,
        "o": other_name if other_name != one else "Pat",
        "t": payloads.things(random),
        "m": random.choice(MONEY),
        "x": x,
        "y": y,
        **dict(zip("abc", numbers, strict=False)),
    }
    story = capital(pick(random, stories, **fills)).replace(" a a", " an a").replace(" a o", " an o")
    return Problem(story, start, steps, pick(random, answers, v=result, **fills))


def _numbers(random: Random, signs: str) -> list[int]:
    limit = random.choices([12, 30, 99, 999], [4, 4, 4, 2])[0]
    while True:
        if signs[0] == "*":
            numbers = [random.randint(2, 12), random.randint(2, 12)]
            numbers += [random.randint(2, 30) for _ in signs[1:]]
        else:
            numbers = [random.randint(2, limit) for _ in range(len(signs) + 1)]
        result = numbers[0]
        for sign, other in zip(signs, numbers[1:], strict=True):
            result = value(result, sign, other)
            if result < 2:
                break
        else:
            if result <= 999:
                return numbers
