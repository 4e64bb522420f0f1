"""Which of sherpa-onnx's many kinds of models a folder holds, by its file names and the metadata in its ONNX files.

Called by `sherpa` before it loads a model: the library ends the whole process when it is given a model of one kind as
another. Pure: names and metadata in, a kind out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

ReadMetadata = Callable[[str], Mapping[str, str]]
"""Reads the metadata of the ONNX file with this name."""


class SherpaModel(Struct, frozen=True):
    """`maker`: the library's factory for it (`from_...`); `online`: it is a streaming model; `files`: the factory's
    arguments, and the files for them; `timed`: it has word timestamps."""

    maker: str
    online: bool
    files: dict[str, str]
    timed: bool = True
    settings: dict[str, str] = {}

    @property
    def languages(self) -> str:
        """Where the language is set: on the `stream`, on the `recogniser` when it is created, or nowhere ("")."""
        return LANGUAGES.get(self.maker, "")


LANGUAGES = {
    "qwen3_asr": "stream",
    "cohere_transcribe": "stream",
    "sense_voice": "recogniser",
    "whisper": "recogniser",
    "nemo_canary": "recogniser",
}
ACCEPTS_PROMPT = ("qwen3_asr",)
"""Kinds that take a text the speaker may well use."""
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


def detect_kind(
    names: Sequence[str], metadata: ReadMetadata, *, prefer_int8: bool = True
) -> SherpaModel | None:
    """The kind of the model whose folder has the files `names` (relative, with `/`). `prefer_int8`: of two files of the
    same network take the int8 one. None: an unknown kind."""
    files = _Files(names, prefer_int8)
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
            return _transducer(encoder, decoder, joiner, tokens, metadata)
        return _pair(encoder, decoder, tokens, metadata(encoder))
    if model := files.one(r"(?:model|ctc).*\.onnx") or files.one(r"[^/]*\.onnx"):
        return _single(model, tokens, metadata(model))
    return None


class _Files:
    """The files of a folder, by patterns of their names."""

    def __init__(self, names: Sequence[str], prefer_int8: bool) -> None:
        self.names = sorted(names)
        self._prefer_int8 = prefer_int8

    def one(self, pattern: str) -> str:
        """The first file of this pattern, of the preferred precision if there is one; "" where there is none."""
        matches = [name for name in self.names if "/" not in name and re.fullmatch(pattern, name)]
        preferred = (name for name in matches if (".int8." in name) == self._prefer_int8)
        return next(preferred, matches[0] if matches else "")


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


def _transducer(encoder: str, decoder: str, joiner: str, tokens: str, metadata: ReadMetadata) -> SherpaModel:
    parts = {"encoder": encoder, "decoder": decoder, "joiner": joiner, "tokens": tokens}
    encoder_metadata = {**metadata(encoder)}
    if is_streaming(encoder_metadata) or is_streaming(metadata(decoder)):
        return SherpaModel("transducer", True, parts)
    nemo = encoder_metadata.get("model_type", "").startswith("EncDec")
    return SherpaModel(
        "transducer", False, parts, settings={"model_type": "nemo_transducer" if nemo else "transducer"}
    )


def _pair(encoder: str, decoder: str, tokens: str, metadata: Mapping[str, str]) -> SherpaModel | None:
    parts = {"encoder": encoder, "decoder": decoder, "tokens": tokens}
    kind = metadata.get("model_type", "")
    if "decoder_num_blocks" in metadata:
        return SherpaModel("paraformer", True, parts)
    if kind.startswith("whisper"):
        return SherpaModel("whisper", False, parts, False)
    if kind == "EncDecMultiTaskModel":
        return SherpaModel("nemo_canary", False, parts, False)
    if "cmvn_mean" in metadata:
        return SherpaModel("fire_red_asr", False, parts, False)
    return None


def _single(model: str, tokens: str, metadata: Mapping[str, str]) -> SherpaModel | None:
    parts = {"model": model, "tokens": tokens}
    kind = metadata.get("model_type", "")
    if kind == "sense_voice_ctc" or "with_itn" in metadata:
        return SherpaModel("sense_voice", False, parts)
    if kind == "paraformer" or "lfr_window_size" in metadata:
        return SherpaModel("paraformer", False, {"paraformer": model, "tokens": tokens})
    if kind.startswith("EncDec"):
        return SherpaModel("nemo_ctc", is_streaming(metadata), parts)
    if "decode_chunk_len" in metadata:
        return SherpaModel("zipformer2_ctc", True, parts)
    if kind == "t-one":
        return SherpaModel("t_one_ctc", True, parts)
    if kind == "wenet_ctc" and "right_context" in metadata:
        return SherpaModel("wenet_ctc", True, parts)
    if kind in _CTC:
        return SherpaModel(_CTC[kind], False, parts)
    return SherpaModel("dolphin_ctc", False, parts) if {"mean", "invstd"} <= metadata.keys() else None


def is_streaming(metadata: Mapping[str, str]) -> bool:
    """Whether a model with this metadata is a streaming one."""
    return any(name in metadata for name in _STREAMING)
