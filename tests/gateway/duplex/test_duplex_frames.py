"""Units of a duplex session: what sounds in each, that nothing is lost, repeated or stale, and how lateness is met."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.gateway.duplex.duplex_frames import MAX_WAIT, START_DELAY, DuplexBuffer
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.duplex import ChunkResult, HeardTurn
from duologue.values.events import ReplyWord
from duologue.values.mouth import MouthKey

SECOND = HEARD_RATE


def sound(seconds: float, value: int = 1) -> bytes:
    return value.to_bytes(2, "little") * round(seconds * SPOKEN_RATE)


def length(pcm: bytes) -> float:
    return len(pcm) / 2 / SPOKEN_RATE


def saying(
    reply: int, text: str, seconds: float, *, epoch: int = 0, ends: bool = True
) -> list[call_events.CallEvent]:
    """A reply of which all sound comes at once; its words share the time."""
    words, at = [], 0
    each = round(seconds * SPOKEN_RATE / len(text.split()))
    for number, word in enumerate(text.split()):
        at = text.index(word, at)
        words.append(ReplyWord(word, number * each, (number + 1) * each, at, at + len(word.rstrip(".,"))))
    events: list[call_events.CallEvent] = [
        call_events.State(epoch, "speaking"),
        call_events.ReplyAudioStarted(epoch, reply),
        call_events.ReplyText(epoch, reply, text),
        call_events.ReplyAudio(epoch, reply, sound(seconds), tuple(words)),
    ]
    ending: list[call_events.CallEvent] = [
        call_events.ReplyText(epoch, reply, "", final=True),
        call_events.ReplyAudioEnded(epoch, reply, 0),
    ]
    return [*events, *ending] if ends else events


class Client:
    """Sends a piece each second, and plays."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.buffer = DuplexBuffer()
        self.seconds = seconds
        self.at = 100.0

    def sends(self, *, forced: bool = False, images: int = 0) -> ChunkResult:
        """The next piece, and its answer."""
        self.at += self.seconds
        self.buffer.add_chunk(round(self.seconds * SECOND), self.at, force_listen=forced, images=images)
        [result] = self.buffer.due(self.at, all=True)
        return result


def test_who_is_listened_to_hears_nothing():
    result = Client().sends(images=2)
    assert result.is_listen
    assert result.pcm == b""
    assert result.text == ""
    assert not result.end_of_turn
    assert result.images == 2


def test_a_reply_is_given_second_by_second_with_the_words_that_begin_in_each():
    client = Client()
    client.buffer.take(saying(1, "One two, three four five.", 2.5))
    first, second, third, fourth = (client.sends() for _ in range(4))
    assert [round(length(result.pcm), 3) for result in (first, second, third)] == [1.0, 1.0, 0.5]
    assert [result.text for result in (first, second, third)] == ["One two,", " three four", " five."]
    assert [result.end_of_turn for result in (first, second, third)] == [False, False, True]
    assert not any(result.is_listen for result in (first, second, third))
    assert fourth.is_listen
    assert not fourth.end_of_turn


def test_the_keys_of_a_mouth_are_given_once_with_the_place_of_the_sound_in_the_reply():
    client = Client()
    client.buffer.mouth = True
    keys = (MouthKey(0), MouthKey(4800, 80))
    client.buffer.take(
        [
            call_events.State(0, "speaking"),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyAudio(0, 1, sound(2.5), (), keys),
        ]
    )
    first, second = client.sends(), client.sends()
    assert (first.first, first.mouth) == (0, keys)
    assert (second.first, second.mouth) == (SPOKEN_RATE, ())
    client.buffer.take([call_events.ReplyAudio(0, 1, b"", (), keys), call_events.Cut(1, 1)])
    assert client.sends().mouth == ()


def test_a_client_that_draws_no_mouth_is_told_no_places():
    client = Client()
    client.buffer.take(saying(1, "One two.", 1))
    assert client.sends().first is None


