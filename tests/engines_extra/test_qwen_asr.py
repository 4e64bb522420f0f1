"""qwen-asr, really loaded: Qwen3-ASR's own network, a few thousand random weights, whose decoder follows a chain from one
token to the next, so that it says the same to everything."""

import json
import math
from array import array
from pathlib import Path

import pytest

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.registry import load_recogniser
from duologue.errors import StartFailed
from duologue.values.audio import HEARD_RATE

pytest.importorskip("qwen_asr", reason="qwen-asr is tried by make test-engines")
import itertools

import torch
from qwen_asr.core.transformers_backend import Qwen3ASRConfig, Qwen3ASRForConditionalGeneration
from transformers import Qwen2TokenizerFast, WhisperFeatureExtractor

pytestmark = pytest.mark.anyio
WIDTH = 32
WORDS = ["language", "ĠEnglish", "ĠGerman", "Hello", "Ġthere", "Ġworld"]
END = 151_645
"""The library stops at the number the end of a message has in the real models, whatever a model says."""
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|audio_start|>",
    "<|audio_end|>",
    "<|audio_pad|>",
    "<asr_text>",
]
CHAIN = ["Ċ", "language", "ĠEnglish", "<asr_text>", "Hello", "Ġthere", "Ġworld", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}"
    "{% else %}<|audio_start|><|audio_pad|><|audio_end|>{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(folder: Path) -> Qwen2TokenizerFast:
    """Bytes, the words it says, and the signs around a sound."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names = [chr(byte) for byte in printable] + [chr(256 + number) for number in range(68)] + WORDS
    names += [f"fill{number}" for number in range(len(names), END)]
    (folder / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(names)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return Qwen2TokenizerFast(
        str(folder / "vocab.json"),
        str(folder / "merges.txt"),
        unk_token=None,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        additional_special_tokens=[each for each in SPECIAL if each != "<asr_text>"],
        extra_special_tokens={
            "audio_token": "<|audio_pad|>",
            "audio_bos_token": "<|audio_start|>",
            "audio_eos_token": "<|audio_end|>",
        },
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    torch.manual_seed(5)
    models = tmp_path_factory.mktemp("models")
    folder = models / "Qwen3-ASR-0.6B"
    folder.mkdir()
    words = tokenizer(folder)
    words.add_tokens(["<asr_text>"])
    ids = {name: words.convert_tokens_to_ids(name) for name in CHAIN}
    assert len(set(ids.values())) == len(CHAIN)
    assert ids["<|im_end|>"] == END
    text = {
        "vocab_size": len(words),
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True},
    }
    audio = {
        "num_mel_bins": 128,
        "encoder_layers": 1,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": WIDTH,
        "d_model": WIDTH,
        "output_dim": WIDTH,
        "downsample_hidden_size": 4,
        "n_window": 50,
        "n_window_infer": 800,
    }
    config = Qwen3ASRConfig(
        thinker_config={
            "text_config": text,
            "audio_config": audio,
            "audio_token_id": words.convert_tokens_to_ids("<|audio_pad|>"),
            "audio_start_token_id": words.convert_tokens_to_ids("<|audio_start|>"),
        },
        support_languages=["English", "German"],
    )
    model = Qwen3ASRForConditionalGeneration(config)
    thinker = model.thinker
    layer = thinker.model.layers[0]
    with torch.no_grad():
        for part in (layer.self_attn.o_proj, layer.mlp.down_proj):
            part.weight.zero_()
        table, scores = thinker.model.embed_tokens.weight, thinker.lm_head.weight
        table.zero_()
        scores.zero_()
        for place, (one, other) in enumerate(itertools.pairwise(CHAIN)):
            table[ids[one], place] = 1.0
            scores[ids[other], place] = 6.0
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|im_end|>"]
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=128).save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return models


@pytest.fixture(scope="module")
def kept() -> dict[str, RecogniserEngine]:
    return {}


@pytest.fixture
async def engine(models, kept):
    if "engine" not in kept:
        options = {"models": str(models), "device": "cpu", "max_new_tokens": 24}
        kept["engine"] = await load_recogniser("qwen", options)
    return kept["engine"]


def voice(seconds: float) -> bytes:
    return array("h", [round(9000 * math.sin(at / 7)) for at in range(int(seconds * HEARD_RATE))]).tobytes()


async def test_a_recording_is_written_down_and_its_language_told(engine):
    transcript = await engine.transcribe(voice(2), prompt="Duologue")
    assert transcript.text == "Hello there world"
    assert transcript.language == "en"
    assert engine.name == "Qwen3-ASR-0.6B"


async def test_a_language_that_is_named_is_asked_for(engine):
    assert (await engine.transcribe(voice(1), language="de-AT")).language == "de"
    assert (await engine.transcribe(voice(1), language="tlh")).text == "Hello there world"


async def test_words_are_shown_while_they_are_spoken(engine):
    pcm, shown = voice(1.5), []
    async with engine.stream(language="en") as listener:
        for at in range(0, len(pcm), 3200):
            shown.append(await listener.feed(pcm[at : at + 3200]))
        transcript = await listener.finish()
    assert "Hello there world" in shown
    assert transcript.text == "Hello there world"


async def test_a_long_recording_is_heard_in_parts(engine):
    assert (await engine.transcribe(voice(70))).text == "Hello there world Hello there world"


async def test_weights_that_are_missing_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(StartFailed, match=r"hf download Qwen/Qwen3-ASR-1\.7B --local-dir"):
        await load_recogniser("qwen", {"model": "Qwen3-ASR-1.7B", "models": str(tmp_path)})


async def test_a_broken_model_is_said_to_be_one(models):
    folder = models / "broken"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "nothing"}')
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load_recogniser("qwen", {"model": "broken", "models": str(models)})
