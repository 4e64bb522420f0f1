"""PyTorch's Kokoro, really loaded: its own network with random weights, so that it makes noise of the right shape; text
becomes phonemes by the real dictionaries.

English wants a model of spaCy, which comes from elsewhere. Where it is not installed, a package of its name that cuts text
into words and knows no grammar stands in for it.
"""

import sys
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.errors import NotFound, StartFailed
from duologue.values.audio import SPOKEN_RATE

pytest.importorskip("kokoro", reason="kokoro is tried by make test-engines")
import torch
from kokoro import KModel

pytestmark = pytest.mark.anyio
SPACY = "en_core_web_sm"
PHONEMES = (
    ';:,.!?—…"()“” \u0303ʣʥʦʨᵝꭧAIOQSTWYᵊabcdefhijklmnopqrstuvwxyz'
    "ɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)
CONFIG = {
    "istftnet": {
        "upsample_kernel_sizes": [20, 12],
        "upsample_rates": [10, 6],
        "gen_istft_hop_size": 5,
        "gen_istft_n_fft": 20,
        "resblock_dilation_sizes": [[1, 3, 5]],
        "resblock_kernel_sizes": [3],
        "upsample_initial_channel": 512,
    },
    "dim_in": 16,
    "dropout": 0.0,
    "hidden_dim": 512,
    "max_conv_dim": 32,
    "max_dur": 8,
    "n_layer": 1,
    "n_mels": 80,
    "n_token": len(PHONEMES) + 1,
    "style_dim": 128,
    "text_encoder_kernel_size": 3,
    "plbert": {
        "hidden_size": 32,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 512,
        "num_hidden_layers": 1,
    },
    "vocab": {sign: number for number, sign in enumerate(PHONEMES, 1)},
}


def english(place: Path) -> None:
    """A package by the name of spaCy's model of English, and the mark that it is installed."""
    (place / SPACY).mkdir(parents=True)
    code = "import spacy\n\n\ndef load(**_):\n    return spacy.blank('en')\n"
    (place / SPACY / "__init__.py").write_text(code)
    mark = place / f"{SPACY}-3.8.0.dist-info"
    mark.mkdir()
    (mark / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {SPACY}\nVersion: 3.8.0\n")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    import json

    import spacy

    torch.manual_seed(5)
    folder = tmp_path_factory.mktemp("models")
    model = folder / "Kokoro-82M"
    (model / "voices").mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    torch.save({}, model / "kokoro-v1_0.pth")
    network = KModel(
        repo_id="hexgrad/Kokoro-82M", config=str(model / "config.json"), model=str(model / "kokoro-v1_0.pth")
    )
    parts = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
    torch.save({name: getattr(network, name).state_dict() for name in parts}, model / "kokoro-v1_0.pth")
    for voice in ("af_heart", "bm_george", "ef_dora", "ff_siwis", "zf_xiaobei"):
        torch.save(torch.randn(510, 1, 256), model / "voices" / f"{voice}.pt")
    if not spacy.util.is_package(SPACY):
        english(folder / "site")
        sys.path.append(str(folder / "site"))
    return folder


@pytest.fixture(scope="module")
def kept() -> dict[str, SpeakerEngine]:
    return {}


@pytest.fixture
async def engine(models, kept):
    if "engine" not in kept:
        kept["engine"] = await load_speaker("kokoro", {"models": str(models), "device": "cpu"})
    return kept["engine"]


async def said(engine: SpeakerEngine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


def length(pieces: list[SpeechChunk]) -> int:
    return sum(len(piece.pcm) for piece in pieces) // 2


async def test_the_voices_are_those_of_the_folder_that_can_be_spoken(engine):
    names = [voice.name for voice in engine.voices]
    assert names[0] == "af_heart"
    assert {"bm_george", "ef_dora", "ff_siwis"} <= set(names)
    assert engine.name == "Kokoro-82M"


async def test_english_words_have_their_place_in_text_and_sound(engine):
    text = "Hello there, what can I do for you today?"
    pieces = await said(engine, text)
    told = [word for piece in pieces for word in piece.words]
    assert [text[word.at : word.to] for word in told] == text.split()
    assert all(one.start <= other.start for one, other in pairwise(told))
    assert length(pieces) > SPOKEN_RATE // 4


async def test_other_languages_are_spoken_without_word_times(engine):
    for voice, text in (("ef_dora", "Buenos días, ¿qué tal?"), ("ff_siwis", "Bonjour à tous.")):
        pieces = await said(engine, text, voice=voice)
        assert length(pieces) > 0
        assert not any(piece.words for piece in pieces)
    assert length(await said(engine, "Bonjour.", language="fr-FR")) > 0


async def test_a_long_clause_is_made_in_parts(engine):
    text = "this goes on and on without any mark " * 12
    told = [word for piece in await said(engine, text) for word in piece.words]
    assert [text[word.at : word.to] for word in told] == text.split()


@pytest.mark.parametrize("text", ["", "...", "🙂", "\n"])
async def test_what_has_no_sound_is_no_harm(engine, text):
    await said(engine, text)


async def test_who_leaves_early_ends_the_work(engine):
    with anyio.fail_after(60):
        async with engine.speak("one two three " * 100) as pieces:
            async for _ in pieces:
                break
    assert length(await said(engine, "still here")) > 0


async def test_an_unknown_voice_is_refused_and_the_hub_not_asked(engine):
    with pytest.raises(NotFound, match="af_heart"):
        await said(engine, "hello", voice="af_nobody")


async def test_nothing_that_is_spoken_is_written_to_the_terminal(engine, capfd):
    await said(engine, "a secret word")
    assert "secret" not in "".join(capfd.readouterr())


async def test_weights_that_are_missing_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(StartFailed, match="hf download hexgrad/Kokoro-82M --local-dir"):
        await load_speaker("kokoro", {"models": str(tmp_path)})


async def test_broken_weights_are_said_to_be_broken(models):
    folder = models / "broken"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "kokoro-v1_0.pth").write_bytes(b"x")
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load_speaker("kokoro", {"model": "broken", "models": str(models)})
