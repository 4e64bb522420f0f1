import pytest
from tests.support.speech_stand_in import SpeechStandIn, saying

from duologue.engines.openai_remote.speech_client import SpeechClient
from duologue.errors import EngineFailed

pytestmark = pytest.mark.anyio


def test_an_address_is_shown_without_its_password():
    server = SpeechClient("https://me:secret@voices.example:8443/openai/", "", "voice.speaker")
    assert server.shown == "https://voices.example:8443/openai/v1"
    assert server.host == "voices.example"


async def test_a_list_is_found_under_any_of_its_names_and_is_empty_where_there_is_none():
    async with SpeechStandIn().running() as stand_in:
        server = SpeechClient(stand_in.url, "", "voice.speaker")
        assert await server.fetch_list("/audio/voices", ("voices",)) == []
        for told in (["a"], {"voices": ["a"]}, {"voices": {}, "data": ["a"]}):
            stand_in.voices = told
            assert await server.fetch_list("/audio/voices", ("voices", "data")) == ["a"]
        for sent in ({"voices": "many"}, b'{"voices": ["\xff"]}'):
            stand_in.voices = sent
            assert await server.fetch_list("/audio/voices", ("voices",)) == []
        await server.close()


async def test_an_endless_error_is_cut():
    async with SpeechStandIn().running() as stand_in:
        stand_in.answer = saying("trouble " * 100_000, 500)
        server = SpeechClient(stand_in.url, "", "voice.speaker")
        with pytest.raises(EngineFailed) as caught:
            async with server.post_for_sound("/audio/speech", {}):
                pass
        assert len(caught.value.message) < 600
        await server.close()