def test_without_word_times_the_text_comes_with_its_sound():
    client = Client()
    client.buffer.take(
        [
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello there."),
            call_events.ReplyAudio(0, 1, sound(1.5)),
        ]
    )
    assert client.sends().text == "Hello there."


def test_silence_inside_a_reply_is_not_sent():
    client = Client()
    client.buffer.take(
        [
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyAudio(0, 1, sound(1, 0)),
            call_events.ReplyAudio(0, 1, sound(1)),
        ]
    )
    result = client.sends()
    assert result.pcm == b""
    assert not result.is_listen
    assert client.sends().pcm == sound(1)


def test_a_reply_without_anything_to_speak_is_shown():
    client = Client()
    client.buffer.take([call_events.ReplyText(0, 1, "```", final=True)])
    result = client.sends()
    assert (result.text, result.end_of_turn, result.is_listen) == ("```", True, False)
    assert client.sends().is_listen


def test_the_rest_of_a_reply_that_was_cut_is_never_given():
    client = Client()
    client.buffer.take(saying(1, "One two three four.", 4, ends=False))
    client.sends()
    client.buffer.take(
        [call_events.Cut(1, 1), call_events.ReplyAudio(0, 1, sound(1)), call_events.ReplyAudioEnded(0, 1, 9)]
    )
    result = client.sends()
    assert result.is_listen
    assert result.end_of_turn
    assert result.pcm == b""
    client.buffer.take(saying(2, "Yes.", 0.5, epoch=1))
    assert client.sends().text == "Yes."


def test_an_answer_that_takes_over_at_once_says_so_and_ends_no_turn_of_its_own():
    client = Client()
    client.buffer.take(saying(1, "One two three four.", 4))
    client.sends()
    client.buffer.take([call_events.Cut(1, 1), *saying(2, "Yes of course.", 2, epoch=1)])
    first, second = client.sends(), client.sends()
    assert (first.interrupted, first.end_of_turn, first.reply) == (True, False, 2)
    assert (second.interrupted, second.end_of_turn) == (False, True)


def test_a_reply_cut_before_anything_of_it_was_given_ends_no_turn():
    client = Client()
    client.buffer.take(saying(1, "One.", 1))
    client.buffer.take([call_events.Cut(1, 1)])
    assert not client.sends().end_of_turn


def test_a_held_reply_waits_and_goes_on_from_there():
    client = Client()
    client.buffer.take(saying(1, "One two three.", 3))
    client.sends()
    client.buffer.take([call_events.Hold(0, 1)])
    held = client.sends()
    # A client that hears of listening would end the turn, and begin another one with the rest of the reply.
    assert not held.is_listen
    assert (held.held, held.reply, held.pcm, held.text) == (True, 1, b"", "")
    # What it was given, it plays: this protocol cannot take it back.
    assert client.buffer.played(client.at) == call_events.Played(1, SPOKEN_RATE)
    client.buffer.take([call_events.Resume(0, 1)])
    resumed = client.sends()
    assert (resumed.text, resumed.reply, resumed.held, resumed.is_listen) == (" two", 1, False, False)


def test_a_reply_held_before_any_of_it_was_sent_is_listening():
    client = Client()
    client.buffer.take([*saying(1, "One two three.", 3), call_events.Hold(0, 1)])
    held = client.sends()
    assert (held.is_listen, held.held, held.reply) == (True, True, None)


def test_a_held_reply_that_is_cut_ends():
    client = Client()
    client.buffer.take(saying(1, "One two three.", 3))
    client.sends()
    client.buffer.take([call_events.Hold(0, 1)])
    client.sends()
    client.buffer.take([call_events.Cut(1, 1)])
    cut = client.sends()
    assert (cut.is_listen, cut.end_of_turn, cut.held) == (True, True, False)


