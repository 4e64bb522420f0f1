"""An upstream that does not take a picture says so in words of its own."""

import pytest

from duologue.engines.openai_remote.refused_part import refused_part
from duologue.errors import Busy, EngineFailed, Problem
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart, user
from duologue.values.requests import ChatRequest

SEEN = ChatRequest(
    (
        Message("user", (TextPart("look"), ImagePart(b"x"))),
        user("and this?"),
        Message("user", (TextPart("look"), ImagePart(b"y"), ImagePart(b"z"))),
    )
)
HEARD = ChatRequest((Message("user", (AudioPart(b""),)),))


def refusal(message: str) -> Problem:
    return EngineFailed(
        f"The upstream http://box did not accept it: {message}", code="upstream_refused", status=400
    )


@pytest.mark.parametrize(
    "message",
    [
        "At most 0 image(s) may be provided in one prompt.",
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "No endpoints found that support image input",
        "Invalid content type. image_url is only supported by certain models.",
        "Model does not support images. Please use a model that does.",
        "messages[0].content must be a string",
        "unknown variant `image_url`, expected `text`",
        "mistral is not a multimodal model",
    ],
)
def test_a_refused_picture_is_named_with_what_to_do(message: str) -> None:
    problem = refused_part(refusal(message), SEEN)
    assert (problem.code, problem.status) == ("modality_unsupported", 400)
    assert problem.param == "messages[2].content[2]"
    assert "is a picture" in problem.message
    assert "choose a model that takes pictures" in problem.message
    assert message in problem.message


def test_sound_and_video_are_told_apart() -> None:
    both = ChatRequest((Message("user", (AudioPart(b""), VideoPart(b""))),))
    assert refused_part(refusal("audio is not supported"), both).param == "messages[0].content[0]"
    assert refused_part(refusal("At most 0 video(s)"), both).param == "messages[0].content[1]"
    assert "choose a model that takes sound." in refused_part(refusal("no audio"), both).message


@pytest.mark.parametrize(
    "problem",
    [
        refusal("temperature must be below 2"),
        EngineFailed("cannot be reached", code="upstream_unreachable", status=502),
        Busy("no room for this image", status=429),
    ],
)
def test_other_problems_stay_what_they_are(problem: Problem) -> None:
    assert refused_part(problem, SEEN) is problem


def test_a_request_without_such_a_part_is_not_blamed() -> None:
    problem = refusal("image input is not supported")
    assert refused_part(problem, HEARD) is problem
    assert refused_part(problem, ChatRequest((user("hi"),))) is problem
