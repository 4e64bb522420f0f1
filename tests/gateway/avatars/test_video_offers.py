"""Which calls get video, and what their clients are told."""

import msgspec
import pytest

from duologue.config.sections.video import VideoConfig
from duologue.errors import NotFound
from duologue.gateway.avatars.video_offers import NATIVE, NOT_DRAWN, SWITCHED_OFF, ChosenVideo, VideoOffers
from duologue.values.avatars import AvatarSource
from duologue.values.call_events import VideoState
from duologue.values.speech import SpeechCard, SpeechEngineStatus

pytestmark = pytest.mark.anyio

READY = SpeechCard(video=SpeechEngineStatus("ready", "scripted"), draws=("drawn",))
CLIPS = VideoState(0, "clip", 512, 512, 25)
OFF = VideoState(0, "off")


class Faces:
    """Faces by name: two drawn ones, and a figure of ada's."""

    looks = ("mira", "theo")

    async def source(self, id: str, user: str) -> AvatarSource:
        if id == "figure" and user == "ada":
            return AvatarSource(id, "figure", "d-figure")
        if id not in self.looks:
            raise NotFound(f"There is no face {id}.")
        return AvatarSource(id, "drawn", f"d-{id}", look=id)


class Worker:
    def __init__(self, card: SpeechCard | None = READY) -> None:
        self.card = card


def offers(card: SpeechCard | None = READY, **settings) -> VideoOffers:
    return VideoOffers(VideoConfig(**{"enabled": True, **settings}), Worker(card), Faces())  # type: ignore[arg-type]


MIRA = AvatarSource("mira", "drawn", "d-mira", look="mira")


async def test_a_client_that_says_nothing_gets_clips_of_the_first_drawn_face():
    assert offers().offer() == CLIPS
    assert await offers().choose(None, "", "ada") == ChosenVideo(CLIPS, "clip", MIRA)


async def test_the_settings_name_the_face_the_size_and_the_rate():
    chosen = await offers(avatar="theo", size=256, rate=30).choose(None, "", "ada")
    assert chosen.avatar is not None
    assert chosen.avatar.id == "theo"
    assert chosen.state == VideoState(0, "clip", 256, 256, 30)


async def test_the_client_chooses_otherwise():
    assert await offers().choose("off", "", "ada") == ChosenVideo(OFF)
    chosen = await offers().choose("stream", "theo", "ada")
    assert (chosen.mode, chosen.avatar and chosen.avatar.id) == ("stream", "theo")
    assert chosen.state == msgspec.structs.replace(CLIPS, mode="stream")


@pytest.mark.parametrize("enabled", [None, False])
async def test_without_the_setting_calls_have_no_video(enabled):
    switched_off = offers(enabled=enabled)
    assert switched_off.offer() == OFF
    assert await switched_off.choose(None, "", "ada") == ChosenVideo(OFF)
    assert await switched_off.choose("clip", "", "ada") == ChosenVideo(
        VideoState(0, "off", note=SWITCHED_OFF)
    )


async def test_faces_are_rendered_in_calls_as_soon_as_the_engine_is_ready():
    loading = SpeechCard(video=SpeechEngineStatus("loading", "scripted"), draws=("drawn",))
    assert offers().rendered == ("drawn",)
    for none in (offers(loading), offers(None), offers(enabled=None), VideoOffers()):
        assert none.rendered == ()


async def test_a_server_that_knows_nothing_of_video_has_none():
    assert VideoOffers().offer() == OFF
    assert (await VideoOffers().choose("stream", "", "ada")).mode == "off"


@pytest.mark.parametrize("standing", ["failed", "absent"])
async def test_an_engine_that_could_not_be_loaded_is_explained(standing):
    card = SpeechCard(video=SpeechEngineStatus(standing, detail="It needs a card."))
    assert offers(card).offer() == OFF
    assert await offers(card).choose(None, "", "ada") == ChosenVideo(
        VideoState(0, "off", note="It needs a card.")
    )


async def test_while_the_worker_loads_nothing_is_promised_and_the_session_tries():
    assert offers(None).offer() == OFF
    assert await offers(None).choose(None, "", "ada") == ChosenVideo(None, "clip", MIRA)


async def test_a_face_that_does_not_exist_or_cannot_be_drawn_is_explained():
    assert (await offers().choose("clip", "nobody", "ada")).state == VideoState(
        0, "off", note="There is no face nobody."
    )
    assert (await offers().choose("clip", "figure", "ada")).state == VideoState(0, "off", note=NOT_DRAWN)


async def test_a_model_that_speaks_by_itself_has_sound():
    assert await offers().choose(None, "", "ada", native=True) == ChosenVideo(
        VideoState(0, "off", note=NATIVE)
    )
    assert await offers().choose("off", "", "ada", native=True) == ChosenVideo(OFF)