def test_a_forced_unit_listens_and_says_what_was_heard():
    client = Client()
    client.buffer.take(saying(1, "One two three.", 3))
    client.sends()
    interrupt = client.buffer.interrupt(client.at + START_DELAY + 0.5)
    assert interrupt == call_events.Interrupt(1, SPOKEN_RATE // 2)
    result = client.sends(forced=True)
    assert result.is_listen
    assert result.end_of_turn
    client.buffer.take([call_events.ReplyAudio(0, 1, sound(1))])
    assert client.sends().pcm == b""


def test_who_is_thinking_can_be_interrupted_and_who_listens_cannot():
    buffer = DuplexBuffer()
    assert buffer.interrupt(0.0) is None
    buffer.take([call_events.State(0, "thinking")])
    assert buffer.interrupt(0.0) == call_events.Interrupt()


def test_an_aside_comes_between_two_parts_of_a_reply():
    client = Client()
    client.buffer.take(saying(1, "One.", 1, ends=False))
    client.sends()
    client.buffer.take(saying(2, "Moment.", 1))
    aside = client.sends()
    assert (aside.text, aside.reply) == ("Moment.", 2)
    client.buffer.take(
        [
            call_events.ReplyText(0, 1, " Two."),
            call_events.ReplyAudio(0, 1, sound(1)),
            call_events.ReplyAudioEnded(0, 1, 0),
        ]
    )
    rest = client.sends()
    assert (rest.text, rest.reply, rest.end_of_turn) == (" Two.", 1, True)


def test_the_callers_words_come_once():
    client = Client()
    client.buffer.take([call_events.Transcribed(0, 1, "Good", final=False)])
    client.buffer.take([call_events.Transcribed(0, 1, "Good day", final=True)])
    assert client.sends().transcripts == (HeardTurn(1, "Good day"),)
    assert client.sends().transcripts == ()


def test_the_callers_words_come_before_the_reply_to_them_and_name_the_same_turn():
    client = Client()
    client.buffer.take(
        [
            call_events.ReplyRequested(0, 7, 3, 1, "Good day"),
            call_events.TurnConfirmed(0, 7),
            call_events.ReplyAudioStarted(0, 7),
        ]
    )
    before = client.sends()
    client.buffer.take(saying(7, "Hello you.", 2))
    # The session's own transcript comes once the reply is heard: it is the same turn, and told once.
    client.buffer.take([call_events.Transcribed(0, 3, "Good day", final=True)])
    reply = client.sends()
    assert (before.transcripts, before.reply) == ((HeardTurn(3, "Good day"),), None)
    assert (reply.transcripts, reply.reply, reply.turn) == ((), 7, 3)


def test_a_reply_that_is_taken_back_before_the_turn_ended_says_nothing_of_it():
    client = Client()
    client.buffer.take([call_events.ReplyRequested(0, 1, 1, 1, "What can"), call_events.CancelReply(0, 1)])
    assert client.sends().transcripts == ()
    client.buffer.take(
        [call_events.ReplyRequested(0, 2, 1, 2, "What can you do"), call_events.TurnConfirmed(0, 2)]
    )
    assert client.sends().transcripts == (HeardTurn(1, "What can you do"),)


def test_a_turn_that_goes_on_is_told_again_with_all_its_words():
    client = Client()
    for reply, text in ((1, "Good day"), (2, "Good day to you")):
        client.buffer.take(
            [call_events.ReplyRequested(0, reply, 1, 1, text), call_events.TurnConfirmed(0, reply)]
        )
    client.buffer.take([call_events.Transcribed(0, 1, "Good day to you", final=True)])
    assert client.sends().transcripts == (HeardTurn(1, "Good day to you"),)


def test_it_replies_from_the_thought_to_the_last_sound():
    client = Client()
    assert not client.buffer.is_replying
    client.buffer.take([call_events.State(0, "thinking")])
    assert client.buffer.is_replying
    client.buffer.take([*saying(1, "One two.", 1.5), call_events.State(0, "listening")])
    client.sends()
    assert client.buffer.is_replying
    client.sends()
    assert not client.buffer.is_replying


# When it is answered


def test_a_piece_is_answered_at_once_while_nothing_is_expected():
    buffer = DuplexBuffer()
    buffer.add_chunk(SECOND, 1.0)
    assert len(buffer.due(1.0)) == 1


def test_a_piece_waits_a_moment_for_the_reply_that_is_near():
    buffer = DuplexBuffer()
    buffer.take([call_events.State(0, "thinking")])
    buffer.add_chunk(SECOND, 1.0)
    assert buffer.due(1.0) == []
    assert buffer.next_due == 1.0 + MAX_WAIT
    buffer.take(saying(1, "Yes of course.", 2))
    [result] = buffer.due(1.2)
    assert length(result.pcm) == 1.0


def test_it_does_not_wait_for_longer_than_half_of_itself():
    buffer = DuplexBuffer()
    buffer.take([call_events.State(0, "thinking")])
    buffer.add_chunk(SECOND // 5, 1.0)
    assert buffer.due(1.05) == []
    [result] = buffer.due(1.1)
    assert result.is_listen


def test_the_next_piece_answers_the_one_before():
    buffer = DuplexBuffer()
    buffer.take([call_events.State(0, "hearing")])
    buffer.add_chunk(SECOND, 1.0)
    buffer.add_chunk(SECOND, 1.3)
    [result] = buffer.due(1.3)
    assert result.number == 1
    assert buffer.unanswered == 1


def test_a_beginning_that_cannot_go_on_is_kept_for_the_next_piece():
    client = Client()
    client.buffer.take([call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, sound(0.1))])
    assert client.sends().is_listen
    client.buffer.take([call_events.ReplyAudio(0, 1, sound(2))])
    assert length(client.sends().pcm) == 1.0


# What was played


def test_playing_is_reckoned_from_what_was_given():
    client = Client()
    client.buffer.take(saying(1, "One two.", 1.5))
    client.sends()
    assert client.buffer.played(client.at) == call_events.Played(1, 0)
    assert client.buffer.played(client.at + START_DELAY + 0.25) == call_events.Played(1, SPOKEN_RATE // 4)
    client.sends()
    assert client.buffer.played(client.at + 5) == call_events.Played(1, SPOKEN_RATE * 3 // 2)
    assert not client.buffer.is_playing
    assert client.buffer.played(client.at + 6) is None


# Late pieces


def test_pieces_that_come_together_are_heard_and_given_no_more_than_time_allows():
    client = Client()
    buffer = client.buffer
    buffer.take(saying(1, "One two three four five six.", 6))
    client.sends()
    for late in range(3):
        arrival = buffer.add_chunk(SECOND, client.at + 4.0)
        assert arrival.heard
        assert round(arrival.lag, 3) == 3.0 - late
    given = buffer.due(client.at + 4.0, all=True)
    assert sum(length(result.pcm) for result in given) <= 1.0 + 2 * START_DELAY
    assert [result.arrival.lag > 0 for result in given] == [True, True, True]


def test_what_lies_far_back_is_not_listened_to():
    client = Client()
    client.sends()
    arrivals = [client.buffer.add_chunk(SECOND, client.at + 10.0) for _ in range(9)]
    assert [arrival.heard for arrival in arrivals] == [True, *[False] * 3, *[True] * 5]
    assert arrivals[-1].lag == 1.0


def test_a_gap_that_stays_one_is_forgiven():
    client = Client()
    client.sends()
    client.at += 9
    lags = [client.sends().arrival.lag for _ in range(6)]
    assert [lag > 0 for lag in lags] == [True] * 4 + [False] * 2
    assert all(result.arrival.heard for result in [client.sends()])


def test_after_a_pause_nobody_is_late():
    client = Client()
    client.sends()
    client.buffer.pause()
    client.at += 60
    assert client.sends().arrival.lag == 0


# Laws

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.floats(0.1, 3.0)),
        st.tuples(st.just("begin"), st.floats(0.1, 3.0)),
        st.tuples(st.just("cut"), st.just(0.0)),
        st.tuples(st.just("hold"), st.just(0.0)),
        st.tuples(st.just("resume"), st.just(0.0)),
        st.tuples(st.just("interrupt"), st.just(0.0)),
        st.tuples(st.just("piece"), st.sampled_from([0.2, 0.5, 1.0, 2.0])),
        st.tuples(st.just("forced"), st.sampled_from([0.2, 1.0])),
        st.tuples(st.just("burst"), st.just(1.0)),
        st.tuples(st.just("wait"), st.floats(0.0, 3.0)),
    ),
    max_size=40,
)


