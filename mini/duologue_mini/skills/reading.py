"""Skill: reading a short text and answering from it, and from it alone.

Knows how a text and a question come together: in one message or two, in quotes, fences or the system prompt;
and the ways to answer: short, in a sentence, yes or no, or that the text does not say.
"""

from dataclasses import replace
from random import Random

from duologue_mini.passages.groups import Group, Question, group
from duologue_mini.passages.passage import Known, Passage, agreed, passage
from duologue_mini.passages.topic import Fact
from duologue_mini.scene import Scene, Turn
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import filled, loose, request

LABELS = [
    "{Text|Passage|Context|Article|Paragraph|Document|Note|Here is a text|Read this|Read this text|Given this"
    " text|Here is some information|Consider this|Message|From the letter|This is what I got|The text says|For"
    " context|From a leaflet|I found this|My notes say}",
]
SYSTEMS = [
    "{Answer|Answer questions|Reply} {only from|from|with the help of} {this text|the following text|these notes|"
    "the text below}[. If it does not say, {say so|tell the user so}]:\n[\n]$t",
    "You {help|answer} {visitors|customers|guests|users|people}. {Here is what you know|What you know|Facts}: $t",
    "{Context|Knowledge|Background|Notes|Information}:[\n]\n$t[\n\n{Use it to answer|Use only this}.]",
    "You are a helpful assistant. {Use|Rely on} {this|the following}: $t",
    "$t\n\n{Answer questions about this|Answer from the text above|That is all you know}.",
]
LATER = [
    "{I have read it|I read it|All right|Got it|Thank you}. {What would you like to know|What do you want to know"
    "|What is your question}?",
    "{Read|Noted}. {Ask away!|What is your question?|Go ahead.}",
]
GIVEN = [
    "{Please read|Read|Here is|I will give you|Have a look at} {this|this text|a text}[ first]:",
    "{Remember|Keep in mind|Learn} {this|this text}:",
    "{I will ask you about|Questions will follow on|Take a look at} this text:",
]
SHORT_ASKS = [
    "{Answer|Reply} {briefly|in a few words|with the fact only|shortly|short}[.]",
    "{Just|Only} the {answer|fact}[, please][.]",
]
NOT_SAID = [
    "The text does not say[ {that|anything about that}].",
    "{That is not in the text|The text does not mention {that|it}|It is not said in the text}.",
    "I {cannot|can't} {find|see} that in the text.",
    "The text says nothing about {$a|that}.",
    "The text does not say.",
]
FOREIGN = [
    "What is the {name of the dog|first name of the captain|colour of the roof|weight of the anchor|phone"
    " number of the doctor|name of the ship}?",
    "{Who won the game|Who painted the house|Who is the king|Who invented the telephone|What is the capital"
    " of France|What is the weather like|How tall is the tower|How many moons are there|Who took the photo|When was the war}?",
    "{How old is the teacher|Why is the sky blue|Where did the horse go|What did the judge say|How fast is the boat}?",
]
SUMMARY = [
    "{Summarise|Summarize|Sum up|Shorten} {this|it|the text|this text}[ in {one|a single} sentence][.]",
    "{What is|Tell me what is} {this|the text|this text} about[, in one sentence][?]",
    "{Give me|Write} a {one-sentence|short} summary[ of {this|the text}][.]",
    "{In one sentence|In short}, what {is this about|does it say}?",
]
BOOLEAN = [
    "{Is it true|Is it right|Does the text say} that $c?",
    "{True or false|Right or wrong|Yes or no}: $c[.|?]",
]


def draw(random: Random) -> Scene:
    """A text and one to four questions."""
    if random.random() < 0.25:
        told = group(random)
        turns = [
            Turn(loose(random, one.user), random.choice(one.answers), one.thought, True)
            for one in _some(random, told)
        ]
        return _scene(random, told.text, turns)
    text, asked = _read(random)
    return _scene(random, text, asked)


