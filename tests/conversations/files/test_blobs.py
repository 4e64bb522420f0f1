"""Files from upload to collection: what kind they are, whose, and when they go."""

import anyio
import pytest
from tests.support.kept_files import LIMIT, kept, pieces
from tests.support.sample_files import HEIC, drawing, encoded, opened, pdf, turned, wav

from duologue.conversations.files.blob_storage import SIDES
from duologue.conversations.files.blobs import REFUSED_MS, UNUSED_MS, Blobs
from duologue.errors import BadRequest, NotFound, TooLarge
from duologue.values.conversations import Conversation, ImageContent, StoredMessage


@pytest.fixture
async def place(tmp_path, anyio_backend):
    async with kept(tmp_path / "blobs") as place:
        yield place


@pytest.fixture
def blobs(place) -> Blobs:
    return place.blobs


async def mention(store, hash: str, user: str = "ada") -> None:
    """A message of the user that names the file."""
    await store.conversations.create(user, Conversation("c"))
    await store.messages.add([StoredMessage("m", "c", None, "user", (ImageContent(hash, "image/png"),))])


@pytest.mark.anyio
async def test_a_file_is_kept_and_read(blobs):
    blob = await blobs.keep("ada", pieces(b"hel", b"lo"), name="notes.md")
    assert (blob.mime, blob.size, blob.name) == ("text/markdown", 5, "notes.md")
    assert await blobs.read(blob.hash) == b"hello"
    assert await blobs.size(blob.hash) == 5
    assert await blobs.get("ada", blob.hash) == blob


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "mime", "measures"),
    [
        (encoded(drawing()), "image/png", (64, 48, 0)),
        (turned(), "image/jpeg", (48, 64, 0)),
        (HEIC, "image/heic", (64, 48, 0)),
        (wav(seconds=1.5), "audio/wav", (0, 0, 1500)),
        (pdf("Hello"), "application/pdf", (0, 0, 0)),
        (b"\x89PNG\r\n\x1a\nbroken", "image/png", (0, 0, 0)),
    ],
)
async def test_a_file_is_measured(blobs, data, mime, measures):
    blob = await blobs.keep("ada", data, name="what.txt", mime="text/plain")
    assert (blob.mime, blob.width, blob.height, blob.duration) == (mime, *measures)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given", "kept_as"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\My files\\cat.png", "cat.png"),
        ("a\r\nb\u202e.txt", "ab.txt"),
        ("x" * 300 + ".txt", "x" * 196 + ".txt"),
    ],
)
async def test_a_name_is_only_a_name(blobs, given, kept_as):
    assert (await blobs.keep("ada", b"x", name=given)).name == kept_as


@pytest.mark.anyio
async def test_too_large_a_file_is_refused_and_leaves_nothing(place):
    with pytest.raises(TooLarge, match=r"larger than 2 MB; the setting limits\.blob_mb"):
        await place.blobs.keep("ada", bytes(LIMIT + 1))
    assert place.files() == []


@pytest.mark.anyio
async def test_the_same_file_of_two_users_lies_there_once(place):
    first = await place.blobs.keep("ada", b"hello", name="mine.txt")
    second = await place.blobs.keep("bob", b"hello", name="yours.txt")
    assert first.hash == second.hash
    assert len(place.files()) == 1
    assert (await place.blobs.get("ada", first.hash)).name == "mine.txt"
    assert (await place.blobs.get("bob", first.hash)).name == "yours.txt"


@pytest.mark.anyio
async def test_another_users_file_is_not_there(blobs):
    blob = await blobs.keep("ada", b"secret")
    with pytest.raises(NotFound) as refused:
        await blobs.get("bob", blob.hash)
    assert refused.value.code == "blob_not_found"


@pytest.mark.anyio
@pytest.mark.parametrize("hash", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64])
async def test_what_is_no_hash_names_no_file(blobs, hash):
    for ask in (
        blobs.read,
        blobs.size,
        lambda hash: blobs.get("ada", hash),
        lambda hash: blobs.thumbnail(hash, 64),
    ):
        with pytest.raises(NotFound):
            await ask(hash)


@pytest.mark.anyio
async def test_a_part_of_a_file_is_read(blobs):
    data = bytes(range(256)) * 5000
    blob = await blobs.keep("ada", data)
    assert b"".join([piece async for piece in blobs.pieces(blob.hash, 100, 1_200_000)]) == data[100:1_200_000]
    assert [piece async for piece in blobs.pieces(blob.hash, 5, 5)] == []


@pytest.mark.anyio
async def test_a_thumbnail_is_made_once(place, monkeypatch):
    blob = await place.blobs.keep("ada", encoded(drawing(640, 480)))
    made = await place.blobs.thumbnail(blob.hash, 100)
    assert opened(made).size == (128, 96)
    monkeypatch.setattr("duologue.media.images.thumbnail", lambda *_: pytest.fail("made again"))
    assert await place.blobs.thumbnail(blob.hash, 128) == made
    assert len(place.files()) == 2


@pytest.mark.anyio
async def test_thumbnails_come_in_few_sizes(place):
    blob = await place.blobs.keep("ada", encoded(drawing()))
    for side in (1, 2, 63, 65, 999, 5000):
        await place.blobs.thumbnail(blob.hash, side)
    assert len(place.files()) - 1 <= len(SIDES)


