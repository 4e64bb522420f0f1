"""Small networks of sherpa-onnx's models that imitate a recording, made for the real library.

To what Pocket TTS computes of a recording a little chance is added, so that one computation can be told from the next. Used by the
tests of `sherpa_speaker`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy
from tests.support.tiny_onnx import FLOAT, LONG, save_network, write_tokens

FRAME = 1920
"""Samples of a frame of Pocket TTS at 24 kHz: 80 ms."""
CHANCE = 0.2
HUM = numpy.where(numpy.arange(FRAME) % 40 < 20, 1, -1).astype(numpy.float32).reshape(1, 1, FRAME)
WIDTH, LATENT = 1024, 32
"""What the library takes for granted: numbers of an embedding, and of a frame."""
MELS, SPECTRUM, HOP = 100, 513, 256
"""Numbers of a frame of ZipVoice and of its spectrum, and its samples."""
VOICE, LETTERS = 0, 1
"""The places in an embedding for the loudness of the recording, and for 1 in each letter of the text."""


def at(place: int) -> numpy.ndarray:
    """An embedding with 1 at this place."""
    return numpy.eye(WIDTH, dtype=numpy.float32)[place].reshape(1, 1, WIDTH)


def pocket(folder: Path) -> None:
    """Pocket TTS: a frame for each letter, in the loudness of the recording."""
    save_network(
        folder / "encoder.onnx",
        [
            ("Abs", ["audio"], ["loud"], {}),
            ("ReduceMean", ["loud"], ["mean"], {"axes": [2], "keepdims": 1}),
            ("RandomUniform", [], ["chance"], {"shape": [1, 1, 1], "low": 0.0, "high": CHANCE}),
            ("Add", ["mean", "chance"], ["voice"], {}),
            ("Mul", ["voice", "place"], ["embedding"], {}),
        ],
        [("audio", FLOAT, [1, 1, "N"])],
        [("embedding", FLOAT, [1, 1, WIDTH])],
        {"place": at(VOICE)},
    )
    save_network(
        folder / "text_conditioner.onnx",
        [
            ("Cast", ["tokens"], ["numbers"], {"to": FLOAT}),
            ("Mul", ["numbers", "zero"], ["zeros"], {}),
            ("Unsqueeze", ["zeros", "axis"], ["column"], {}),
            ("Add", ["column", "place"], ["embedding"], {}),
        ],
        [("tokens", LONG, [1, "N"])],
        [("embedding", FLOAT, [1, "N", WIDTH])],
        {"zero": numpy.array(0, numpy.float32), "axis": numpy.array([2]), "place": at(LETTERS)},
    )
    _language_model(folder / "lm_main.onnx")
    save_network(
        folder / "lm_flow.onnx",
        [
            ("Sub", ["c", "x"], ["way"], {}),
            ("Sub", ["t", "s"], ["time"], {}),
            ("Div", ["way", "time"], ["flow"], {}),
        ],
        [("c", FLOAT, [1, 1]), ("s", FLOAT, [1, 1]), ("t", FLOAT, [1, 1]), ("x", FLOAT, [1, LATENT])],
        [("flow", FLOAT, [1, LATENT])],
    )
    save_network(
        folder / "decoder.onnx",
        [
            ("ReduceMean", ["latent"], ["loudness"], {"axes": [2], "keepdims": 1}),
            ("Mul", ["loudness", "hum"], ["frames"], {}),
            ("Reshape", ["frames", "flat"], ["audio"], {}),
        ],
        [("latent", FLOAT, [1, "T", LATENT])],
        [("audio", FLOAT, [1, 1, "S"])],
        {"hum": HUM, "flat": numpy.array([1, 1, -1])},
    )
    tokens = ["▁", *"abcdefghijklmnopqrstuvwxyz", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "token_scores.json").write_text(json.dumps(dict.fromkeys(tokens, -1.0)), encoding="utf-8")


def _language_model(path: Path) -> None:
    """It remembers the loudness and how many letters are left; each frame takes one of them."""
    save_network(
        path,
        [
            ("Concat", ["nothing", "embeddings"], ["all"], {"axis": 1}),
            ("ReduceSum", ["all", "rows"], ["sum"], {"keepdims": 0}),
            ("Gather", ["sum", "voice_at"], ["more_voice"], {"axis": 1}),
            ("Gather", ["sum", "letters_at"], ["more_letters"], {"axis": 1}),
            ("Add", ["voice", "more_voice"], ["next_voice"], {}),
            ("Shape", ["sequence"], ["shape"], {}),
            ("Gather", ["shape", "frames_at"], ["frames"], {"axis": 0}),
            ("Cast", ["frames"], ["spoken"], {"to": FLOAT}),
            ("Add", ["left", "more_letters"], ["to_speak"], {}),
            ("Sub", ["to_speak", "spoken"], ["next_left"], {}),
            ("Identity", ["next_voice"], ["conditioning"], {}),
            ("Sub", ["end", "next_left"], ["end_logit"], {}),
        ],
        [
            ("sequence", FLOAT, [1, "S", LATENT]),
            ("embeddings", FLOAT, [1, "T", WIDTH]),
            ("voice", FLOAT, [1, 1]),
            ("left", FLOAT, [1, 1]),
        ],
        [
            ("conditioning", FLOAT, [1, 1]),
            ("end_logit", FLOAT, [1, 1]),
            ("next_voice", FLOAT, [1, 1]),
            ("next_left", FLOAT, [1, 1]),
        ],
        {
            "nothing": numpy.zeros((1, 1, WIDTH), numpy.float32),
            "rows": numpy.array([1]),
            "voice_at": numpy.array([VOICE]),
            "letters_at": numpy.array([LETTERS]),
            "frames_at": numpy.array([1]),
            # The library stops a little after the logit is above -4.
            "end": numpy.array([[-3.5]], numpy.float32),
        },
    )


def zipvoice(folder: Path) -> None:
    """ZipVoice: ten frames for each letter of the text and of what is said in the recording, and as many as the recording has. It cannot
    tell how loud that is: the library makes every recording as loud."""
    write_tokens(folder, ["_", *"abcdefghijklmnopqrstuvwxyz", *" .,?!"])
    words = ("hello", "there", "one", "two")
    lexicon = "".join(f"{word} {' '.join(word)}\n" for word in words)
    (folder / "lexicon.txt").write_text(lexicon, encoding="utf-8")
    save_network(
        folder / "encoder.onnx",
        [
            ("Concat", ["tokens", "prompt_tokens"], ["all"], {"axis": 1}),
            ("Shape", ["all"], ["shape"], {}),
            ("Gather", ["shape", "last"], ["letters"], {"axis": 0}),
            ("Mul", ["letters", "each"], ["spelt"], {}),
            ("Add", ["spelt", "prompt_features_len"], ["own"], {}),
            # The library cuts off as many frames as the recording has.
            ("Add", ["own", "prompt_features_len"], ["frames"], {}),
            ("Concat", ["last", "frames", "mels"], ["wanted"], {"axis": 0}),
            ("Expand", ["nothing", "wanted"], ["text_condition"], {}),
        ],
        [
            ("tokens", LONG, [1, "N"]),
            ("prompt_tokens", LONG, [1, "M"]),
            ("prompt_features_len", LONG, [1]),
            ("speed", FLOAT, [1]),
        ],
        [("text_condition", FLOAT, [1, "T", MELS])],
        {
            "last": numpy.array([1]),
            "each": numpy.array([10]),
            "mels": numpy.array([MELS]),
            "nothing": numpy.zeros((1, 1, 1), numpy.float32),
        },
        use_espeak=0,
    )
    save_network(
        folder / "decoder.onnx",
        [
            ("Sub", ["one", "x"], ["way"], {}),
            ("Sub", ["one", "t"], ["time"], {}),
            ("Div", ["way", "time"], ["v"], {}),
        ],
        [
            ("t", FLOAT, [1]),
            ("x", FLOAT, [1, "T", MELS]),
            ("text_condition", FLOAT, [1, "T", MELS]),
            ("speech_condition", FLOAT, [1, "T", MELS]),
            ("guidance_scale", FLOAT, [1]),
        ],
        [("v", FLOAT, [1, "T", MELS])],
        {"one": numpy.array([1], numpy.float32)},
        version=1,
        feat_dim=MELS,
        sample_rate=24_000,
        n_fft=1024,
        hop_length=HOP,
        window_length=1024,
        num_mels=MELS,
    )
    save_network(
        folder / "vocos_24khz.onnx",
        [
            ("ReduceMean", ["mel"], ["loud"], {"axes": [1], "keepdims": 1}),
            ("Mul", ["loud", "hum"], ["mag"], {}),
            ("Mul", ["mag", "zero"], ["y"], {}),
            ("Add", ["y", "one"], ["x"], {}),
        ],
        [("mel", FLOAT, [1, MELS, "T"])],
        [(name, FLOAT, [1, SPECTRUM, "T"]) for name in ("mag", "x", "y")],
        {
            "hum": 15 * numpy.eye(SPECTRUM, dtype=numpy.float32)[20].reshape(1, SPECTRUM, 1),
            "zero": numpy.array(0, numpy.float32),
            "one": numpy.array(1, numpy.float32),
        },
        model_type="vocos",
        sample_rate=24_000,
        n_fft=2 * (SPECTRUM - 1),
        hop_length=HOP,
        win_length=2 * (SPECTRUM - 1),
        center=1,
        normalized=0,
        window_type="hann",
        pad_mode="reflect",
    )
