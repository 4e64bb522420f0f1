"""MuseTalk's real classes of diffusers and transformers with tiny random weights: its lips say nothing, but they move with the sound, in
the right frames and in the right place."""

import json
import os
import pickle
import shutil

import anyio
import numpy
import pytest
from tests.support.engine_device import DEVICE
from tests.support.tiny_video import FACE, avatar, make_musetalk, speech

from duologue.engines.footage.clip_store import BaseClip, ClipDetails, ClipStore, picture_key
from duologue.engines.footage.picture_file import read_picture
from duologue.engines.musetalk import prepared_avatar
from duologue.engines.musetalk.engine import load
from duologue.engines.musetalk.face_box import face_box
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import BadRequest, StartFailed, Unsupported
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

pytest.importorskip("diffusers", reason="musetalk is tried by make test-engines")
import torch

pytestmark = pytest.mark.anyio
SIZE = 160
RATE = 25
SECOND = SPOKEN_RATE * SAMPLE_BYTES


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_musetalk(tmp_path_factory.mktemp("models") / "musetalk")


@pytest.fixture
async def engine(folder):
    torch.set_num_threads(1)
    return await load({"model": str(folder), "size": SIZE, "device": DEVICE})


async def pictures(figure, stretch):
    async with figure.frames(stretch) as frames:
        made = [frame async for frame in frames]
    return numpy.stack(
        [numpy.frombuffer(frame, numpy.uint8).reshape(figure.height, figure.width, 3) for frame in made]
    )


async def test_the_engine_draws_pictures_in_the_size_and_rate_of_its_options(engine):
    assert isinstance(engine, VideoEngine)
    figure = await engine.prepare(avatar())
    assert (figure.width, figure.height, figure.rate, figure.idle_frames) == (SIZE, SIZE, RATE, 1)
    idle = await pictures(figure, Stretch(first=7, count=3))
    assert len(idle) == 3
    assert (idle == idle[0]).all()


async def test_the_lips_move_with_the_sound_and_the_rest_of_the_picture_does_not(engine):
    figure = await engine.prepare(avatar())
    idle = (await pictures(figure, Stretch(first=0, count=1)))[0].astype(int)
    one = await pictures(figure, Stretch(first=0, count=10, pcm=speech(0.6)))
    other = await pictures(figure, Stretch(first=0, count=10, pcm=speech(0.6, pitch=700)))
    box = face_box(FACE, SIZE, SIZE)
    middle = (box.top + box.bottom) // 2
    changed = (one.astype(int) != idle).any(axis=(0, 3))
    assert changed[middle + 10 : box.bottom - 10, 75:85].all()
    changed[middle - 8 : box.bottom, box.left : box.right] = False
    assert not changed.any()
    assert (one[5] != other[5]).any()
    assert any((one[5] != frame).any() for frame in one[6:])


async def test_only_the_frames_that_end_within_the_sound_are_spoken(engine):
    figure = await engine.prepare(avatar())
    idle = (await pictures(figure, Stretch(first=0, count=1)))[0]
    # 0.39 seconds have 9.75 frames.
    made = await pictures(figure, Stretch(first=0, count=14, pcm=speech(0.39)))
    assert [bool((frame != idle).any()) for frame in made] == [True] * 9 + [False] * 5