@settings(max_examples=200)
@given(EVENTS)
def test_whatever_happens_every_piece_has_one_answer_and_no_dead_reply_speaks(
    events: list[tuple[str, float]],
):
    buffer, at, reply, epoch = DuplexBuffer(), 0.0, 0, 0
    marks: dict[Any, Any] = {}
    dead: set[int] = set()
    sent = 0
    answers: list[ChunkResult] = []
    made: dict[int, int] = {}
    given_to: dict[int, int] = {}
    for kind, amount in events:
        match kind:
            case "say" | "begin":
                reply += 1
                made[reply] = round(amount * SPOKEN_RATE)
                buffer.take(saying(reply, "a bc d.", amount, epoch=epoch, ends=kind == "say"))
            case "cut" if reply:
                epoch += 1
                dead.add(reply)
                buffer.take([call_events.Cut(epoch, reply)])
            case "hold":
                buffer.take([call_events.Hold(epoch, reply)])
            case "resume":
                buffer.take([call_events.Resume(epoch, reply)])
            case "interrupt":
                buffer.interrupt(at)
                dead |= set(made)
            case "piece" | "forced" | "burst":
                at += 0 if kind == "burst" else amount
                sent += 1
                buffer.add_chunk(round(amount * SECOND), at, force_listen=kind == "forced")
            case "wait":
                at += amount
        new = buffer.due(at)
        for result in new:
            assert result.reply is None or not result.pcm or result.reply not in dead
            assert not (result.force_listen and result.pcm)
            if result.reply is not None:
                given_to[result.reply] = given_to.get(result.reply, 0) + len(result.pcm) // 2
        answers += new
        if (mark := buffer.played(at)) is not None:
            assert mark.samples >= marks.get(mark.reply, 0)
            assert mark.samples <= made[mark.reply]
            marks[mark.reply] = mark.samples
    answers += buffer.due(at, all=True)
    assert [result.number for result in answers] == list(range(1, sent + 1))
    assert all(given_to[number] <= made[number] for number in given_to)


