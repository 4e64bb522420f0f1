"""Skill: changing a word, a line or a list as requested, and answering what can be counted or looked up in it."""

from random import Random

from duologue_mini.editing import letters, lines, lists
from duologue_mini.editing.changes import Change, ListChange, Work, phrase_request
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import payloads
from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import request

WORD_NOUNS = ["word", "word", "name", "term"]
TEXT_NOUNS = ["text", "sentence", "line", "phrase", "words"]
LIST_NOUNS = ["list", "list", "items", "words", "things"]
LIST_BARE = 0.9
LEADS = ["Here it is: ", "Sure: ", "Here you are: ", "Gladly: "]


def draw(random: Random) -> Scene:
    """A change, now and then followed by changes of its result."""
    kind = random.choices([_word, _text, _list, _joining, _mirror], [10, 9, 10, 1, 0.6])[0]
    return Scene("rewriting", kind(random))


def _turn(random: Random, user: str, work: Work) -> Turn:
    answer, brief = work.answer, work.brief
    if work.outcome is not None and brief is None and random.random() < 0.08:
        answer = random.choice(LEADS) + ("\n\n" if "\n" in answer else "") + answer
    return Turn(user, answer, work.thought, True, brief)


def _word_payload(random: Random) -> str:
    chance = random.random()
    if chance < 0.5:
        return payloads.word(random)
    if chance < 0.8:
        return payloads.any_word(random)
    if chance < 0.93:
        return payloads.first_name(random)
    return payloads.code(random) if chance < 0.97 else payloads.surname(random) + payloads.word(random)


def _word(random: Random) -> list[Turn]:
    word = _word_payload(random)
    change = _chosen(random, letters.WORD_CHANGES)
    work = change.work(random, word)
    if work is None:
        return _word(random)
    fills = {**work.fills, "o": word}
    user = phrase_request(random, change.asks, word, WORD_NOUNS, bare=0.55, fills=fills)
    return _and_again(random, _turn(random, user, work), work, letters.WORD_CHANGES)


def _text(random: Random) -> list[Turn]:
    chance = random.random()
    if chance < 0.45:
        text = payloads.sentence(random)
    elif chance < 0.9:
        text = payloads.phrase(random, 2, random.choice([4, 6, 10]))
    else:
        text = " ".join(payloads.odd(random) for _ in range(random.randint(1, 3)))
    if random.random() < 0.1:
        text = text[:1].upper() + text[1:] + random.choice([".", "!", "?"])
    change = _chosen(random, lines.TEXT_CHANGES)
    work = change.work(random, text)
    if work is None:
        return _text(random)
    user = phrase_request(random, change.asks, text, TEXT_NOUNS, bare=0.1, fills=work.fills)
    return _and_again(random, _turn(random, user, work), work, lines.TEXT_CHANGES)


def _list(random: Random) -> list[Turn]:
    entries = lists.items(random)
    change = _chosen_list(random, entries, 0)
    work = change.work(random, entries)
    if work is None:
        return _list(random)
    nouns = ["numbers", "list"] if lists.numeric(entries) else LIST_NOUNS
    user = phrase_request(
        random, change.asks, lists.write_list(random, entries), nouns, bare=LIST_BARE, fills=work.fills
    )
    turns = [_turn(random, user, work)]
    while (
        isinstance(work.outcome, list) and len(work.outcome) > 2 and random.random() < 0.25 and len(turns) < 4
    ):
        after, result = _list_step(random, work.outcome)
        turns.append(after)
        work = result
    return turns


def _list_step(random: Random, entries: list[str]) -> tuple[Turn, Work]:
    while True:
        change = _chosen_list(random, entries, 1)
        work = change.work(random, entries)
        if work is not None:
            return _turn(random, request(random, change.again, **work.fills), work), work


def _chosen_list(random: Random, entries: list[str], following: int) -> ListChange:
    numeric = lists.numeric(entries)
    able = [
        change
        for change in lists.LIST_CHANGES
        if change.numbers in (None, numeric) and (change.again or not following)
    ]
    return random.choices(able, [change.weight for change in able])[0]


def _chosen(random: Random, changes: list[Change]) -> Change:
    return random.choices(changes, [change.weight for change in changes])[0]


def _and_again(random: Random, first: Turn, work: Work, changes: list[Change]) -> list[Turn]:
    """Further requests about the result."""
    turns = [first]
    able = [change for change in changes if change.again]
    while (
        isinstance(work.outcome, str)
        and 1 < len(work.outcome) < 80
        and random.random() < 0.2
        and len(turns) < 4
    ):
        change = _chosen(random, able)
        following = change.work(random, work.outcome)
        if following is None:
            continue
        turns.append(_turn(random, request(random, change.again, **following.fills), following))
        work = following
    return turns


def _joining(random: Random) -> list[Turn]:
    word = payloads.word(random)
    mark = random.choice(["-", ", ", " ", " ", ", "])
    user = request(random, letters.JOIN, s=mark.join(word))
    answer = pick(random, ["$w", "$w", 'That is "$w".'], w=word)
    return [Turn(user, answer, f"I put the letters together: {word}.", True)]


def _mirror(random: Random) -> list[Turn]:
    work = letters.mirror(random, payloads.word(random))
    return [_turn(random, request(random, letters.MIRROR, **work.fills), work)]
