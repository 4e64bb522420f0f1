"""What becomes of media for a model that may not take them, and what the frames of videos may cost."""

import pytest

from duologue.values.fitting import (
    HeardSound,
    MediaBudget,
    SoundBudget,
    frame_budget,
    has_media,
    picture_megapixels,
    refused,
    sound_budget,
    too_long,
    treatment,
    unheard,
)
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart, user
from duologue.values.requests import ChatRequest, ModelCard

TEXT, SEES, HEARS = ("text",), ("text", "image"), ("text", "audio")
OMNI = ("text", "image", "audio")


@pytest.mark.parametrize(
    ("kind", "takes", "hears", "expected"),
    [
        ("image", SEES, False, "keep"),
        ("image", TEXT, True, "refuse"),
        ("audio", HEARS, False, "keep"),
        ("audio", TEXT, True, "transcribe"),
        ("audio", TEXT, False, "refuse"),
        ("video", ("text", "video"), False, "keep"),
        ("video", SEES, True, "frames"),
        ("video", OMNI, False, "frames_and_sound"),
        ("video", HEARS, True, "refuse"),
        ("video", TEXT, True, "refuse"),
    ],
)
def test_each_kind_has_one_treatment(kind, takes, hears, expected):
    assert treatment(kind, takes, hears=hears) == expected


def test_a_sample_of_a_voice_is_never_part_of_a_prompt():
    for takes in (TEXT, OMNI):
        assert treatment("audio", takes, hears=True, is_sample=True) == "leave_out"
    request = ChatRequest((Message("system", (AudioPart(bytes(4)),)), user("hi")))
    assert refused(ModelCard("m", "e", 1), request, hears=False) is None


def test_what_is_refused_is_named_with_the_one_code():
    request = ChatRequest((user("hi"), Message("user", (TextPart("look"), VideoPart(b"x")))))
    lack = refused(ModelCard("m", "e", 1), request, hears=True)
    assert lack is not None
    assert (lack.param, lack.code) == ("messages[1].content[1]", "modality_unsupported")
    assert refused(ModelCard("m", "e", 1, modalities=SEES), request, hears=False) is None


def test_a_request_of_words_has_no_media():
    assert not has_media(ChatRequest((user("hi"),)))
    assert has_media(ChatRequest((Message("user", (ImagePart(b"x"),)),)))


def test_frames_are_what_the_length_gives_up_to_the_most():
    budget = MediaBudget()
    assert frame_budget(0, 1, 3.0, 1.0, budget).frames == 3
    assert frame_budget(0, 1, 3.0, 2.0, budget).frames == 6
    assert frame_budget(0, 1, 600.0, 1.0, budget).frames == 64
    assert frame_budget(0, 2, 600.0, 1.0, budget).frames == 32, "two videos share"
    assert frame_budget(0, 1, 0.0, 1.0, budget).frames == 1
    assert frame_budget(0, 1, 3.0, 1.0, budget).megapixels == 0.6


def test_a_small_context_makes_frames_smaller_first_and_fewer_then():
    budget = MediaBudget()
    assert frame_budget(16_384, 1, 600.0, 1.0, budget).frames == 32
    few = frame_budget(16_384, 1, 10.0, 1.0, budget)
    assert (few.frames, few.megapixels) == (10, 0.6)
    some = frame_budget(16_384, 1, 20.0, 1.0, budget)
    assert some.frames == 20
    assert 0.1 <= some.megapixels < 0.6
    assert frame_budget(256, 1, 20.0, 1.0, budget).frames == 1


def test_many_pictures_share_the_pixels_of_a_request():
    budget = MediaBudget()
    assert picture_megapixels(1, budget) == 4.0
    assert picture_megapixels(32, budget) == 2.0


def test_a_picture_of_low_detail_has_512_by_512_pixels_at_most():
    assert picture_megapixels(1, MediaBudget(), "low") == 0.262144
    assert picture_megapixels(1, MediaBudget(image_megapixels=0.1), "low") == 0.1
    assert picture_megapixels(1, MediaBudget(), "high") == 4.0


# Sound that a model hears

ROOM = SoundBudget(share=100, most=300)
DEEP = ModelCard("deep", "scripted", 6000, modalities=OMNI)


def sounds(*seconds: float, at_hand: int = 0) -> list[HeardSound]:
    """Sounds of as many messages; the last `at_hand` of them were not answered yet."""
    new = len(seconds) - at_hand
    return [HeardSound((number, 0), each, number >= new) for number, each in enumerate(seconds)]


def silent(heard: list[HeardSound]) -> list[int]:
    return sorted(message for message, _ in unheard(heard, ROOM))


def test_sounds_that_fit_are_all_heard():
    assert silent(sounds(30, 30, 40)) == []
    assert silent(sounds(30, 30, 40, at_hand=2)) == []
    assert silent([]) == []


def test_the_oldest_sounds_give_way_first():
    assert silent(sounds(50, 50, 50, at_hand=1)) == [0]
    assert silent(sounds(50, 50, 50)) == [0]
    assert silent(sounds(20, 90, 50, at_hand=1)) == [1], "one that fits is still heard"


def test_what_is_at_hand_is_heard_and_so_is_a_long_recording_on_the_turns_after_its_own():
    assert silent(sounds(10, 250, at_hand=1)) == [0]
    assert silent(sounds(10, 250)) == [0]
    assert silent(sounds(250, 10)) == [0], "until there is a newer one"
    assert silent(sounds(301)) == [0], "the limit was lowered, or the model changed"


def test_the_sound_of_a_video_gives_way_even_at_hand():
    film = HeardSound((1, 1), 80, at_hand=True, of_video=True)
    assert silent([*sounds(10, 20, at_hand=1), film]) == [0]
    assert silent([*sounds(10, 30, at_hand=1), film]) == [1]
    assert unheard([HeardSound((0, 0), 101, at_hand=True, of_video=True)], ROOM) == {(0, 0)}


def test_room_for_sound_comes_of_the_context_and_the_setting():
    assert sound_budget(0, MediaBudget(sound_minutes=2)) == SoundBudget(120, 120)
    assert sound_budget(6000, MediaBudget()) == SoundBudget(6000 * 0.4 / 25, 1000)
    assert sound_budget(6000, MediaBudget(sound_minutes=1)) == SoundBudget(60, 60)


def test_sound_at_hand_that_cannot_fit_is_told_with_what_to_do():
    assert too_long(sounds(2000, 900, at_hand=1), DEEP, MediaBudget()) is None
    long = too_long(sounds(2000, 900, 101, at_hand=2), DEEP, MediaBudget())
    assert long is not None
    assert (long.code, long.param) == ("sound_too_long", "messages[2].content[0]")
    assert "larger context" in long.message
    limited = too_long(sounds(61, at_hand=1), DEEP, MediaBudget(sound_minutes=1))
    assert limited is not None
    assert "limits.sound_minutes" in limited.message
