"""Replies that were spoken are known by the ids of their sound, for a while and to their own user."""

from duologue.gateway.dialects import audio_ids
from duologue.gateway.dialects.audio_ids import LASTS, SpokenReplies


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_reply_is_known_to_its_user_until_it_expires():
    clock = Clock()
    replies = SpokenReplies(clock)
    sounding = replies.new()
    assert sounding.expires == 1000 + LASTS
    assert replies.of("ada") == {}
    replies.keep("ada", sounding, "Hello.")
    assert replies.of("ada") == {sounding.id: "Hello."}
    assert replies.of("bob") == {}
    clock.now += LASTS
    assert replies.of("ada") == {}


def test_the_oldest_goes_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(audio_ids, "KEPT", 2)
    replies = SpokenReplies(Clock())
    ids = []
    for number in range(3):
        sounding = replies.new()
        ids.append(sounding.id)
        replies.keep("ada", sounding, str(number))
    assert list(replies.of("ada")) == ids[1:]


def test_the_oldest_goes_when_their_texts_are_too_long(monkeypatch):
    monkeypatch.setattr(audio_ids, "CHARACTERS", 10)
    replies, ids = SpokenReplies(Clock()), []
    for text in ("aaaa", "bbbb", "cccc", "dddd"):
        sounding = replies.new()
        ids.append(sounding.id)
        replies.keep("ada", sounding, text)
    assert list(replies.of("ada")) == ids[2:]


def test_what_has_expired_takes_no_room(monkeypatch):
    monkeypatch.setattr(audio_ids, "CHARACTERS", 10)
    clock = Clock()
    replies = SpokenReplies(clock)
    replies.keep("ada", replies.new(), "a" * 8)
    clock.now += LASTS
    assert replies.of("ada") == {}
    later, last = replies.new(), replies.new()
    replies.keep("ada", later, "b" * 5)
    replies.keep("ada", last, "c" * 5)
    assert list(replies.of("ada")) == [later.id, last.id]
