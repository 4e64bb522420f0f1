"""Sound files that claim too much or are damaged: refused by the decoder process, and the next one is read."""

from __future__ import annotations

import random
import struct

import pytest
from tests.support.bombs import flac_header, id3, mp4_playlist, nested_atoms, wav_header
from tests.support.sample_files import CODECS, recorded, wav

from duologue.decoder.service import decode, decode_stream
from duologue.errors import Problem
from duologue.media.chunks import read_chunks
from duologue.media.recordings import measure_sound, read_sound

pytestmark = pytest.mark.anyio

NAN = struct.pack("<f", float("nan"))
FILES = {
    "a WAV of 65,535 channels": wav_header(channels=65_535) + bytes(4000),
    "a WAV of no channels": wav_header(channels=0) + bytes(4000),
    "a WAV at 0 Hz": wav_header(rate=0) + bytes(4000),
    "a WAV at 4 GHz": wav_header(rate=0xFFFFFFFF) + bytes(4000),
    "a WAV at 1 Hz": wav_header(rate=1) + bytes(200_000),
    "a WAV of 3 bits": wav_header(bits=3) + bytes(4000),
    "a WAV of chunks without end": b"RIFF\xff\xff\xff\xffWAVE" + b"LIST\0\0\0\0" * 100_000,
    "a FLAC of 2^36 samples": flac_header(),
    "a FLAC at 0 Hz": flac_header(rate=0) + bytes(4000),
    "an ID3 tag of 256 MB": id3(2**28 - 1, bytes(10_000)),
    "an MP4 whose sound is elsewhere": mp4_playlist(b"file:///etc/passwd"),
    "an MP4 whose sound is on a server": mp4_playlist(b"http://127.0.0.1:9/x.mp3"),
    "an MP4 of atoms in atoms": nested_atoms(20_000),
    "Ogg pages of nothing": b"OggS\0\2" + bytes(22) + b"OggS" * 10_000,
    "a Matroska of unknown sizes": b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff" * 2000,
    "a playlist": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_that_claims_too_much_is_refused_in_every_reader(name: str) -> None:
    data = FILES[name]
    with pytest.raises(Problem) as raised:
        await decode(read_sound, data)
    assert 400 <= raised.value.status < 500
    with pytest.raises(Problem):
        async with decode_stream(read_chunks, data, 60.0) as chunks:
            await anext(chunks)


async def test_samples_that_are_no_numbers_are_refused() -> None:
    data = wav_header(bits=32, kind=3, size=64_000) + NAN * 16_000
    with pytest.raises(Problem) as info:
        await decode(measure_sound, data)
    assert info.value.code == "sound_unreadable"


@pytest.mark.parametrize("mime", ["audio/wav", *CODECS])
async def test_damaged_files_are_read_or_refused(mime: str) -> None:
    if mime != "audio/wav":
        pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    whole = wav(16_000, seconds=0.2) if mime == "audio/wav" else recorded(mime)
    chance = random.Random(7)
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 4, 32))):
            data[chance.randrange(len(data))] = chance.choice((0, 255, 128, chance.randrange(256)))
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        try:
            await decode(measure_sound, bytes(data))
        except Problem as problem:
            assert problem.status in (400, 413, 415), problem  # noqa: PT017 (either outcome is right)
    assert await decode(measure_sound, whole) > 0


async def test_a_recording_is_read_chunk_by_chunk_in_its_process() -> None:
    data = wav(16_000, seconds=2)
    async with decode_stream(read_chunks, data, 60.0) as chunks:
        assert sum([len(chunk) async for chunk in chunks]) == 2 * 2 * 16_000
