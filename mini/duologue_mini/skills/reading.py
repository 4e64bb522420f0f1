"""Skill: answering questions from a short text, and from that text alone.

Text and question come in one message or two, in quotes, fences or the system prompt. Answers are short, a sentence, yes or
no, or that the text does not say.
"""

from dataclasses import replace
from random import Random

from duologue_mini.passages.groups import Group, GroupQuestion, group
from duologue_mini.passages.passage import Known, Passage, fix_articles, passage
from duologue_mini.passages.topic import TopicFact
from duologue_mini.scene import Scene, Turn
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots, loose, request

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
        source = group(random)
        turns = [
            Turn(loose(random, one.user), random.choice(one.answers), one.thought, True)
            for one in _some(random, source)
        ]
        return _scene(random, source.text, turns)
    text, rounds = _read(random)
    return _scene(random, text, rounds)


def in_prompt(random: Random) -> Scene:
    """The bare text as a system prompt, with questions, for skills that add more to it."""
    text, turns = _read(random, summaries=False)
    return Scene("reading", turns, system=text)


def _read(random: Random, *, summaries: bool = True) -> tuple[str, list[Turn]]:
    read = passage(random, most=random.choice([3, 5, 7]))
    count = random.choices([1, 2, 3, 4], [60, 24, 10, 6])[0]
    count = min(count, len(read.answers) + 1)
    left = list(read.answers)
    random.shuffle(left)
    return read.text, [_question(random, read, left, summaries) for _ in range(count)]


def _some(random: Random, source: Group) -> list[GroupQuestion]:
    return random.sample(
        source.questions, min(len(source.questions), random.choices([1, 2, 3], [6, 3, 1])[0])
    )


def _scene(random: Random, text: str, rounds: list[Turn]) -> Scene:
    """The text and its questions in one of their arrangements."""
    where = random.random()
    if where < 0.17:
        system = fill_slots(pick(random, SYSTEMS), {"t": text})
        return Scene("reading", rounds, system=system)
    if where < 0.29:
        passage_text = f"{loose(random, pick(random, GIVEN)).rstrip('.?!: ')}:{random.choice([' ', _gap(random)])}{_frame(random, text)}"
        first = Turn(
            passage_text, pick(random, LATER), "The user gives me a text. I wait for the question.", True
        )
        return Scene("reading", [first, *rounds])
    first = rounds[0]
    user = _together(random, text, first.user)
    return Scene(
        "reading", [Turn(user, first.assistant, first.thought, True, first.after_thought), *rounds[1:]]
    )


def _gap(random: Random) -> str:
    return random.choice(["\n", "\n\n"])


def _frame(random: Random, text: str) -> str:
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
    quotation = _frame(random, text)
    if random.random() < 0.3:
        link = random.choice(["\n\n", ": ", "\n", " - ", " Text: ", "\n\nText: ", " Here is the text: "])
        return f"{question}{link}{quotation}"
    label = pick(random, LABELS) if random.random() < 0.5 else ""
    if random.random() < 0.3:
        label = label.lower()
    start = f"{label}:{random.choice([' ', _gap(random)])}" if label else ""
    ask = random.choice(["", "", "", "Question: ", "Q: ", "My question: ", "Now tell me: "])
    return f"{start}{quotation}{random.choice([' ', _gap(random), _gap(random)])}{ask}{question}"


def _question(random: Random, read: Passage, left: list[Known], summaries: bool) -> Turn:
    """A question; `left` are the facts not asked about yet."""
    kind = random.choices(
        ["plain", "boolean", "either", "missing", "summary"], [52, 13, 9, 20, 6 * summaries]
    )[0]
    if not left and kind != "summary":
        kind = "missing"
    if kind == "summary":
        return _summary(random, read)
    if kind == "missing":
        return _missing(random, read)
    answer = left.pop() if left else random.choice(read.answers)
    if kind == "boolean" and not answer.fact.answer.startswith("Because"):
        return _boolean(random, answer)
    if kind == "either":
        return _either(random, answer)
    return _plain(random, answer)


def _thought(answer: Known) -> str:
    return f'The text says: "{answer.sentence}"'


