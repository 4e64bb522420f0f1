"""Replies that were spoken are known by the ids of their sound, for a while and to their own user."""

from duologue.gateway import spoken_replies
from duologue.gateway.spoken_replies import LASTS, SpokenReplies


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
    monkeypatch.setattr(spoken_replies, "KEPT", 2)
    replies = SpokenReplies(Clock())
    ids = []
    for number in range(3):
        sounding = replies.new()
        ids.append(sounding.id)
        replies.keep("ada", sounding, str(number))
    assert list(replies.of("ada")) == ids[1:]
