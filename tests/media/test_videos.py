"""Videos of every kind as moments: a picture and the sound until the next one."""

import sys

import pytest
from tests.support.sample_files import loudness, opened, pixel
from tests.support.sample_videos import COLOURS, WRITTEN, video

from duologue.errors import BadRequest, Problem, TooLarge, Unsupported
from duologue.media import sniff, videos
from duologue.media.videos import VideoReading, measure_video, moments_of, read_moments
from duologue.media.wav import RATE

pytest.importorskip("av", reason="PyAV is not installed: videos are not tested")

ALL = VideoReading(most=64, megapixels=0.5, minutes=30)


def nearest_colour(jpeg):
    image = opened(jpeg)
    found = pixel(image, image.width // 2, image.height // 2)
    return min(COLOURS, key=lambda colour: sum(abs(a - b) for a, b in zip(colour, found, strict=True)))


@pytest.mark.parametrize("mime", WRITTEN)
def test_every_kind_is_told_by_its_bytes_measured_and_read(mime):
    data = video(mime, 3)
    assert sniff.kind(data[: sniff.HEAD]) == mime
    measured = measure_video(data)
    assert (measured.width, measured.height, measured.has_sound) == (64, 48, True)
    assert measured.seconds == pytest.approx(3, abs=0.3)
    moments = list(read_moments(data, ALL))
    assert [round(moment.at) for moment in moments][:3] == [0, 1, 2]
    assert [nearest_colour(moment.picture) for moment in moments][:3] == list(COLOURS[:3])
    assert len(moments[1].samples) == 4 * RATE
    assert loudness(moments[1].samples) == pytest.approx(0.35, abs=0.2)


def test_a_recording_without_a_length_is_measured_by_its_packets():
    import av

    data = video("video/webm", 2)

    class Pipe:  # cannot seek, so the length is never written, as in a browser's recordings
        def __init__(self):
            self.data = bytearray()

        def write(self, piece):
            self.data += piece
            return len(piece)

    pipe = Pipe()
    import io

    with (
        av.open(io.BytesIO(data)) as source,
        av.open(pipe, "w", format="webm", options={"live": "1"}) as target,
    ):
        streams = {stream.index: target.add_stream_from_template(stream) for stream in source.streams}
        for packet in source.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                target.mux(packet)
    with av.open(io.BytesIO(bytes(pipe.data))) as file:
        assert not file.duration
    assert measure_video(bytes(pipe.data)).seconds == pytest.approx(2, abs=0.3)
    assert len(list(read_moments(bytes(pipe.data), ALL))) == 2


def test_a_frame_rate_is_kept_until_there_are_too_many():
    assert moments_of(3.0, VideoReading(64, 1, 30)) == [0, 1, 2]
    assert moments_of(2.0, VideoReading(64, 1, 30, frame_rate=2)) == [0, 0.5, 1, 1.5]
    assert moments_of(100.0, VideoReading(4, 1, 30)) == [0, 25, 50, 75]
    assert moments_of(0.0, VideoReading(4, 1, 30)) == [0]


def test_a_long_video_is_reduced_evenly_and_its_sound_is_whole():
    moments = list(read_moments(video(seconds=12), VideoReading(most=3, megapixels=0.5, minutes=30)))
    assert [moment.at for moment in moments] == pytest.approx([0, 4, 8], abs=0.1)
    assert [nearest_colour(moment.picture) for moment in moments] == [COLOURS[0], COLOURS[4], COLOURS[2]]
    assert sum(len(moment.samples) for moment in moments) == pytest.approx(12 * 4 * RATE, rel=0.02)


def test_far_moments_are_found_by_key_frames():
    moments = list(
        read_moments(video(seconds=30, rate=5), VideoReading(most=3, megapixels=0.5, minutes=30, sound=False))
    )
    assert [nearest_colour(moment.picture) for moment in moments] == [COLOURS[0], COLOURS[4], COLOURS[2]]
    assert {moment.samples for moment in moments} == {b""}


def test_a_stack_is_a_collage_of_what_is_between():
    moments = list(
        read_moments(video(seconds=4), VideoReading(most=2, megapixels=0.5, minutes=30, stack=3, sound=False))
    )
    board = opened(moments[0].stacked)
    assert board.size == (128, 48)
    assert pixel(board, 100, 24)[1] > 150, "the second cell is of the second that is green"
    assert not next(read_moments(video(), ALL)).stacked


def test_a_picture_has_at_most_the_pixels_that_are_asked_for():
    [moment] = read_moments(video(seconds=1, size=(640, 480)), VideoReading(1, 0.01, 30))
    assert moment.width * moment.height <= 10_000
    assert moment.width / moment.height == pytest.approx(4 / 3, rel=0.05)


def test_a_video_that_is_cut_off_gives_what_is_there():
    data = video("video/webm", 6)
    moments = list(read_moments(data[: len(data) // 2], ALL))
    assert 0 < len(moments) <= 6


def refused(data, reading=ALL):
    with pytest.raises(Problem) as info:
        list(read_moments(data, reading))
    return info.value


def test_what_cannot_be_read_has_one_code_each():
    whole = video()
    assert refused(whole[: len(whole) // 3]).code == "video_unreadable", "its index is at the end"
    assert refused(whole[:40]).code == "video_unreadable"
    assert refused(b"not a video").code == "video_unsupported"
    assert refused(video(seconds=1, pictures=False)).code == "video_without_pictures"
    long = refused(video(seconds=3), VideoReading(64, 1, minutes=1 / 60))
    assert isinstance(long, TooLarge)
    assert long.code == "video_too_long"
    assert "limits.video_minutes" in long.message


def test_pictures_beyond_4k_are_refused_before_they_are_decoded(monkeypatch):
    monkeypatch.setattr(videos, "PIXELS", 1000)
    with pytest.raises(TooLarge) as info:
        measure_video(video())
    assert info.value.code == "video_too_large"


def test_sound_that_is_no_numbers_is_refused():
    data = video("video/quicktime", 1, hertz=float("nan"), sound_codec="pcm_f32le")
    problem = refused(data)
    assert isinstance(problem, BadRequest)
    assert problem.code == "sound_unreadable"


def test_without_the_extra_the_sentence_says_how_to_get_it(monkeypatch):
    data = video()
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported, match=r"duologue\[voice\]"):
        measure_video(data)
