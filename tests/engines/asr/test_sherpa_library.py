"""sherpa-onnx, really loaded: networks of a few hundred numbers that say the same to everything, one of each way of hearing.

Made here with the onnx package. Each follows a chain from one token to the next. The library ends its process where it does
not like a model, so these also hold what is passed to it.
"""

import json
import math
from array import array
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.registry import load_recogniser
from duologue.errors import StartFailed
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import Transcript

NEEDED = "this test needs sherpa-onnx and onnx: pip install 'duologue[voice]' onnx"
pytest.importorskip("sherpa_onnx", reason=NEEDED)
pytest.importorskip("onnx", reason=NEEDED)
import itertools  # noqa: E402

import numpy  # noqa: E402
from tests.support.tiny_onnx import BOOL, FLOAT, INT, LONG, Node, save_network, write_tokens  # noqa: E402

pytestmark = pytest.mark.anyio


def rows(pairs: dict[int, int], size: int, otherwise: int = 0) -> numpy.ndarray:
    """For each token the scores of those that may follow."""
    table = numpy.zeros((size, size), numpy.float32)
    for token in range(size):
        table[token, pairs.get(token, otherwise)] = 10.0
    return table


def sense_voice(folder: Path) -> None:
    """Four tokens about the sound, then two words; a row for each frame."""
    tokens = ["<blk>", "<|en|>", "<|NEUTRAL|>", "<|Speech|>", "<|woitn|>", "▁hello", "▁world"]
    write_tokens(folder, tokens)
    said = [1, 2, 3, 4, 0, 0, 5, 0, 0, 0, 6, 0]
    table = numpy.eye(len(tokens), dtype=numpy.float32)[said] * 10
    save_network(
        folder / "model.onnx",
        [
            ("Shape", ["x"], ["shape"], {}),
            ("Gather", ["shape", "one"], ["frames"], {"axis": 0}),
            ("Add", ["frames", "four"], ["count"], {}),
            ("Range", ["zero", "count", "one"], ["places"], {}),
            ("Min", ["places", "last"], ["kept"], {}),
            ("Gather", ["table", "kept"], ["scores"], {"axis": 0}),
            ("Unsqueeze", ["scores", "axes"], ["logits"], {}),
        ],
        [
            ("x", FLOAT, ["N", "T", 560]),
            *((name, INT, ["N"]) for name in ("x_length", "language", "text_norm")),
        ],
        [("logits", FLOAT, ["N", "L", len(tokens)])],
        {
            "table": table,
            "axes": numpy.array([0]),
            **{
                name: numpy.array(value)
                for name, value in (("zero", 0), ("one", 1), ("four", 4), ("last", len(said) - 1))
            },
        },
        model_type="sense_voice_ctc",
        vocab_size=len(tokens),
        lfr_window_size=7,
        lfr_window_shift=6,
        normalize_samples=0,
        with_itn=14,
        without_itn=15,
        comment="made",
        neg_mean=",".join(["0"] * 560),
        inv_stddev=",".join(["1"] * 560),
        **{f"lang_{name}": number for number, name in enumerate(("auto", "zh", "en", "ja", "ko", "yue"))},
    )


def decoder_and_joiner(folder: Path, size: int) -> None:
    """Blank (0) is followed by 1, 1 by 2, and so on; the last by blank."""
    table = rows({token: token + 1 for token in range(size - 1)}, size)
    save_network(
        folder / "decoder.onnx",
        [
            ("Slice", ["y", "from", "to", "axis"], ["last"], {}),
            ("Squeeze", ["last", "axis"], ["flat"], {}),
            ("Gather", ["table", "flat"], ["decoder_out"], {"axis": 0}),
        ],
        [("y", LONG, ["N", 2])],
        [("decoder_out", FLOAT, ["N", size])],
        {
            "table": table,
            "from": numpy.array([1]),
            "to": numpy.array([2]),
            "axis": numpy.array([1]),
        },
        vocab_size=size,
        context_size=2,
    )
    save_network(
        folder / "joiner.onnx",
        [("Add", ["encoder_out", "decoder_out"], ["logit"], {})],
        [("encoder_out", FLOAT, ["N", size]), ("decoder_out", FLOAT, ["N", size])],
        [("logit", FLOAT, ["N", size])],
        joiner_dim=size,
    )


TOKENS = ["<blk>", "▁HE", "LLO", "▁THERE", "▁WORLD", "<unk>"]
FRAMES: tuple[Node, ...] = (
    ("Slice", ["x", "from", "to", "axes", "steps"], ["some"], {}),
    ("Mul", ["some", "nothing"], ["encoder_out"], {}),
)