def in_prompt(random: Random) -> Scene:
    """The bare text as a system prompt, and questions: for those who put more around it."""
    text, asked = _read(random, summaries=False)
    return Scene("reading", asked, system=text)


def _read(random: Random, *, summaries: bool = True) -> tuple[str, list[Turn]]:
    read = passage(random, most=random.choice([3, 5, 7]))
    count = random.choices([1, 2, 3, 4], [60, 24, 10, 6])[0]
    count = min(count, len(read.known) + 1)
    left = list(read.known)
    random.shuffle(left)
    return read.text, [_question(random, read, left, summaries) for _ in range(count)]


def _some(random: Random, told: Group) -> list[Question]:
    return random.sample(told.questions, min(len(told.questions), random.choices([1, 2, 3], [6, 3, 1])[0]))


def _scene(random: Random, text: str, asked: list[Turn]) -> Scene:
    """The text and its questions in one of the ways they come together."""
    where = random.random()
    if where < 0.17:
        system = filled(pick(random, SYSTEMS), {"t": text})
        return Scene("reading", asked, system=system)
    if where < 0.29:
        given = f"{loose(random, pick(random, GIVEN)).rstrip('.?!: ')}:{random.choice([' ', _gap(random)])}{_framed(random, text)}"
        first = Turn(given, pick(random, LATER), "The user gives me a text. I wait for the question.", True)
        return Scene("reading", [first, *asked])
    first = asked[0]
    user = _together(random, text, first.user)
    return Scene(
        "reading", [Turn(user, first.assistant, first.thought, True, first.after_thought), *asked[1:]]
    )


def _gap(random: Random) -> str:
    return random.choice(["\n", "\n\n"])


def _framed(random: Random, text: str) -> str:
    style = random.random()
    if style < 0.5:
        return text
    if style < 0.72:
        return f'"{text}"' if '"' not in text else f"'{text}'"
    if style < 0.8:
        return f'"""\n{text}\n"""'
    if style < 0.86:
        return f"```\n{text}\n```"
    if style < 0.92:
        name = random.choice(["text", "context", "passage", "document"])
        return f"<{name}>\n{text}\n</{name}>"
    return "> " + text.replace("\n", "\n> ") if style < 0.96 else f"--- \n{text}\n---"


def _together(random: Random, text: str, question: str) -> str:
    """Text and question in one message, either first."""
    framed = _framed(random, text)
    if random.random() < 0.3:
        link = random.choice(["\n\n", ": ", "\n", " - ", " Text: ", "\n\nText: ", " Here is the text: "])
        return f"{question}{link}{framed}"
    label = pick(random, LABELS) if random.random() < 0.5 else ""
    if random.random() < 0.3:
        label = label.lower()
    start = f"{label}:{random.choice([' ', _gap(random)])}" if label else ""
    ask = random.choice(["", "", "", "Question: ", "Q: ", "My question: ", "Now tell me: "])
    return f"{start}{framed}{random.choice([' ', _gap(random), _gap(random)])}{ask}{question}"


def _question(random: Random, read: Passage, left: list[Known], summaries: bool) -> Turn:
    """One question; `left` are the facts that were not asked for yet."""
    kind = random.choices(
        ["plain", "boolean", "either", "missing", "summary"], [52, 13, 9, 20, 6 * summaries]
    )[0]
    if not left and kind != "summary":
        kind = "missing"
    if kind == "summary":
        return _summary(random, read)
    if kind == "missing":
        return _missing(random, read)
    known = left.pop() if left else random.choice(read.known)
    if kind == "boolean" and not known.fact.answer.startswith("Because"):
        return _boolean(random, known)
    if kind == "either":
        return _either(random, known)
    return _plain(random, known)


def _thought(known: Known) -> str:
    return f'The text says: "{known.sentence}"'


