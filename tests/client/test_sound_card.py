"""The sound card, with a library that is not there, has no card, or hands over sound as a real one does."""

import sys
from types import ModuleType

import anyio
import pytest

from duologue.client import sound_card
from duologue.errors import Problem

pytestmark = pytest.mark.anyio


class Library(ModuleType):
    """Stands in for `sounddevice`: remembers the stream that was opened."""

    class PortAudioError(Exception):
        pass

    def __init__(self, broken: bool = False) -> None:
        super().__init__("sounddevice")
        self.broken = broken
        self.opened: dict = {}
        self.closed = False

    def stream(self, **how):
        if self.broken:
            raise self.PortAudioError("no device")
        self.opened = how
        return self

    RawInputStream = RawOutputStream = stream

    def start(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def library(monkeypatch):
    library = Library()
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    return library


async def test_what_the_microphone_hears_comes_in_order(library):
    with sound_card.microphone() as microphone:
        assert (library.opened["samplerate"], library.opened["blocksize"]) == (16_000, 320)
        for number in range(3):
            library.opened["callback"](bytearray([number, 0]), 1, None, None)
        frames = microphone.frames()
        with anyio.fail_after(60):
            assert [await anext(frames) for _ in range(3)] == [b"\0\0", b"\1\0", b"\2\0"]
    assert library.closed


async def test_the_loudspeaker_plays_what_it_was_given_and_then_silence(library):
    with sound_card.loudspeaker() as speaker:
        assert library.opened["samplerate"] == 24_000
        speaker.play(b"\1\0\2\0\3\0")
        speaker.play(b"\4\0")
        out = bytearray(4)
        library.opened["callback"](out, 2, None, None)
        assert out == b"\1\0\2\0"
        assert speaker.waiting == 2
        out = bytearray(8)
        library.opened["callback"](out, 4, None, None)
        assert out == b"\3\0\4\0\0\0\0\0"
        assert speaker.waiting == 0


async def test_a_machine_without_a_card_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", Library(broken=True))
    with pytest.raises(Problem, match="No usable loudspeaker was found"), sound_card.loudspeaker():
        pass


async def test_without_the_package_it_says_which_command_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(Problem, match=r"pip install 'duologue\[voice\]'"), sound_card.microphone():
        pass