def _phrase_question(random: Random, fact: TopicFact, fills: dict[str, str]) -> str:
    return (
        capital(request(random, fact.questions, **fills))
        if random.random() < 0.7
        else request(random, fact.questions, **fills)
    )


def _plain(random: Random, entry: Known) -> Turn:
    user = _phrase_question(random, entry.fact, entry.fills)
    brief = random.random() < 0.12
    if brief:
        user = f"{user} {pick(random, SHORT_ASKS)}"
    answer = short(entry) if brief or random.random() < 0.4 else long(entry, entry.value)
    return Turn(user, answer, _thought(entry), True)


def short(entry: Known) -> str:
    """The value alone, as an answer."""
    text = fix_articles(fill_slots(entry.fact.short, {"v": entry.value}))
    if not all(letter.isalpha() or letter in " -'" for letter in text):
        return text if any(letter in text for letter in "/@_.") or text[-1] == "." else text + "."
    return (capital(text) if text.split(" ")[0].islower() else text) + "."


def long(entry: Known, value: str) -> str:
    """The answer as a sentence."""
    text = fill_slots(entry.fact.answer, {**entry.fills, "v": value, "vs": value + "s"})
    text = fix_articles(text)
    return text if entry.fact.answer.startswith("$v") and not value.isalpha() else capital(text)


def _boolean(random: Random, entry: Known) -> Turn:
    true = random.random() < 0.5 or entry.other == entry.value
    assumption = entry.value if true else entry.other
    fills = {**entry.fills, "v": assumption, "vs": assumption + "s"}
    if entry.fact.true and random.random() < 0.75:
        user = capital(request(random, [entry.fact.true], **fills))
    else:
        claim = _inside(replace(entry, value=assumption)).rstrip(".")
        user = capital(request(random, BOOLEAN, c=claim))
    sentence = long(entry, entry.value)
    thought = (
        sentence
        if sentence.startswith((entry.value, entry.fills["n"]))
        else sentence[:1].lower() + sentence[1:]
    )
    answer = random.choice(
        [f"{'Yes' if true else 'No'}, {thought}", f"{'Yes' if true else 'No'}. {sentence}"]
    )
    return Turn(user, answer, _thought(entry), True)


def _either(random: Random, entry: Known) -> Turn:
    if entry.other == entry.value:
        return _plain(random, entry)
    pair = [entry.value, entry.other]
    random.shuffle(pair)
    question = fill_slots(pick(random, entry.fact.questions), dict(entry.fills)).rstrip("?")
    user = f"{question}{random.choice([', ', ': ', '? '])}{pair[0]} or {pair[1]}?"
    answer = short(entry) if random.random() < 0.4 else long(entry, entry.value)
    return Turn(
        loose(random, user) if user.isascii() and user.islower() else user, answer, _thought(entry), True
    )


def _missing(random: Random, read: Passage) -> Turn:
    if read.unknown and random.random() < 0.8:
        fact, fills = random.choice(read.unknown)
        user = _phrase_question(random, fact, fills)
        about = fill_slots(fact.about, dict(fills))
    else:
        user, about = request(random, FOREIGN), "that"
    answer = pick(random, NOT_SAID, a=about)
    return Turn(user, answer, f"I look for {about}. The text does not say.", True)


def _summary(random: Random, read: Passage) -> Turn:
    user, thought = request(random, SUMMARY), f"It is about {read.gist}."
    if read.several:
        return Turn(user, pick(random, ["{It is|The text is|This is} about $g."], g=read.gist), thought, True)
    sentences = [_inside(one) for one in read.answers[: random.choice([1, 2, 2])]]
    answer = pick(
        random, ["{It is|The text is|This is} about $g: $f"], g=read.gist, f=" and ".join(sentences)
    )
    return Turn(user, answer.rstrip(".") + ".", thought, True)


def _inside(entry: Known) -> str:
    """The answer as part of a longer sentence."""
    sentence = long(entry, entry.value).rstrip(".")
    keeps_case = sentence.startswith((entry.value, entry.fills["n"], '"'))
    return sentence if keeps_case else sentence[:1].lower() + sentence[1:]