@pytest.mark.anyio
async def test_a_document_shows_its_first_page(blobs):
    blob = await blobs.keep("ada", pdf("Hello", "World"))
    assert opened(await blobs.thumbnail(blob.hash, 256)).height == 256


@pytest.mark.anyio
@pytest.mark.parametrize("data", [b"text", wav(), b"\x89PNG\r\n\x1a\nbroken"])
async def test_what_cannot_be_drawn_has_no_thumbnail(blobs, data):
    blob = await blobs.keep("ada", data)
    with pytest.raises(NotFound) as refused:
        await blobs.thumbnail(blob.hash, 64)
    assert refused.value.code == "no_thumbnail"


@pytest.mark.anyio
async def test_a_file_that_was_refused_is_not_read_again_at_once(place, monkeypatch):
    blob = await place.blobs.keep("ada", b"\x89PNG\r\n\x1a\nbroken")
    reads = []

    async def decode(*_, **__):
        reads.append(1)
        raise BadRequest("It is broken.")

    monkeypatch.setattr("duologue.conversations.files.blobs.decode", decode)
    for forward, times in ((0, 1), (0, 1), (REFUSED_MS, 2)):
        place.clock.forward(forward)
        with pytest.raises(NotFound, match="It is broken"):
            await place.blobs.thumbnail(blob.hash, 64)
        assert len(reads) == times


@pytest.mark.anyio
async def test_what_nothing_refers_to_goes_after_an_hour(place):
    blob = await place.blobs.keep("ada", encoded(drawing()))
    await place.blobs.thumbnail(blob.hash, 64)
    assert await place.blobs.collect() == 0
    place.clock.forward(UNUSED_MS + 1)
    assert await place.blobs.collect() == 1
    assert place.files() == []
    with pytest.raises(NotFound):
        await place.blobs.get("ada", blob.hash)


@pytest.mark.anyio
async def test_what_a_message_names_stays(place):
    blob = await place.blobs.keep("ada", encoded(drawing()))
    await mention(place.durable, blob.hash)
    place.clock.forward(100 * UNUSED_MS)
    assert await place.blobs.collect() == 0
    assert await place.blobs.read(blob.hash)


@pytest.mark.anyio
async def test_what_is_put_again_is_young_again(place):
    blob = await place.blobs.keep("ada", b"hello")
    place.clock.forward(UNUSED_MS + 1)
    await place.blobs.keep("ada", b"hello")
    assert await place.blobs.collect() == 0
    assert await place.blobs.read(blob.hash) == b"hello"


@pytest.mark.anyio
async def test_a_file_put_while_it_is_collected_is_there_afterwards(place):
    """The row is being dropped when the same file comes again: it waits, and is written anew."""
    rows = place.durable.blobs
    blob = await place.blobs.keep("ada", b"hello")
    place.clock.forward(UNUSED_MS + 1)
    dropping, go_on = anyio.Event(), anyio.Event()
    drop = rows.drop

    async def slow(hash: str, older_than_ms: int = 0) -> bool:
        dropped = await drop(hash, older_than_ms)
        dropping.set()
        await go_on.wait()
        return dropped

    rows.drop = slow
    async with anyio.create_task_group() as group:
        group.start_soon(place.blobs.collect)
        await dropping.wait()
        group.start_soon(place.blobs.keep, "ada", b"hello")
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    assert await place.blobs.get("ada", blob.hash)
    assert await place.blobs.read(blob.hash) == b"hello"


@pytest.mark.anyio
async def test_files_of_temporary_chats_touch_no_disk(place):
    blob = await place.blobs.keep("ada", encoded(drawing()), temporary=True)
    assert await place.blobs.thumbnail(blob.hash, 64)
    assert await place.blobs.is_temporary(blob.hash)
    assert (await place.blobs.get("ada", blob.hash)).width == 64
    assert place.files() == []
    with pytest.raises(NotFound):
        await place.durable.blobs.get("ada", blob.hash)
    place.clock.forward(UNUSED_MS + 1)
    assert await place.blobs.collect() == 1
    with pytest.raises(NotFound):
        await place.blobs.read(blob.hash)


@pytest.mark.anyio
@pytest.mark.parametrize("temporary", [True, False])
async def test_a_file_is_brought_to_where_its_chat_keeps_them(place, temporary):
    blob = await place.blobs.keep("ada", b"hello", name="a.txt", temporary=not temporary)
    brought = await place.blobs.available("ada", blob.hash, temporary=temporary)
    assert (brought.hash, brought.name) == (blob.hash, "a.txt")
    assert await place.blobs.is_temporary(blob.hash)
    assert len(place.files()) == 1
    with pytest.raises(NotFound):
        await place.blobs.available("bob", blob.hash, temporary=temporary)


@pytest.mark.anyio
async def test_blobs_may_be_in_memory_altogether(place):
    blobs = Blobs.in_memory(place.temporary.blobs, limit=100, now=place.clock)
    blob = await blobs.keep("ada", b"hello", temporary=True)
    assert await blobs.read(blob.hash) == b"hello"
    assert not await blobs.is_temporary(blob.hash)
    assert place.files() == []
