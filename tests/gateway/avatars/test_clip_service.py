"""Clips as their makers have them: files, limits, ends."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import AccessRevoked, Busy, NotFound, TooLarge, Unavailable
from duologue.faces.catalogue import LookCatalogue
from duologue.gateway.avatars import clip_service
from duologue.gateway.avatars.clip_service import KEPT, KEPT_S, RUNNING, ClipService
from duologue.gateway.avatars.library import AvatarLibrary
from duologue.values.call_events import ClipData, ClipProgress
from duologue.values.speech import SpeechRequest

pytestmark = pytest.mark.anyio


class FilmSpeech(StandIn):
    """Makes a clip of two pieces. `hold`: after the first one, until it is set. `fails`: raised then."""

    def __init__(self) -> None:
        self.hold: anyio.Event | None = None
        self.fails: Exception | None = None
        self.open = 0

    def require_video(self, kind, *, recorded=False):
        if kind == "figure":
            raise Unavailable("No.", code="video_unavailable")

    async def choose_voice(self, request, user):
        return request, None

    @asynccontextmanager
    async def film(self, request, request_id="", *, user="") -> AsyncIterator[AsyncIterator[object]]:
        async def events():
            yield ClipProgress("drawing", 0.5)
            yield ClipData(b"first ")
            if self.hold is not None:
                await self.hold.wait()
            if self.fails is not None:
                raise self.fails
            yield ClipData(request.speech.text.encode() or b"lips")

        self.open += 1
        try:
            yield events()
        finally:
            self.open -= 1


class Place:
    def __init__(self, folder) -> None:
        self.now = 1000.0
        self.speech = FilmSpeech()
        self.folder = folder / "clips"
        self.clips = ClipService(
            self.speech, AvatarLibrary(5, LookCatalogue()), self.folder, clock=lambda: self.now
        )

    async def made(self, user="anna", text="second"):
        job = await self.clips.create(user, "mira", SpeechRequest(text))
        with anyio.fail_after(30):
            async for _ in job.frames():
                pass
        return job

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
async def place(tmp_path):
    place = Place(tmp_path)
    place.folder.mkdir()
    (place.folder / "left.mp4").write_bytes(b"of the last run")
    async with anyio.create_task_group() as tasks:
        await tasks.start(place.clips.run)
        yield place
        tasks.cancel_scope.cancel()


async def test_a_clip_is_made_into_a_file_and_old_files_are_gone(place):
    job = await place.made()
    assert place.files() == [f"{job.id}.mp4"]
    assert job.file.read_bytes() == b"first second"
    assert (job.row().bytes, len(job.id)) == (12, 32)
    assert place.clips.ready("anna", "mira", job.id) is job


async def test_a_clip_is_its_makers_alone(place):
    job = await place.made()
    for user, avatar in (("berta", "mira"), ("anna", "theo")):
        with pytest.raises(NotFound) as refused:
            place.clips.get(user, avatar, job.id)
        assert refused.value.code == "clip_not_found"


async def test_a_clip_that_is_deleted_while_it_is_made_is_cancelled(place):
    place.speech.hold = anyio.Event()
    job = await place.clips.create("anna", "mira", SpeechRequest("x"))
    with anyio.fail_after(30):
        while not job.bytes:
            await anyio.lowlevel.checkpoint()
        with pytest.raises(Busy) as running:
            place.clips.ready("anna", "mira", job.id)
        await place.clips.delete("anna", "mira", job.id)
        while place.speech.open or place.files():  # noqa: ASYNC110 (a file notifies nobody)
            await anyio.sleep(0.01)
    assert running.value.code == "clip_running"
    with pytest.raises(NotFound):
        place.clips.get("anna", "mira", job.id)


async def test_a_clip_of_a_user_without_access_fails_and_says_so(place):
    @contextmanager
    def revoked(user: str, key: str) -> Iterator[None]:
        assert user == "anna"
        yield
        raise AccessRevoked

    place.clips._allowed = revoked
    job = await place.made()
    assert (job.row().state, job.row().code) == ("failed", "access_revoked")
    with anyio.fail_after(30):
        while place.files():  # noqa: ASYNC110 (a file notifies nobody)
            await anyio.sleep(0.01)


@pytest.mark.parametrize("error", [TooLarge("Too long.", code="clip_too_long"), RuntimeError("a path")])
async def test_what_fails_says_why_and_leaves_no_file(place, error):
    place.speech.fails = error
    job = await place.made()
    row = job.row()
    assert (row.state, "path" in row.message) == ("failed", False)
    with pytest.raises(NotFound, match="could not be made"):
        place.clips.ready("anna", "mira", job.id)
    with anyio.fail_after(30):
        while place.files():  # noqa: ASYNC110 (a file notifies nobody)
            await anyio.sleep(0.01)


async def test_an_old_clip_is_removed(place):
    job = await place.made()
    place.now += KEPT_S / 2
    younger = await place.made()
    place.now += KEPT_S / 2 + 1
    await place.clips.sweep()
    assert place.files() == [f"{younger.id}.mp4"]
    with pytest.raises(NotFound):
        place.clips.get("anna", "mira", job.id)


async def test_a_user_has_so_many_clips_and_so_many_at_a_time(place, monkeypatch):
    jobs = [await place.made() for _ in range(KEPT + 1)]
    assert len(place.files()) == KEPT
    assert f"{jobs[0].id}.mp4" not in place.files()
    place.speech.hold = anyio.Event()
    for _ in range(RUNNING):
        await place.clips.create("berta", "mira", SpeechRequest("x"))
    with pytest.raises(Busy) as full:
        await place.clips.create("berta", "mira", SpeechRequest("x"))
    assert full.value.code == "clips_full"
    place.speech.hold.set()


async def test_all_clips_have_so_much_space(place, monkeypatch):
    job = await place.made()
    monkeypatch.setattr(clip_service, "TOTAL", 5)
    await place.made("berta")
    assert f"{job.id}.mp4" not in place.files()


async def test_a_face_that_there_is_not_is_refused_at_once(place):
    with pytest.raises((NotFound, Unavailable)):
        await place.clips.create("anna", "nobody", SpeechRequest("x"))
