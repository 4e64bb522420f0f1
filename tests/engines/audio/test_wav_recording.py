import wave

from duologue.engines.audio.wav_recording import read_wav_recording


def write(path, pcm: bytes, *, channels: int = 1, width: int = 2, rate: int = 8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(pcm)
    return path


def test_a_recording_is_its_first_channel_up_to_a_length(tmp_path):
    assert read_wav_recording(write(tmp_path / "a.wav", b"\1\0" * 20_000), 2) == (b"\1\0" * 16_000, 8000)
    stereo = write(tmp_path / "b.wav", b"\1\0\2\0" * 9, channels=2, rate=16_000)
    assert read_wav_recording(stereo, 9) == (b"\1\0" * 9, 16_000)


def test_what_is_no_recording_is_none(tmp_path):
    assert read_wav_recording(write(tmp_path / "a.wav", b"\1" * 9, width=1), 9) is None
    assert read_wav_recording(write(tmp_path / "b.wav", b""), 9) is None
    (tmp_path / "c.wav").write_text("no sound")
    assert read_wav_recording(tmp_path / "c.wav", 9) is None
