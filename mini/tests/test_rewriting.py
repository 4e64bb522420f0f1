"""Changes of words, lines and lists do what they say."""

from __future__ import annotations

from random import Random

from duologue_mini.editing import letters, lines, lists
from duologue_mini.editing.changes import Work
from duologue_mini.skills import rewriting
from duologue_mini.text import payloads


def works(name: str, count: int = 200) -> list[tuple[str, Work]]:
    """A change applied to many words or texts."""
    random = Random(name)
    changes = {change.work.__name__: change for change in letters.WORD_CHANGES}
    changes |= {f"text{change.work.__name__}": change for change in lines.TEXT_CHANGES}
    done = []
    for _ in range(count):
        thing = payloads.sentence(random) if name.startswith("text") else payloads.any_word(random)
        work = changes[name].work(random, thing)
        if work is not None:
            done.append((thing, work))
    assert done
    return done


def test_spelling_keeps_every_letter() -> None:
    for word, work in works("_spell"):
        if not work.fills["m"]:
            assert work.answer == "-".join(word)


def test_reversing_twice_gives_the_word_back() -> None:
    for word, work in works("_reverse"):
        assert isinstance(work.outcome, str)
        assert work.outcome[::-1] == word
        assert work.outcome in work.answer


def test_letters_are_counted() -> None:
    for word, work in works("_count"):
        assert f"{len(word)} letter" in work.answer
        assert work.brief is not None
        assert f"{len(word)} letter" in work.brief


def test_one_letter_is_counted() -> None:
    for word, work in works("_count_one"):
        letter = str(work.fills["l"]).strip("\"'").lower()
        entries = word.lower().count(letter)
        assert work.brief is not None
        assert (f"{letters.times(entries)}." in work.brief) if entries else "no" in work.brief


def test_case_of_lines() -> None:
    assert all(work.answer == text.upper() for text, work in works("text_upper"))
    assert all(work.answer == text.lower() for text, work in works("text_lower"))


def test_words_are_counted_and_reversed() -> None:
    for text, work in works("text_count"):
        assert f"{len(text.split())} word" in work.answer
    for text, work in works("text_backwards"):
        assert work.answer.split()[::-1] == text.split()


def test_replacing_and_removing_words() -> None:
    for text, work in works("text_exchange"):
        old, new = str(work.fills["w"]), str(work.fills["n"])
        assert work.answer.split() == [new if word == old else word for word in text.split()]
    for text, work in works("text_without"):
        assert work.answer.split() == [word for word in text.split() if word != work.fills["w"]]


def test_lists_are_sorted_and_reversed() -> None:
    random, done = Random(1), 0
    for _ in range(2000):
        entries = lists.items(random)
        for change in lists.LIST_CHANGES:
            if change.numbers is not None and change.numbers != lists.numeric(entries):
                continue
            work = change.work(random, entries)
            name = change.work.__name__
            if work is None:
                continue
            if name == "_reverse":
                assert work.outcome == entries[::-1]
            elif name == "_sorted":
                assert work.outcome == sorted(entries, key=str.casefold)
            elif name == "_numbers_up":
                assert work.outcome == sorted(entries, key=int)
            elif name == "_numbers_down":
                assert work.outcome == sorted(entries, key=int, reverse=True)
            elif name == "_count":
                assert str(len(entries)) in work.answer
            elif name == "_bullets":
                assert work.answer.split("\n") == [f"- {one}" for one in entries]
            else:
                continue
            done += 1
    assert done > 5000


def test_a_request_names_what_it_is_about() -> None:
    random = Random(2)
    for _ in range(1500):
        scene = rewriting.draw(random)
        assert all(turn.exact for turn in scene.turns)
