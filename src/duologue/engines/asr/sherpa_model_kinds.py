"""Which of sherpa-onnx's many kinds of models a folder holds, told from its files and what they say of themselves.

The library ends the whole process when it is given a model of one kind as another, so this is decided here, before it is
asked. Owns the rules. Pure: names and properties in, a kind out. Knows no library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

Properties = Callable[[str], Mapping[str, str]]
"""What an ONNX file says of itself."""


class SherpaModel(Struct, frozen=True):
    """`maker`: the function of the library's recogniser that makes it (`from_...`); `online`: it hears while one speaks;
    `files`: that function's arguments, and the files for them; `timed`: it knows when its words were said."""

    maker: str
    online: bool
    files: dict[str, str]
    timed: bool = True
    settings: dict[str, str] = {}

    @property
    def languages(self) -> str:
        """How a language is told: to the `stream`, to the `recogniser` when it is made, or not at all ("")."""
        return LANGUAGES.get(self.maker, "")


LANGUAGES = {
    "qwen3_asr": "stream",
    "cohere_transcribe": "stream",
    "sense_voice": "recogniser",
    "whisper": "recogniser",
    "nemo_canary": "recogniser",
}
HINTED = ("qwen3_asr",)
"""Kinds that take text the speaker may well use."""
KNOWN = (
    "transducers (Zipformer, Parakeet), Zipformer, NeMo, WeNet and other CTC models, SenseVoice, Paraformer, Whisper, "
    "Moonshine, Canary, FireRed, Qwen3-ASR"
)
_STREAMING = ("decode_chunk_len", "cache_last_time_dim1", "streaming_model_type")
_CTC = {
    "zipformer2_ctc": "zipformer_ctc",
    "wenet_ctc": "wenet_ctc",
    "telespeech_ctc": "telespeech_ctc",
    "omnilingual-asr": "omnilingual_asr_ctc",
    "medasr_ctc": "medasr_ctc",
}


def kind_of(names: Sequence[str], properties: Properties, *, small: bool = True) -> SherpaModel | None:
    """The kind of the model whose folder has the files `names` (with `/` in them where they lie deeper); `small`: of two
    files for the same the one with smaller numbers (int8) is taken. None: none that is known."""
    files = _Files(names, small)
    tokens = files.one(r"(?:.*[-_])?tokens\.txt")
    if frontend := files.one(r"conv_frontend.*\.onnx"):
        return _qwen(frontend, files)
    if not tokens:
        return None
    if (encoder := files.one(r"encoder_model.*\.(?:ort|onnx)")) and (
        merged := files.one(r"decoder_model_merged.*\.(?:ort|onnx)")
    ):
        return SherpaModel(
            "moonshine_v2", False, {"encoder": encoder, "decoder": merged, "tokens": tokens}, False
        )
    if first := files.one(r"preprocess.*\.onnx"):
        return _moonshine(first, tokens, files)
    encoder, decoder = files.one(r"(?:.*-)?encoder.*\.onnx"), files.one(r"(?:.*-)?decoder.*\.onnx")
    if encoder and decoder:
        joiner = files.one(r"(?:.*-)?joiner.*\.onnx")
        if joiner:
            return _transducer(encoder, decoder, joiner, tokens, properties)
        return _pair(encoder, decoder, tokens, properties(encoder))
    if model := files.one(r"(?:model|ctc).*\.onnx") or files.one(r"[^/]*\.onnx"):
        return _single(model, tokens, properties(model))
    return None


class _Files:
    """The files of a folder, found by what their names look like."""

    def __init__(self, names: Sequence[str], small: bool) -> None:
        self.names = sorted(names)
        self._small = small

    def one(self, pattern: str) -> str:
        """The first file that looks like this, of those as small or large as wanted; "" where there is none."""
        found = [name for name in self.names if "/" not in name and re.fullmatch(pattern, name)]
        return next((name for name in found if (".int8." in name) == self._small), found[0] if found else "")


def _qwen(frontend: str, files: _Files) -> SherpaModel | None:
    encoder, decoder = files.one(r"encoder.*\.onnx"), files.one(r"decoder.*\.onnx")
    vocabulary = next((name for name in files.names if name.rpartition("/")[2] == "vocab.json"), None)
    if not encoder or not decoder or vocabulary is None:
        return None
    parts = {"conv_frontend": frontend, "encoder": encoder, "decoder": decoder}
    return SherpaModel("qwen3_asr", False, parts | {"tokenizer": vocabulary.rpartition("/")[0] or "."}, False)


def _moonshine(first: str, tokens: str, files: _Files) -> SherpaModel | None:
    parts = {
        "preprocessor": first,
        "encoder": files.one(r"encode[^r]*\.onnx"),
        "uncached_decoder": files.one(r"uncached_decode.*\.onnx"),
        "cached_decoder": files.one(r"cached_decode.*\.onnx"),
    }
    return SherpaModel("moonshine", False, parts | {"tokens": tokens}, False) if all(parts.values()) else None


def _transducer(encoder: str, decoder: str, joiner: str, tokens: str, properties: Properties) -> SherpaModel:
    parts = {"encoder": encoder, "decoder": decoder, "joiner": joiner, "tokens": tokens}
    said = {**properties(encoder)}
    if streams(said) or streams(properties(decoder)):
        return SherpaModel("transducer", True, parts)
    nemo = said.get("model_type", "").startswith("EncDec")
    return SherpaModel(
        "transducer", False, parts, settings={"model_type": "nemo_transducer" if nemo else "transducer"}
    )


def _pair(encoder: str, decoder: str, tokens: str, said: Mapping[str, str]) -> SherpaModel | None:
    parts = {"encoder": encoder, "decoder": decoder, "tokens": tokens}
    kind = said.get("model_type", "")
    if "decoder_num_blocks" in said:
        return SherpaModel("paraformer", True, parts)
    if kind.startswith("whisper"):
        return SherpaModel("whisper", False, parts, False)
    if kind == "EncDecMultiTaskModel":
        return SherpaModel("nemo_canary", False, parts, False)
    if "cmvn_mean" in said:
        return SherpaModel("fire_red_asr", False, parts, False)
    return None


def _single(model: str, tokens: str, said: Mapping[str, str]) -> SherpaModel | None:
    parts = {"model": model, "tokens": tokens}
    kind = said.get("model_type", "")
    if kind == "sense_voice_ctc" or "with_itn" in said:
        return SherpaModel("sense_voice", False, parts)
    if kind == "paraformer" or "lfr_window_size" in said:
        return SherpaModel("paraformer", False, {"paraformer": model, "tokens": tokens})
    if kind.startswith("EncDec"):
        return SherpaModel("nemo_ctc", streams(said), parts)
    if "decode_chunk_len" in said:
        return SherpaModel("zipformer2_ctc", True, parts)
    if kind == "t-one":
        return SherpaModel("t_one_ctc", True, parts)
    if kind == "wenet_ctc" and "right_context" in said:
        return SherpaModel("wenet_ctc", True, parts)
    if kind in _CTC:
        return SherpaModel(_CTC[kind], False, parts)
    return SherpaModel("dolphin_ctc", False, parts) if {"mean", "invstd"} <= said.keys() else None


def streams(said: Mapping[str, str]) -> bool:
    """Whether a model that says this of itself hears while one speaks."""
    return any(name in said for name in _STREAMING)
