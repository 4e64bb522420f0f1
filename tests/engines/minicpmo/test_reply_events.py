"""Pieces of a reply as events, and its last figures."""

from duologue.engines.minicpmo.reply_events import LONGEST_PIECE, ReplyEvents, without_special
from duologue.engines.minicpmo.reply_methods import Written
from duologue.values.events import AudioDelta, Done, Prefilled, ReasoningDelta, TextDelta


def reply(*stops: str, most: int = 100) -> ReplyEvents:
    return ReplyEvents(10.0, 40, most, stops)


def test_control_tokens_are_left_out_and_other_markup_is_not():
    assert without_special("<|tts_bos|>Hi<|tts_eos|><|im_end|>") == "Hi"
    assert without_special("a <|b c|> <div> |x|") == "a <|b c|> <div> |x|"


def test_text_goes_before_the_sound_that_says_it():
    events = reply().feed(Written("Hello <|tts_eos|>", b"\1\0"), 11.0)
    assert events[0] == TextDelta("Hello ")
    assert events[1] == AudioDelta(b"\1\0")


def test_long_sound_comes_in_pieces_of_a_second():
    events = reply().feed(Written("", bytes(LONGEST_PIECE * 2 + 4)), 11.0)
    assert [len(event.pcm) for event in events] == [LONGEST_PIECE, LONGEST_PIECE, 4]


def test_thoughts_are_split_from_the_answer():
    made = reply()
    events = [*made.feed(Written("<thi"), 11.0), *made.feed(Written("nk>So.</think>\n\nYes"), 12.0)]
    events += made.finished(13.0, 5)
    assert [event for event in events if isinstance(event, ReasoningDelta)] == [ReasoningDelta("So.")]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Yes"
    assert events[-1].usage.reasoning == 1
    assert events[-1].usage.estimated


def test_a_stop_string_may_be_cut_between_pieces():
    made = reply("END")
    events = made.feed(Written("one EN", b"\1\0"), 11.0)
    assert made.stop is None
    events += made.feed(Written("D two", b"\2\0"), 12.0)
    assert made.stop == "END"
    events += made.finished(13.0, 4)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one "
    assert [event.pcm for event in events if isinstance(event, AudioDelta)] == [b"\1\0"]
    assert isinstance(events[-1], Done)
    assert (events[-1].finish, events[-1].stop) == ("stop", "END")


def test_half_a_stop_string_at_the_end_is_text():
    made = reply("END")
    events = [*made.feed(Written("one EN"), 11.0), *made.finished(12.0, 2)]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one EN"


def test_counts_and_times_are_the_models_where_it_tells_them():
    made = reply()
    assert made.prefilled(10.5, 33, ("length_penalty",)) == Prefilled(33, ignored=("length_penalty",))
    made.feed(Written("Hi"), 11.0)
    done = made.finished(12.0, 7)[-1]
    assert (done.usage.input, done.usage.output, done.usage.estimated) == (33, 7, False)
    assert (done.timings.prefill, done.timings.first, done.timings.generate) == (500.0, 1000.0, 1500.0)


def test_without_them_they_are_estimated():
    made = reply()
    assert made.prefilled(10.5, None) == Prefilled(None)
    made.feed(Written("Hello you there."), 11.0)
    done = made.finished(12.0, None)[-1]
    assert (done.usage.input, done.usage.output, done.usage.estimated) == (40, 5, True)


def test_a_reply_that_ran_into_its_limit_says_so():
    for generated, unfinished, finish in ((100, False, "length"), (10, True, "length"), (99, False, "stop")):
        made = reply()
        made.feed(Written("Hi", unfinished=unfinished), 11.0)
        assert made.finished(12.0, generated)[-1].finish == finish
