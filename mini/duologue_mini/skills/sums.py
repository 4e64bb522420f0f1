"""Skill of v0: sums of one and two digits and small products, worked out tens first. Used by `unseen_tools`."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick

SIGNS = {
    "+": ["+", "plus", "and", " + "],
    "-": ["-", "minus", "take away", "less"],
    "*": ["x", "*", "times", "by"],
}
ASK = [
    "{What is|What's|How much is|Calculate|Compute|What does|Work out|Tell me|Solve|Give me|Do you know|Can"
    " you tell me|Can you do|Do you know what is|Find} $sum[?|.]",
    "$sum[?| =| = ?| is| equals| makes]",
    "{And|And what is|Now|Next|How about|What about|Then} $sum?",
    "{What is|What's|Find} the {result|answer|value} of $sum?",
    "$sum {is how much|equals what|makes what|is what}?",
    "{I need|Please give me|Quick|Math|Maths|Can you add up|Help me with|Question}[:] $sum[.]",
]
ADD = [
    "{Add|Sum|Sum up|Add up|Add together} $a and $b[.]",
    "{What is|Find|Give me} the {sum|total} of $a and $b[?]",
    "Add $b to $a[.]",
    "If I add $a and $b, what do I get?",
]
SUBTRACT = [
    "{Subtract|Take|Remove} $b from $a[.]",
    "What is the difference {between|of} $a and $b?",
    "If I take $b from $a, what is left?",
    "What {is left|remains} when I take $b {from|away from} $a?",
]
MULTIPLY = ["Multiply $a {by|and|with} $b[.]", "{What is|Find} the product of $a and $b[?]"]
STORY_ADD = [
    "{I have|$n has|We have|There are} $a $t[,] and {I get|someone gives me|then I find|I buy} $b more. How"
    " many $t {are there|are there now|is that|do I have}?",
    "There are $a $t in one box and $b in another. How many {altogether|in total|are there}?",
]
STORY_SUBTRACT = [
    "{I have|$n has|We have|There are} $a $t[,] and {I lose|I give away|I eat|someone takes|I sell} $b. How"
    " many {are left|remain|$t are left}?",
    "{I had|$n had} $a $t and gave {$b away|away $b}. How many are left?",
]
COMPARE = [
    "{Which|What|Which number} is {bigger|larger|greater|more}, $a or $b?",
    "{Is $a|Is the number $a} {bigger|larger|greater} than $b?",
]


def draw(random: Random) -> Scene:
    """One sum, or a few in a row."""
    return Scene("sums", [_turn(random) for _ in range(random.choice([1, 1, 2, 3]))])


def _turn(random: Random) -> Turn:
    kind = random.choices(["+", "-", "*", "compare"], [10, 8, 3, 1])[0]
    if kind == "compare":
        return _compare(random)
    a, b = _operands(random, kind)
    steps, value = work_out(a, b, kind)
    sign = "×" if kind == "*" else kind
    line = f"{a} {sign} {b} = {value}"
    if not steps:
        answer = pick(
            random,
            ["$line.", "$line.", "$a $sign $b is {$v|**$v**}."],
            line=line,
            a=a,
            b=b,
            sign=sign,
            v=value,
        )
    else:
        answer = f"{capital(', '.join(steps))}. So {a} {sign} {b} = {value}."
    thought = "\n".join([*steps, line])
    brief = pick(random, ["$line.", "$a $sign $b is {$v|**$v**}."], line=line, a=a, b=b, sign=sign, v=value)
    return Turn(_question(random, a, b, kind), answer, thought, exact=True, after_thought=brief)


def work_out(a: int, b: int, kind: str) -> tuple[list[str], int]:
    """The steps of the sum, and its value; no steps for an easy one."""
    if kind == "*":
        return [], a * b
    if kind == "-" and a < b:
        steps, value = work_out(b, a, "-")
        return ([*steps, f"{b} - {a} = {value}"] if steps else []), -value
    value = a + b if kind == "+" else a - b
    if b < 10 or (a < 10 and kind == "+"):
        return [], value
    tens, ones = b - b % 10, b % 10
    halfway = a + tens if kind == "+" else a - tens
    steps = [f"{a} {kind} {tens} = {halfway}"]
    if ones:
        steps.append(f"{halfway} {kind} {ones} = {value}")
    return steps if ones else [], value


def _operands(random: Random, kind: str) -> tuple[int, int]:
    if kind == "*":
        return random.randint(0, 12), random.randint(0, 12)
    shape = random.choices(["ones", "mixed", "twos"], [4, 5, 5])[0]
    if shape == "ones":
        a, b = random.randint(0, 10), random.randint(0, 10)
    elif shape == "mixed":
        a, b = random.randint(10, 99), random.randint(0, 9)
        if kind == "+" and random.random() < 0.3:
            a, b = b, a
    else:
        a, b = random.randint(10, 99), random.randint(10, 99)
    if kind == "-" and a < b and random.random() < 0.85:
        a, b = b, a
    return a, b


def _question(random: Random, a: int, b: int, kind: str) -> str:
    wordy = random.random() < 0.15

    def number(value: int) -> str:
        return words.number_in_words(value) if wordy else str(value)

    patterns = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY}[kind]
    if kind != "*" and a >= b > 0 and random.random() < 0.08:
        stories = STORY_ADD if kind == "+" else STORY_SUBTRACT
        thing = random.choice(
            [word for word in words.FOODS if word.endswith("s")] + [f"{w}s" for w in words.THINGS[:20]]
        )
        return pick(random, stories, a=number(a), b=number(b), n=random.choice(words.NAMES), t=thing)
    if random.random() < 0.2:
        return capital(pick(random, patterns, a=number(a), b=number(b)))
    sign = random.choice(SIGNS[kind]) if not wordy else random.choice(SIGNS[kind][1:2])
    if kind == "*" and sign == "by":
        sign = "multiplied by"
    tight = sign in ("+", "-", "*", "x") and random.random() < 0.5
    total = f"{number(a)}{sign}{number(b)}" if tight else f"{number(a)} {sign.strip()} {number(b)}"
    return capital(pick(random, ASK, sum=total))


def _compare(random: Random) -> Turn:
    a, b = random.sample(range(1, 100), 2)
    user = pick(random, COMPARE, a=a, b=b)
    larger, smaller = max(a, b), min(a, b)
    verdict = "" if user.startswith(("Which", "What")) else ("Yes. " if a > b else "No. ")
    return Turn(user, f"{verdict}{larger} is larger than {smaller}.", f"{larger} > {smaller}", exact=True)
