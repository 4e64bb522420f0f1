"""Replies that were spoken are known by the ids of their sound, for a while and to their own user."""

from duologue.gateway.dialects import audio_ids
from duologue.gateway.dialects.audio_ids import LIFETIME, AudioIds


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_reply_is_known_to_its_user_until_it_expires():
    clock = Clock()
    replies = AudioIds(clock)
    audio_id = replies.new()
    assert audio_id.expires == 1000 + LIFETIME
    assert replies.texts_of("ada") == {}
    replies.remember("ada", audio_id, "Hello.")
    assert replies.texts_of("ada") == {audio_id.id: "Hello."}
    assert replies.texts_of("bob") == {}
    clock.now += LIFETIME
    assert replies.texts_of("ada") == {}


def test_the_oldest_goes_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(audio_ids, "MAX_IDS", 2)
    replies = AudioIds(Clock())
    ids = []
    for number in range(3):
        audio_id = replies.new()
        ids.append(audio_id.id)
        replies.remember("ada", audio_id, str(number))
    assert list(replies.texts_of("ada")) == ids[1:]


def test_the_oldest_goes_when_their_texts_are_too_long(monkeypatch):
    monkeypatch.setattr(audio_ids, "MAX_CHARACTERS", 10)
    replies, ids = AudioIds(Clock()), []
    for text in ("aaaa", "bbbb", "cccc", "dddd"):
        audio_id = replies.new()
        ids.append(audio_id.id)
        replies.remember("ada", audio_id, text)
    assert list(replies.texts_of("ada")) == ids[2:]


def test_what_has_expired_takes_no_room(monkeypatch):
    monkeypatch.setattr(audio_ids, "MAX_CHARACTERS", 10)
    clock = Clock()
    replies = AudioIds(clock)
    replies.remember("ada", replies.new(), "a" * 8)
    clock.now += LIFETIME
    assert replies.texts_of("ada") == {}
    later, last = replies.new(), replies.new()
    replies.remember("ada", later, "b" * 5)
    replies.remember("ada", last, "c" * 5)
    assert list(replies.texts_of("ada")) == [later.id, last.id]