def frames(step: int) -> dict[str, numpy.ndarray]:
    """What takes every so manieth frame, and of it as many numbers as there are tokens."""
    return {
        "from": numpy.array([0, 0]),
        "to": numpy.array([1 << 30, len(TOKENS)]),
        "axes": numpy.array([1, 2]),
        "steps": numpy.array([step, 1]),
        "nothing": numpy.array(0.0, numpy.float32),
    }


def streaming_transducer(folder: Path) -> None:
    """An LSTM transducer: a frame of it for each 40 ms."""
    write_tokens(folder, TOKENS)
    save_network(
        folder / "encoder.onnx",
        [*FRAMES, ("Identity", ["h"], ["next_h"], {}), ("Identity", ["c"], ["next_c"], {})],
        [("x", FLOAT, ["N", 4, 80]), ("h", FLOAT, [1, "N", 4]), ("c", FLOAT, [1, "N", 4])],
        [
            ("encoder_out", FLOAT, ["N", "L", len(TOKENS)]),
            ("next_h", FLOAT, [1, "N", 4]),
            ("next_c", FLOAT, [1, "N", 4]),
        ],
        frames(4),
        model_type="lstm",
        num_encoder_layers=1,
        T=4,
        decode_chunk_len=4,
        rnn_hidden_size=4,
        d_model=4,
    )
    decoder_and_joiner(folder, len(TOKENS))


def transducer(folder: Path) -> None:
    write_tokens(folder, TOKENS)
    save_network(
        folder / "encoder.onnx",
        [
            *FRAMES,
            ("Add", ["x_lens", "three"], ["more"], {}),
            ("Div", ["more", "four"], ["encoder_out_lens"], {}),
        ],
        [("x", FLOAT, ["N", "T", 80]), ("x_lens", LONG, ["N"])],
        [("encoder_out", FLOAT, ["N", "L", len(TOKENS)]), ("encoder_out_lens", LONG, ["N"])],
        {**frames(4), "three": numpy.array(3), "four": numpy.array(4)},
        model_type="zipformer2",
    )
    decoder_and_joiner(folder, len(TOKENS))


def qwen(folder: Path) -> None:
    """A frontend, an encoder and a decoder with a cache; tokens are bytes and the words it says."""
    words = ["language", "ĠEnglish", "ĠGerman", "Hello", "Ġthere", "Ġworld"]
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    alphabet = [chr(byte) for byte in printable] + [chr(256 + number) for number in range(68)]
    names = [*alphabet, *words]
    special = [
        "<|im_start|>",
        "<|im_end|>",
        "<|audio_start|>",
        "<|audio_end|>",
        "<|audio_pad|>",
        "<asr_text>",
    ]
    ids = {name: number for number, name in enumerate([*names, *special])}
    tokenizer = folder / "tokenizer"
    tokenizer.mkdir(parents=True)
    (tokenizer / "vocab.json").write_text(json.dumps({name: ids[name] for name in names}))
    (tokenizer / "merges.txt").write_text("#version: 0.2\n")
    added = {str(ids[name]): {"content": name, "special": True} for name in special}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    chain = ["Ċ", "language", "ĠEnglish", "<asr_text>", "Hello", "Ġthere", "Ġworld", "<|im_end|>"]
    pairs = {ids[one]: ids[other] for one, other in itertools.pairwise(chain)}
    save_network(
        folder / "conv_frontend.onnx",
        [("Slice", ["features", "from", "to", "axes", "steps"], ["frames"], {})],
        [("features", FLOAT, [1, "T", 128])],
        [("frames", FLOAT, [1, "L", 8])],
        {
            "from": numpy.array([0, 0]),
            "to": numpy.array([1 << 30, 8]),
            "axes": numpy.array([1, 2]),
            "steps": numpy.array([8, 1]),
        },
    )
    save_network(
        folder / "encoder.onnx",
        [
            ("Cast", ["mask"], ["ones"], {"to": FLOAT}),
            ("Unsqueeze", ["ones", "axis"], ["wide"], {}),
            ("Add", ["frames", "some"], ["moved"], {}),
            ("Mul", ["moved", "wide"], ["audio"], {}),
        ],
        [("frames", FLOAT, [1, "L", 8]), ("mask", BOOL, [1, "L"])],
        [("audio", FLOAT, [1, "L", 8])],
        {"axis": numpy.array([2]), "some": numpy.array(3.0, numpy.float32)},
    )
    cache = [1, 1024, 1, 2]
    save_network(
        folder / "decoder.onnx",
        [
            ("Gather", ["table", "ids"], ["logits"], {"axis": 0}),
            ("Cast", ["ids"], ["numbers"], {"to": FLOAT}),
            ("Unsqueeze", ["numbers", "axes"], ["deep"], {}),
            ("Concat", ["deep", "deep"], ["key"], {"axis": 3}),
            ("Identity", ["key"], ["value"], {}),
        ],
        [
            *(("ids", LONG, [1, "S"]), ("audio", FLOAT, [1, "A", 8]), ("mask", LONG, [1, "S"])),
            *(("places", LONG, ["S"]), ("past_key", FLOAT, cache), ("past_value", FLOAT, cache)),
        ],
        [
            ("logits", FLOAT, [1, "S", len(ids)]),
            ("key", FLOAT, [1, "S", 1, 2]),
            ("value", FLOAT, [1, "S", 1, 2]),
        ],
        {"table": rows(pairs, len(ids), ids["<|im_end|>"]), "axes": numpy.array([2, 3])},
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for make in (sense_voice, streaming_transducer, transducer, qwen):
        make(folder / make.__name__)
    return folder


async def loaded(models: Path, name: str, **options) -> RecogniserEngine:
    return await load_recogniser("sherpa", {"model": name, "models": str(models), "threads": 1, **options})


def voice(seconds: float) -> bytes:
    return array("h", [round(9000 * math.sin(at / 7)) for at in range(int(seconds * HEARD_RATE))]).tobytes()


async def heard(engine: RecogniserEngine, pcm: bytes, **how) -> tuple[list[str], Transcript]:
    async with engine.stream(**how) as listener:
        shown = [await listener.feed(pcm[at : at + 3200]) for at in range(0, len(pcm), 3200)]
        return shown, await listener.finish()


async def test_sense_voice_tells_words_times_and_language(models):
    engine = await loaded(models, "sense_voice", language="en")
    transcript = await engine.transcribe(voice(2), word_timestamps=True)
    assert transcript.text == "hello world"
    assert transcript.language == "en"
    assert [word.text for word in transcript.words] == ["hello", "world"]
    assert [word.start for word in transcript.words] == [pytest.approx(0.12), pytest.approx(0.36)]
    shown, final = await heard(engine, voice(2))
    assert "hello world" in shown
    assert final.text == "hello world"


async def test_a_streaming_transducer_hears_while_one_speaks(models):
    engine = await loaded(models, "streaming_transducer")
    shown, transcript = await heard(engine, voice(2))
    assert engine.partial_results
    assert shown[0] != "HELLO THERE WORLD" == shown[-1]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown))
    assert transcript.text == "HELLO THERE WORLD"
    assert [word.text for word in transcript.words] == ["HELLO", "THERE", "WORLD"]
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert (await engine.transcribe(voice(1))).text == "HELLO THERE WORLD"


