"""Skill: saying back what the user told, up to ten turns later: one thing or all, the newest where it changed.

Knows how a chat wanders from telling to asking; what is told is in told, what comes between in acts and in a few
other skills.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from duologue_mini.conversation import short_exchanges
from duologue_mini.conversation.statements import Told, several, statement, told
from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import farewells, stories
from duologue_mini.skills.arithmetic import POINTERS
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import filled, loose, request

OPENINGS = [
    "{Remember|Please remember|Keep in mind|Note|For later|Just so you know|By the way|For the record|You should know}{:|, |:} $s",
    "{I want to tell you something|Here is something about me|Something else|Another thing|One more thing|Also}: $s",
    "$s. {Please remember that|Remember that|Keep that in mind|Don't forget it}[.]",
    "$s",
    "$s",
    "$s",
]
IMPERATIVES = ("Remember", "Keep", "Note", "Please", "Put", "Hi", "Hello", "Hey", "Write", "Plan", "You can")
NOTED = [
    "{Noted|Got it|All right|Thank you|I will remember that|Good to know}: $y.",
    "{Noted|Got it|All right|Thank you|I will remember that|Good to know|I will keep that in mind}{.|!}",
    "{So|I see,} $y. {Noted|I will remember that|Good to know}.",
    "{Noted|Got it|All right}, $y.",
]
CORRECTIONS = [
    "{No, wait|Sorry|Correction|I was wrong|That has changed|Change of plan|Update|I made a mistake}{: |, |. }$m[.]",
    "Actually[,] $m[ now][.]",
    "$m now, not what I said before[.]",
    "{It is different now|Forget what I said about $a}: $m[.]",
]
CORRECTED = [
    "{All right|Got it|Noted|Thank you}, {now |}$y.",
    "{Changed|I have changed that|Noted}: $y.",
]
FRAMES = [
    "$q",
    "$q",
    "$q",
    "{Now|So|Ok|Then|Again}[,] $l",
    "{Do you remember|Can you tell me|Let's see}: $l",
    "{Quick check|A test|Back to me|Question}: $q",
]
ABOUT = [
    "{What did I {say|tell you}|What do you know|What have I told you} about $a[?]",
    "{Remind me|Tell me again} what I said about $a[.]",
]
DID_I = [
    "{Did I {say|tell you}|Have I told you|Is it right|Is it true} that $m?",
    "{$c, right|$c, is that right|$c, yes or no}?",
]
ALL = [
    "{What|What all} {have I told you|did I tell you|do you know}[ about me][ so far]?",
    "{List|Repeat|Sum up|Say back} {everything|all} {I told you|that I said|you know about me}[.]",
    "{Tell me everything you know about me|What do you remember|What do you remember about me|Which facts did I give you}[?]",
]
HOW_MANY = ["How many things {did I tell you|have I told you}[ about me]?"]
NEVER = [
    "You have not told me[ yet| that].",
    "You did not tell me {that|about $a}.",
    "I do not know[ that]: you have not {told me|said so}[ yet].",
    "You have not said anything about $b.",
]
LAST = [
    "What was the last thing I {told you|said about me}?",
    "{What did I tell you|Which thing did I tell you} last?",
]
FIRST = [
    "What was the first thing I told you[ about me]?",
    "{What did I tell you|Which thing did I tell you} first?",
]
FIRST_QUESTION = [
    "What was my {first|very first} question?",
    "{What did I ask you first|What was the first thing I asked|Which question did I begin with}?",
]
AGAIN = [
    "{Say|Tell me|Repeat} that again[, please][.]",
    "{What did you {just say|say last}|What was your last answer|Sorry, what was that|Come again|Pardon|What did you say}?",
    "{Repeat|Say again} {your last answer|what you just said}[.]",
]
FIRST_WORDS = [
    "What {were my first words|did I say first|was my first message}?",
    "How did I {begin|start} this {chat|talk|conversation}?",
]

BETWEEN = frozenset({"able", "bye", "hello"})


@dataclass
class Chat:
    """A conversation while it grows. `known` holds what counts now, in the order it was told."""

    turns: list[Turn] = field(default_factory=list)
    known: list[Told] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    question: str = ""  # the user's first question, where there was one


def draw(random: Random) -> Scene:
    """Some things told, other talk between, then one to three questions about what was said."""
    chat = Chat()
    count = random.choices([0, 1, 2, 3, 4, 5, 7], [6, 30, 24, 18, 12, 6, 4])[0]
    facts = several(random, count)
    length = random.choices([0, 1, 2, 3, 5, 7, 9], [22, 18, 16, 14, 12, 10, 8])[0]
    if random.random() < 0.2:
        _chatter(random, chat)
    if count > 1 and random.random() < 0.3:
        _tell_all(random, chat, facts)
    else:
        for fact in facts:
            if random.random() < 0.2 and length:
                _chatter(random, chat)
                length -= 1
            _tell(random, chat, fact)
    for _ in range(length):
        if chat.known and random.random() < 0.08:
            _correct(random, chat)
        else:
            _chatter(random, chat)
    if chat.known and random.random() < 0.14:
        _correct(random, chat)
    for _ in range(random.choices([1, 2, 3], [60, 28, 12])[0]):
        _ask(random, chat)
    return Scene("recall", chat.turns)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _tell(random: Random, chat: Chat, fact: Told) -> None:
    said = statement(random, fact)
    opening = "$s" if said.startswith(IMPERATIVES) else pick(random, OPENINGS)
    user = filled(loose(random, opening), {"s": said.rstrip(".!") if opening.startswith("$s.") else said})
    user = capital(user) if random.random() < 0.6 and not user[:1].isdigit() else user
    noted = filled(pick(random, NOTED), {"y": fact.yours})
    chat.turns.append(Turn(user, capital(noted), f"The user tells me: {fact.yours}. I note it.", True))
    chat.known.append(fact)


def _tell_all(random: Random, chat: Chat, facts: list[Told]) -> None:
    """Several things in one message."""
    said = [capital(_sentence(statement(random, fact))) for fact in facts]
    opening = random.choice(
        ["", "", "Some facts about me: ", "Remember these things. ", "Please note:\n", "About me. "]
    )
    if random.random() < 0.35 and len(facts) < 5:
        said = [capital(words.joined([fact.mine for fact in facts])) + "."]
    listed = "\n".join(f"- {one}" for one in said) if opening.endswith("\n") else " ".join(said)
    noted = pick(
        random, ["{Noted|Thank you|Got it|I will remember all of that|I will keep that in mind}{.|!}"]
    )
    thought = "The user tells me: " + "; ".join(fact.yours for fact in facts) + "."
    chat.turns.append(Turn(opening + listed, noted, thought, True))
    chat.known += facts


def _correct(random: Random, chat: Chat) -> None:
    """Something told before is different now."""
    old = random.choice(chat.known)
    new = Told(old.kind, old.key, old.kind.value(random))
    if new.value == old.value or any(new.value == one.value for one in chat.known):
        return
    user = filled(loose(random, pick(random, CORRECTIONS)), {"m": new.mine, "a": old.about})
    answer = capital(filled(pick(random, CORRECTED), {"y": new.yours}))
    thought = f"Before: {old.yours}. Now: {new.yours}. The new one counts."
    chat.turns.append(Turn(user, answer, thought, True))
    chat.known[chat.known.index(old)] = new
    chat.replaced[new.yours] = old.yours


def _chatter(random: Random, chat: Chat) -> None:
    """A turn about something else."""
    chance = random.random()
    if chance < 0.72:
        act = short_exchanges.any_act(random, BETWEEN if chat.turns else frozenset({"able", "bye"}))
        user = loose(random, act.user)
        answer = f"{act.answer} {pick(random, POINTERS)}" if act.what == "beyond" else act.answer
        turn = Turn(user, capital(answer), "The user talks about something else. I answer.", True)
        if act.user.endswith("?") and not chat.question and all("?" not in one.user for one in chat.turns):
            chat.question = user
    elif chance < 0.86:
        turn = stories.draw(random).turns[0]
    else:
        said = farewells.draw(random)
        while said.skill == "goodbyes":
            said = farewells.draw(random)
        turn = said.turns[0]
    chat.turns.append(turn)
    if "?" in turn.user and not chat.question:
        chat.question = "-"


def _ask(random: Random, chat: Chat) -> None:
    kinds: list[Callable[[Random, Chat], Turn | None]] = [_never, _first_words]
    weights = [16.0, 2.0]
    if chat.question and chat.question != "-" and chat.turns:
        kinds.append(_first_question)
        weights.append(8)
    if chat.turns and len(chat.turns[-1].assistant) < 160:
        kinds.append(_again)
        weights.append(3)
    if chat.known:
        kinds += [_value, _about, _did_i, _all, _first_or_last]
        weights += [62, 10, 12, 10, 5]
    turn = random.choices(kinds, weights)[0](random, chat)
    if turn is not None:
        chat.turns.append(turn)
    elif chat.turns == []:
        chat.turns.append(_never(random, chat))


def _framed(random: Random, asked: str) -> str:
    """The question, with a few words before it at times."""
    lower = asked if asked.startswith(("$", "I ", "I'")) else asked[:1].lower() + asked[1:]
    return filled(loose(random, pick(random, FRAMES)), {"q": asked, "l": lower})


def _how(chat: Chat, fact: Told) -> str:
    old = chat.replaced.get(fact.yours)
    return (
        f"First the user said: {old}. Later: {fact.yours}. The later one counts."
        if old
        else f"The user told me: {fact.yours}."
    )


def _said(random: Random, fact: Told) -> str:
    return capital(pick(random, ["$y.", "$y.", "You {said|told me}[ that] $y."]).replace("$y", fact.yours))


def _value(random: Random, chat: Chat) -> Turn:
    fact = random.choice(chat.known)
    user = _framed(random, request(random, fact.kind.asked, k=fact.key))
    answer = _said(random, fact)
    if random.random() < 0.15:
        answer = fact.value if any(mark in fact.value for mark in "/@") else capital(fact.value) + "."
    return Turn(capital(user) if random.random() < 0.6 else user, answer, _how(chat, fact), True)


def _about(random: Random, chat: Chat) -> Turn:
    fact = random.choice(chat.known)
    return Turn(request(random, ABOUT, a=fact.about), _said(random, fact), _how(chat, fact), True)


def _did_i(random: Random, chat: Chat) -> Turn | None:
    fact = random.choice(chat.known)
    other = Told(fact.kind, fact.key, fact.kind.value(random))
    true = random.random() < 0.5
    if other.value == fact.value:
        return None
    supposed = fact.mine if true else other.mine
    user = request(random, DID_I, m=supposed, c=capital(supposed))
    answer = f"{'Yes' if true else 'No'}, {fact.yours}."
    return Turn(user, answer, _how(chat, fact), True)


def _all(random: Random, chat: Chat) -> Turn:
    told_all = [one.yours for one in chat.known]
    if random.random() < 0.15:
        count = len(told_all)
        return Turn(request(random, HOW_MANY), f"{count}: {', '.join(told_all)}.", f"I count: {count}.", True)
    if len(told_all) > 2 and random.random() < 0.7:
        answer = "You told me:\n\n" + "\n".join(f"- {capital(one)}" for one in told_all)
    else:
        answer = (
            "You told me that "
            + ", ".join(told_all[:-1])
            + (" and that " if told_all[1:] else "")
            + told_all[-1]
            + "."
        )
    return Turn(request(random, ALL), answer, f"{len(told_all)} things: " + "; ".join(told_all) + ".", True)


def _first_or_last(random: Random, chat: Chat) -> Turn | None:
    if chat.replaced:
        return None
    first = random.random() < 0.5
    fact = chat.known[0 if first else -1]
    user = request(random, FIRST if first else LAST)
    return Turn(user, _said(random, fact), f"The {'first' if first else 'last'}: {fact.yours}.", True)


def _never(random: Random, chat: Chat) -> Turn:
    while True:
        missing = told(random)
        vague = missing.key in ("password", "number")  # a code told for something else could be meant
        if not vague and all(
            missing.about != one.about and missing.kind is not one.kind for one in chat.known
        ):
            break
    user = _framed(random, request(random, missing.kind.asked, k=missing.key))
    yours = missing.about.replace("my ", "your ", 1).replace("where I ", "where you ")
    answer = filled(pick(random, NEVER), {"a": yours, "b": yours})
    thought = f"I look for {yours}. The user has not told me."
    return Turn(capital(user) if random.random() < 0.6 else user, answer, thought, True)


def _first_question(random: Random, chat: Chat) -> Turn:
    asked = _sentence(capital(chat.question)).removesuffix(".")
    asked = asked if asked.endswith("?") else asked + "?"
    answer = pick(random, ['{You asked|Your first question was}: "$q"']).replace("$q", asked)
    return Turn(request(random, FIRST_QUESTION), answer, f"The first question: {asked}", True)


def _again(random: Random, chat: Chat) -> Turn:
    last = chat.turns[-1].assistant
    return Turn(request(random, AGAIN), last, "The user wants my last answer again. I copy it.", True)


def _first_words(random: Random, chat: Chat) -> Turn:
    if not chat.turns:
        return _never(random, chat)
    first = chat.turns[0]
    chat.turns[0] = replace(first, exact=True)
    words_said = capital(first.user)
    answer = pick(random, ['{You said|You began with|Your first words were}: "$q"']).replace("$q", words_said)
    return Turn(request(random, FIRST_WORDS), answer, f"The first message: {words_said}", True)