def _asked(random: Random, fact: Fact, fills: dict[str, str]) -> str:
    return (
        capital(request(random, fact.asked, **fills))
        if random.random() < 0.7
        else request(random, fact.asked, **fills)
    )


def _plain(random: Random, known: Known) -> Turn:
    user = _asked(random, known.fact, known.fills)
    brief = random.random() < 0.12
    if brief:
        user = f"{user} {pick(random, SHORT_ASKS)}"
    answer = short(known) if brief or random.random() < 0.4 else long(known, known.value)
    return Turn(user, answer, _thought(known), True)


def short(known: Known) -> str:
    """The value alone, as an answer."""
    text = agreed(filled(known.fact.short, {"v": known.value}))
    if not all(letter.isalpha() or letter in " -'" for letter in text):
        return text if any(letter in text for letter in "/@_.") or text[-1] == "." else text + "."
    return (capital(text) if text.split(" ")[0].islower() else text) + "."


def long(known: Known, value: str) -> str:
    """The answer as a sentence."""
    text = filled(known.fact.answer, {**known.fills, "v": value, "vs": value + "s"})
    text = agreed(text)
    return text if known.fact.answer.startswith("$v") and not value.isalpha() else capital(text)


def _boolean(random: Random, known: Known) -> Turn:
    true = random.random() < 0.5 or known.other == known.value
    supposed = known.value if true else known.other
    fills = {**known.fills, "v": supposed, "vs": supposed + "s"}
    if known.fact.true and random.random() < 0.75:
        user = capital(request(random, [known.fact.true], **fills))
    else:
        claim = _inside(replace(known, value=supposed)).rstrip(".")
        user = capital(request(random, BOOLEAN, c=claim))
    sentence = long(known, known.value)
    softened = (
        sentence
        if sentence.startswith((known.value, known.fills["n"]))
        else sentence[:1].lower() + sentence[1:]
    )
    answer = random.choice(
        [f"{'Yes' if true else 'No'}, {softened}", f"{'Yes' if true else 'No'}. {sentence}"]
    )
    return Turn(user, answer, _thought(known), True)


def _either(random: Random, known: Known) -> Turn:
    if known.other == known.value:
        return _plain(random, known)
    pair = [known.value, known.other]
    random.shuffle(pair)
    asked = filled(pick(random, known.fact.asked), dict(known.fills)).rstrip("?")
    user = f"{asked}{random.choice([', ', ': ', '? '])}{pair[0]} or {pair[1]}?"
    answer = short(known) if random.random() < 0.4 else long(known, known.value)
    return Turn(
        loose(random, user) if user.isascii() and user.islower() else user, answer, _thought(known), True
    )


def _missing(random: Random, read: Passage) -> Turn:
    if read.unknown and random.random() < 0.8:
        fact, fills = random.choice(read.unknown)
        user = _asked(random, fact, fills)
        about = filled(fact.about, dict(fills))
    else:
        user, about = request(random, FOREIGN), "that"
    answer = pick(random, NOT_SAID, a=about)
    return Turn(user, answer, f"I look for {about}. The text does not say.", True)


def _summary(random: Random, read: Passage) -> Turn:
    user, thought = request(random, SUMMARY), f"It is about {read.gist}."
    if read.several:
        return Turn(user, pick(random, ["{It is|The text is|This is} about $g."], g=read.gist), thought, True)
    told = [_inside(one) for one in read.known[: random.choice([1, 2, 2])]]
    answer = pick(random, ["{It is|The text is|This is} about $g: $f"], g=read.gist, f=" and ".join(told))
    return Turn(user, answer.rstrip(".") + ".", thought, True)


def _inside(known: Known) -> str:
    """The answer as part of a longer sentence."""
    sentence = long(known, known.value).rstrip(".")
    kept = sentence.startswith((known.value, known.fills["n"], '"'))
    return sentence if kept else sentence[:1].lower() + sentence[1:]