async def test_several_listen_to_one_streaming_model_and_do_not_mix(models):
    engine = await loaded(models, "streaming_transducer", parallel=2)
    found = []

    async def one(seconds: float) -> None:
        found.append((await heard(engine, voice(seconds)))[1].text)

    async with anyio.create_task_group() as group:
        for seconds in (1.0, 1.5, 2.0, 0.7):
            group.start_soon(one, seconds)
    assert found == ["HELLO THERE WORLD"] * 4


async def test_a_transducer_hears_a_whole_utterance(models):
    engine = await loaded(models, "transducer")
    transcript = await engine.transcribe(voice(1), word_timestamps=True)
    assert transcript.text == "HELLO THERE WORLD"
    assert [word.text for word in transcript.words] == ["HELLO", "THERE", "WORLD"]


async def test_qwen_says_in_which_language_it_is_asked(models):
    engine = await loaded(models, "qwen")
    assert not engine.word_timestamps
    assert (await engine.transcribe(voice(2))).text.strip() == "Hello there world"
    told = await engine.transcribe(voice(2), language="de-DE", prompt="Duologue, Kokoro")
    assert told.text.strip() == "Hello there world"
    shown, final = await heard(engine, voice(2), language="en")
    assert "Hello there world" in shown
    assert final.understood


async def test_a_long_recording_is_heard_in_parts(models):
    engine = await loaded(models, "transducer")
    assert (await engine.transcribe(voice(60))).text == " ".join(["HELLO THERE WORLD"] * 3)


async def test_nothing_is_not_understood(models):
    engine = await loaded(models, "transducer")
    assert not (await engine.transcribe(b"")).understood


async def test_a_model_that_is_missing_comes_with_the_command_that_fetches_it(models):
    with pytest.raises(StartFailed, match=r"releases/download/asr-models/sherpa-onnx-x\.tar\.bz2"):
        await loaded(models, "sherpa-onnx-x")


async def test_files_of_no_known_kind_are_refused_before_the_library_sees_them(models):
    (models / "odd").mkdir()
    (models / "odd" / "tokens.txt").write_text("a 0\n")
    (models / "odd" / "model.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(StartFailed, match="not a model of a known kind"):
        await loaded(models, "odd")