@given(st.lists(st.floats(0.05, 2.0), min_size=1, max_size=6), st.sampled_from([0.2, 0.5, 1.0]))
def test_all_of_every_reply_is_given_once_in_order(lengths: list[float], seconds: float):
    client = Client(seconds)
    for number, each in enumerate(lengths, start=1):
        client.buffer.take(saying(number, f"reply {number}.", each))
        text, given_to = "", 0
        for _ in range(100):
            result = client.sends()
            text += result.text
            given_to += len(result.pcm) // 2
            if result.end_of_turn:
                break
        assert text == f"reply {number}."
        assert given_to == round(each * SPOKEN_RATE)


def test_what_the_client_has_of_a_cut_reply_it_plays_on():
    client = Client()
    client.buffer.take(saying(1, "One two three four.", 4))
    given = client.sends()
    cut = [call_events.Cut(1, 1), call_events.Cut(1, 7)]
    assert client.buffer.left_playing(cut) == [call_events.Played(1, len(given.pcm) // 2)]
    client.buffer.take(cut)
    assert client.buffer.left_playing(cut) == []


def test_of_a_reply_that_the_client_stopped_nothing_plays_on():
    client = Client()
    client.buffer.take(saying(1, "One two three four.", 4))
    client.sends()
    client.buffer.interrupt(client.at)
    assert client.buffer.left_playing([call_events.Cut(1, 1)]) == []