async def test_a_reply_cut_elsewhere_has_the_same_frames(engine):
    figure = await engine.prepare(avatar())
    pcm = speech(2.4)
    whole = await pictures(figure, Stretch(first=0, count=60, pcm=pcm))
    ahead = int(0.2 * SECOND)
    # A second at a time, each with the sound that was there by then: as much as is looked ahead.
    pieces = [
        await pictures(
            figure,
            Stretch(
                first=number * RATE,
                count=min(RATE, 60 - number * RATE),
                at=number * SPOKEN_RATE,
                pcm=pcm[: (number + 1) * SECOND + ahead],
            ),
        )
        for number in range(3)
    ]
    assert (numpy.concatenate(pieces) == whole).all()
    # From the middle of a second, with other batches: the sums of a batch may round differently.
    part = await pictures(figure, Stretch(first=30, count=20, at=30 * SPOKEN_RATE // RATE, pcm=pcm))
    assert abs(part.astype(int) - whole[30:50].astype(int)).max() <= 2


async def test_without_the_sound_ahead_only_the_last_two_frames_of_a_stretch_differ_much(engine):
    figure = await engine.prepare(avatar())
    pcm = speech(2.0)
    whole = await pictures(figure, Stretch(first=0, count=25, pcm=pcm))
    short = await pictures(figure, Stretch(first=0, count=25, pcm=pcm[:SECOND]))
    difference = abs(whole.astype(int) - short.astype(int)).max(axis=(1, 2, 3))
    assert difference[:23].max() < difference[23:].max()


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
async def test_half_precision_makes_nearly_the_same_frames(engine, folder, precision):
    half = await load({"model": str(folder), "size": SIZE, "precision": precision})
    stretch = Stretch(first=0, count=6, pcm=speech(0.4))
    exact = await pictures(await engine.prepare(avatar()), stretch)
    made = await pictures(await half.prepare(avatar()), stretch)
    assert abs(made.astype(int) - exact.astype(int)).mean() < 3
    assert (made != exact).any()


async def test_leaving_stops_within_a_batch(engine, monkeypatch):
    figure = await engine.prepare(avatar())
    drawn = []
    draw = type(engine._network).draw
    monkeypatch.setattr(
        type(engine._network), "draw", lambda *args: drawn.append(len(args[-1])) or draw(*args)
    )
    async with figure.frames(Stretch(first=0, count=25, pcm=speech(1.2))) as frames:
        async for _ in frames:
            break
    assert drawn == [4]
    drawn.clear()
    with anyio.CancelScope() as scope:
        async with figure.frames(Stretch(first=0, count=25, pcm=speech(1.2))) as frames:
            async for _ in frames:
                scope.cancel()
    assert drawn == [4]
    # And what comes after it is drawn as if nothing had been.
    assert len(await pictures(figure, Stretch(first=0, count=5, pcm=speech(0.4)))) == 5


async def test_two_calls_draw_with_one_model_in_turns(engine):
    figure = await engine.prepare(avatar())
    stretch = Stretch(first=0, count=8, pcm=speech(0.5))
    alone = await pictures(figure, stretch)
    made = []

    async def draw() -> None:
        made.append(await pictures(figure, stretch))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(draw)
    assert all((frames == alone).all() for frames in made)


async def test_a_prepared_avatar_is_read_from_the_disk_and_damaged_files_are_made_again(
    folder, tmp_path, monkeypatch
):
    options = {"model": str(folder), "size": SIZE, "cache": str(tmp_path)}
    first = await load(options)
    stretch = Stretch(first=0, count=4, pcm=speech(0.3))
    made = await pictures(await first.prepare(avatar()), stretch)
    stored = list((tmp_path / "musetalk").iterdir())
    assert sorted(file.name for file in stored[0].iterdir()) == ["arrays.npz", "avatar.json"]
    prepared = []
    prepare = prepared_avatar.prepare
    monkeypatch.setattr(prepared_avatar, "prepare", lambda *a, **k: prepared.append(1) or prepare(*a, **k))
    again = await load(options)
    assert (await pictures(await again.prepare(avatar()), stretch) == made).all()
    assert not prepared
    (stored[0] / "arrays.npz").write_bytes(b"PK nothing")
    third = await load(options)
    assert (await pictures(await third.prepare(avatar()), stretch) == made).all()
    assert prepared == [1]
    await third.prepare(avatar("two"))
    assert len(list((tmp_path / "musetalk").iterdir())) == 2


async def test_a_base_clip_goes_forth_and_back_and_lips_join_at_its_phase(folder, tmp_path):
    store = ClipStore(tmp_path / "clips")
    still = read_picture(avatar().data, SIZE)
    frames = numpy.stack([numpy.roll(still, number, axis=1) for number in range(5)])
    face = (0.2, 0.1, 0.8, 0.9)
    store.keep(BaseClip("clip", frames, ClipDetails(25, False, (face, face, None, face, face))))
    store.use(picture_key(avatar().data), "clip")
    engine = await load({"model": str(folder), "size": SIZE, "cache": str(tmp_path)})
    figure = await engine.prepare(avatar())
    assert figure.idle_frames == 10
    order = [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
    idle = await pictures(figure, Stretch(first=3, count=10))
    assert [next(n for n in range(5) if (frame == frames[n]).all()) for frame in idle] == order[3:] + order[
        :3
    ]
    # The last frame is drawn too, and the one without a face keeps its place and is left alone.
    made = await pictures(figure, Stretch(first=3, count=10, pcm=speech(0.6)))
    unchanged = [bool((made[n] == idle[n]).all()) for n in range(10)]
    assert unchanged == [number == 2 for number in order[3:] + order[:3]]
    # Outside of the face each is its frame of the clip.
    assert (made[:, :10] == idle[:, :10]).all()


async def test_bad_avatars_are_a_sentence_each(engine):
    with pytest.raises(Unsupported, match="draws people in pictures"):
        await engine.prepare(avatar(kind="drawn"))
    with pytest.raises(BadRequest, match="not marked yet"):
        await engine.prepare(avatar(landmarks=None))
    with pytest.raises(BadRequest, match="cannot be read"):
        await engine.prepare(avatar(data=b"nothing"))


@pytest.fixture
def broken(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "musetalk")


async def test_missing_weights_are_named_with_the_commands_that_fetch_them(tmp_path, broken):
    with pytest.raises(StartFailed, match=r"hf download TMElyralab/MuseTalk musetalkV15/musetalk.json"):
        await load({"models": str(tmp_path / "none")})
    (broken / "musetalkV15" / "unet.pth").unlink()
    with pytest.raises(StartFailed, match=r"unet.safetensors or unet.pth is missing"):
        await load({"model": str(broken)})


async def test_damaged_weights_are_a_sentence(broken):
    unet = broken / "musetalkV15" / "unet.pth"
    data = unet.read_bytes()
    unet.write_bytes(data[: len(data) // 2])
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load({"model": str(broken)})


class Evil:
    def __reduce__(self):
        return (os.mkdir, (os.environ["EVIL_PLACE"],))


async def test_a_file_that_would_run_code_is_refused_and_not_run(broken, tmp_path, monkeypatch):
    monkeypatch.setenv("EVIL_PLACE", str(tmp_path / "ran"))
    torch.save({"conv_in.weight": Evil()}, broken / "musetalkV15" / "unet.pth")
    with pytest.raises(StartFailed, match="more than weights"):
        await load({"model": str(broken)})
    (broken / "musetalkV15" / "unet.pth").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(StartFailed, match="more than weights"):
        await load({"model": str(broken)})
    vae = broken / "sd-vae"
    (vae / "diffusion_pytorch_model.safetensors").unlink()
    torch.save({"encoder.conv_in.weight": Evil()}, vae / "diffusion_pytorch_model.bin")
    with pytest.raises(StartFailed):
        await load({"model": str(broken)})
    assert not (tmp_path / "ran").exists()


async def test_weights_of_another_model_are_a_sentence_each(broken, tmp_path):
    config = broken / "musetalkV15" / "musetalk.json"
    settings = json.loads(config.read_text())
    config.write_text(json.dumps(settings | {"block_out_channels": [8, 32]}))
    with pytest.raises(StartFailed, match="holds another model than its settings describe"):
        await load({"model": str(broken)})
    wide = make_musetalk(tmp_path / "wide", width=32)
    with pytest.raises(StartFailed, match="trained with sound of width 16"):
        await load({"model": str(wide)})
    other = make_musetalk(tmp_path / "other", channels=8)
    with pytest.raises(StartFailed, match="VAE beside it makes 8"):
        await load({"model": str(other)})
