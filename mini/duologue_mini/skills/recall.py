"""Skill: recalling what the user said up to ten turns ago: one thing or all, the newest where it changed."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from duologue_mini.conversation import short_exchanges
from duologue_mini.conversation.statements import Statement, draw_statement, several, statement
from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import farewells, stories
from duologue_mini.skills.arithmetic import POINTERS
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots, loose, request

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
    """A conversation being built. `facts` holds the valid statements, in the order they were made."""

    turns: list[Turn] = field(default_factory=list)
    facts: list[Statement] = field(default_factory=list)
    old_values: dict[str, str] = field(default_factory=dict)
    question: str = ""  # the user's first question, if any


def draw(random: Random) -> Scene:
    """Some statements, other talk in between, then one to three questions about them."""
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
        if chat.facts and random.random() < 0.08:
            _correct(random, chat)
        else:
            _chatter(random, chat)
    if chat.facts and random.random() < 0.14:
        _correct(random, chat)
    for _ in range(random.choices([1, 2, 3], [60, 28, 12])[0]):
        _ask(random, chat)
    return Scene("recall", chat.turns)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _tell(random: Random, chat: Chat, fact: Statement) -> None:
    text = statement(random, fact)
    opening = "$s" if text.startswith(IMPERATIVES) else pick(random, OPENINGS)
    user = fill_slots(loose(random, opening), {"s": text.rstrip(".!") if opening.startswith("$s.") else text})
    user = capital(user) if random.random() < 0.6 and not user[:1].isdigit() else user
    acknowledgement = fill_slots(pick(random, NOTED), {"y": fact.yours})
    chat.turns.append(
        Turn(user, capital(acknowledgement), f"The user tells me: {fact.yours}. I note it.", True)
    )
    chat.facts.append(fact)


def _tell_all(random: Random, chat: Chat, facts: list[Statement]) -> None:
    """Several statements in one message."""
    sentences = [capital(_sentence(statement(random, fact))) for fact in facts]
    opening = random.choice(
        ["", "", "Some facts about me: ", "Remember these things. ", "Please note:\n", "About me. "]
    )
    if random.random() < 0.35 and len(facts) < 5:
        sentences = [capital(words.join_words([fact.mine for fact in facts])) + "."]
    text = "\n".join(f"- {one}" for one in sentences) if opening.endswith("\n") else " ".join(sentences)
    acknowledgement = pick(
        random, ["{Noted|Thank you|Got it|I will remember all of that|I will keep that in mind}{.|!}"]
    )
    thought = "The user tells me: " + "; ".join(fact.yours for fact in facts) + "."
    chat.turns.append(Turn(opening + text, acknowledgement, thought, True))
    chat.facts += facts


def _correct(random: Random, chat: Chat) -> None:
    """A new value for an earlier statement."""
    old = random.choice(chat.facts)
    new = Statement(old.kind, old.key, old.kind.value(random))
    if new.value == old.value or any(new.value == one.value for one in chat.facts):
        return
    user = fill_slots(loose(random, pick(random, CORRECTIONS)), {"m": new.mine, "a": old.about})
    answer = capital(fill_slots(pick(random, CORRECTED), {"y": new.yours}))
    thought = f"Before: {old.yours}. Now: {new.yours}. The new one counts."
    chat.turns.append(Turn(user, answer, thought, True))
    chat.facts[chat.facts.index(old)] = new
    chat.old_values[new.yours] = old.yours


def _chatter(random: Random, chat: Chat) -> None:
    """A turn on another subject."""
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
        farewell = farewells.draw(random)
        while farewell.skill == "goodbyes":
            farewell = farewells.draw(random)
        turn = farewell.turns[0]
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
    if chat.facts:
        kinds += [_value, _about, _did_i, _all, _first_or_last]
        weights += [62, 10, 12, 10, 5]
    turn = random.choices(kinds, weights)[0](random, chat)
    if turn is not None:
        chat.turns.append(turn)
    elif chat.turns == []:
        chat.turns.append(_never(random, chat))


def _frame(random: Random, question_text: str) -> str:
    """The question, at times with a few words in front."""
    lower = (
        question_text
        if question_text.startswith(("$", "I ", "I'"))
        else question_text[:1].lower() + question_text[1:]
    )
    return fill_slots(loose(random, pick(random, FRAMES)), {"q": question_text, "l": lower})


def _how(chat: Chat, fact: Statement) -> str:
    old = chat.old_values.get(fact.yours)
    return (
        f"First the user said: {old}. Later: {fact.yours}. The later one counts."
        if old
        else f"The user told me: {fact.yours}."
    )


def _user_sentence(random: Random, fact: Statement) -> str:
    return capital(pick(random, ["$y.", "$y.", "You {said|told me}[ that] $y."]).replace("$y", fact.yours))


def _value(random: Random, chat: Chat) -> Turn:
    fact = random.choice(chat.facts)
    user = _frame(random, request(random, fact.kind.questions, k=fact.key))
    answer = _user_sentence(random, fact)
    if random.random() < 0.15:
        answer = fact.value if any(mark in fact.value for mark in "/@") else capital(fact.value) + "."
    return Turn(capital(user) if random.random() < 0.6 else user, answer, _how(chat, fact), True)


def _about(random: Random, chat: Chat) -> Turn:
    fact = random.choice(chat.facts)
    return Turn(request(random, ABOUT, a=fact.about), _user_sentence(random, fact), _how(chat, fact), True)


def _did_i(random: Random, chat: Chat) -> Turn | None:
    fact = random.choice(chat.facts)
    other = Statement(fact.kind, fact.key, fact.kind.value(random))
    true = random.random() < 0.5
    if other.value == fact.value:
        return None
    claim = fact.mine if true else other.mine
    user = request(random, DID_I, m=claim, c=capital(claim))
    answer = f"{'Yes' if true else 'No'}, {fact.yours}."
    return Turn(user, answer, _how(chat, fact), True)


def _all(random: Random, chat: Chat) -> Turn:
    told_all = [one.yours for one in chat.facts]
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
    if chat.old_values:
        return None
    first = random.random() < 0.5
    fact = chat.facts[0 if first else -1]
    user = request(random, FIRST if first else LAST)
    return Turn(
        user, _user_sentence(random, fact), f"The {'first' if first else 'last'}: {fact.yours}.", True
    )


def _never(random: Random, chat: Chat) -> Turn:
    while True:
        missing = draw_statement(random)
        vague = missing.key in ("password", "number")  # the code of something else could be meant
        if not vague and all(
            missing.about != one.about and missing.kind is not one.kind for one in chat.facts
        ):
            break
    user = _frame(random, request(random, missing.kind.questions, k=missing.key))
    yours = missing.about.replace("my ", "your ", 1).replace("where I ", "where you ")
    answer = fill_slots(pick(random, NEVER), {"a": yours, "b": yours})
    thought = f"I look for {yours}. The user has not told me."
    return Turn(capital(user) if random.random() < 0.6 else user, answer, thought, True)


def _first_question(random: Random, chat: Chat) -> Turn:
    question_text = _sentence(capital(chat.question)).removesuffix(".")
    question_text = question_text if question_text.endswith("?") else question_text + "?"
    answer = pick(random, ['{You asked|Your first question was}: "$q"']).replace("$q", question_text)
    return Turn(request(random, FIRST_QUESTION), answer, f"The first question: {question_text}", True)


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
