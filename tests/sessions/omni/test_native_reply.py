"""The words of a reply that a model speaks: where each is in its sound, also where a unit ends within one."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.scripted.speaker import tone
from duologue.sessions.omni.native_reply import NativeReply
from duologue.turns.playout import Playout
from duologue.values.events import ReplyWord

SECOND = bytes(2 * 24_000)
TONE = tone(220, 24_000)


def test_the_words_of_a_unit_share_its_sound_by_their_letters():
    reply = NativeReply(1)
    words = reply.add("one three ", SECOND)
    assert words == (ReplyWord("one", 0, 9600, 0, 3), ReplyWord("three", 9600, 24_000, 4, 9))
    assert (reply.length, reply.waiting, reply.written) == (24_000, 24_000, "one three ")


def test_a_word_that_goes_on_in_the_next_unit_is_heard_when_it_has_ended():
    reply = NativeReply(1)
    assert reply.add("good mor", SECOND) == (ReplyWord("good", 0, 13_333, 0, 4),)
    [morning, you] = reply.add("ning you ", SECOND)
    assert (morning.text, morning.start, morning.at, morning.to) == ("morning", 13_333, 5, 12)
    assert 24_000 < morning.end < you.end == 48_000


def test_a_word_at_the_end_of_a_unit_is_whole_where_the_next_begins_with_a_space():
    reply = NativeReply(1)
    assert reply.add(" good", SECOND) == ()
    assert [word.text for word in reply.add(" day", SECOND)] == ["good"]
    [day] = reply.add("", SECOND, last=True)
    assert (day.text, day.end) == ("day", 48_000)
    assert reply.complete
    assert reply.finished


def test_the_mouth_follows_the_letters_of_each_unit():
    reply = NativeReply(1, mouth=True, language="en")
    reply.add("bump bo", TONE)
    first = reply.take(24_000).mouth
    reply.add("mb.", TONE, last=True)
    keys = (*first, *reply.take(24_000).mouth, *reply.keys())
    assert [key.at for key in keys] == sorted({key.at for key in keys})
    assert first
    assert first[-1].at < 24_000
    assert max(key.press for key in keys if key.at >= 24_000) == 100
    assert keys[-1].press == 0


def test_a_silent_unit_leaves_the_mouth_shut():
    reply = NativeReply(1, mouth=True, language="en")
    reply.add("bump ", SECOND, last=True)
    assert (reply.take(24_000).mouth, reply.keys()) == ((), ())


def test_text_waits_for_its_sound():
    reply = NativeReply(1)
    assert reply.add("one ", b"") == ()
    assert [word.text for word in reply.add("two ", SECOND)] == ["one", "two"]
    assert reply.take(24_000).text == "one two"
    reply.add("and not said", b"", last=True)
    assert reply.rest() == " and not said"


def test_nothing_follows_the_end():
    reply = NativeReply(1)
    reply.add("one", SECOND, last=True)
    assert reply.add("two", SECOND) == ()
    assert (reply.written, reply.length) == ("one", 24_000)


@given(
    st.lists(st.tuples(st.text("ab .,", max_size=9), st.integers(0, 3000)), max_size=8), st.integers(0, 9000)
)
def test_what_was_heard_is_a_beginning_of_what_was_written_and_whole_at_the_end(units, position):
    reply, playout = NativeReply(1), Playout()
    for text, count in units:
        playout.write(text)
        playout.add_sound(reply.length, reply.add(text, bytes(2 * count)))
        playout.add_sound(reply.length)
    words = reply.add("", b"", last=True)
    playout.add_sound(reply.length, words)
    heard, unheard = playout.heard(position)
    assert heard + unheard == reply.written
    playout.finish()
    assert playout.heard(reply.length) == (reply.written, "")
    starts = [word.start for word in playout.words]
    ends = [word.end for word in playout.words]
    assert starts == sorted(starts)
    assert ends == sorted(ends)
    assert all(reply.written[word.at : word.to] == word.text for word in playout.words)
    pieces = [reply.take(700) for _ in range(reply.length // 700 + 1)]
    assert "".join(piece.text for piece in pieces) + reply.rest() == reply.written
