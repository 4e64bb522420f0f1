"""Which of sherpa-onnx's kinds of speech models a folder holds, by its file names and the metadata in its ONNX files.

Called by `sherpa_speaker` before it loads a model: the library ends the whole process when a file or an entry of the
metadata is missing. Pure: names and metadata in, a kind out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from duologue.errors import StartFailed

ReadMetadata = Callable[[str], Mapping[str, str]]
"""Reads the metadata of the ONNX file with this name."""
Family = Literal["vits", "matcha", "kokoro", "kitten", "zipvoice", "pocket", "supertonic"]

KNOWN = "VITS (Piper, MeloTTS, Coqui, MMS), Matcha, Kokoro, KittenTTS, Supertonic, Pocket TTS, ZipVoice"
REQUIRED: dict[str, tuple[str, ...]] = {
    "vits": ("sample_rate", "n_speakers", "language", "comment"),
    "matcha": ("sample_rate", "n_speakers", "use_eos_bos", "pad_id"),
    "kokoro": ("sample_rate", "n_speakers", "has_espeak", "style_dim"),
    "kitten": ("sample_rate", "n_speakers", "has_espeak", "style_dim"),
}
"""What the library reads from a network's metadata, and ends the process without."""
_PHONEMES = ("piper", "coqui", "icefall", "Inflect")
"""In the comment of VITS models that were trained on the phonemes of espeak-ng."""
_POCKET = ("lm_flow", "lm_main", "encoder", "decoder", "text_conditioner")
_SUPERTONIC = ("duration_predictor", "text_encoder", "vector_estimator", "vocoder")


class SpeechModel(Struct, frozen=True):
    """`family`: the library's name of its kind; `files`: the settings of this kind, each with one or more files; `metadata`:
    that of its main network; `rules` and `archives`: grammars that normalise text."""

    family: Family
    files: dict[str, tuple[str, ...]]
    metadata: Mapping[str, str] = {}
    rules: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()

    @property
    def reads_phonemes(self) -> bool:
        """Whether it is given phonemes, and not text. The library itself turns only words of a lexicon into sounds."""
        if self.family == "vits":
            return "lexicon" not in self.files and self.metadata.get("frontend") != "characters"
        if self.family == "matcha":
            return "lexicon" not in self.files
        return self.family in ("kokoro", "kitten")

    @property
    def clones(self) -> bool:
        """Whether it speaks with the voice of a recording."""
        return self.family in ("pocket", "zipvoice")


def detect_speech_kind(
    names: Sequence[str], metadata: ReadMetadata, *, prefer_int8: bool = True
) -> SpeechModel | None:
    """The kind of the model whose folder has the files `names` (relative, with `/`). `prefer_int8`: of two files of the
    same network take the int8 one. None: an unknown kind. Raises StartFailed for a known one that lacks something."""
    folder = _Folder(names, prefer_int8)
    if folder.network("lm_flow"):
        return _pocket(folder)
    if folder.network("vector_estimator"):
        return _supertonic(folder)
    if not folder.has("tokens.txt"):
        return None
    if folder.network("encoder", "text_encoder") and folder.network("decoder", "fm_decoder"):
        return _zipvoice(folder)
    return _single(folder, metadata)


class _Folder:
    """The files of a folder, by their names."""

    def __init__(self, names: Sequence[str], prefer_int8: bool) -> None:
        self.top = sorted(name for name in names if "/" not in name)
        self._names = frozenset(names)
        self._prefer_int8 = prefer_int8

    def has(self, name: str) -> bool:
        return name in self._names

    def pattern(self, pattern: str) -> tuple[str, ...]:
        return tuple(name for name in self.top if re.fullmatch(pattern, name))

    def network(self, *stems: str) -> str:
        """The ONNX file called like one of these, of the preferred precision if there are two; "" for none."""
        found = self.pattern(rf"(?:{'|'.join(stems)})(?:[-.].*)?\.onnx")
        return self._preferred(found)

    def other_network(self, *without: str) -> str:
        """Any other ONNX file of the folder; "" for none."""
        return self._preferred(tuple(name for name in self.pattern(r".*\.onnx") if name not in without))

    def _preferred(self, found: Sequence[str]) -> str:
        preferred = (name for name in found if (".int8" in name) == self._prefer_int8)
        return next(preferred, found[0] if found else "")

    @property
    def lexicon(self) -> dict[str, tuple[str, ...]]:
        files = self.pattern(r"lexicon.*\.txt")
        if "lexicon-us-en.txt" in files:
            files = tuple(name for name in files if name != "lexicon-gb-en.txt")
        return {"lexicon": files} if files else {}


def _pocket(folder: _Folder) -> SpeechModel:
    files = {part: _needed(folder.network(part), f"{part}.onnx") for part in _POCKET}
    files |= {name: _existing(folder, f"{name}.json") for name in ("vocab", "token_scores")}
    files["vocab_json"], files["token_scores_json"] = files.pop("vocab"), files.pop("token_scores")
    return SpeechModel("pocket", files)


def _supertonic(folder: _Folder) -> SpeechModel:
    files = {part: _needed(folder.network(part), f"{part}.onnx") for part in _SUPERTONIC}
    files |= {
        "tts_json": _existing(folder, "tts.json"),
        "unicode_indexer": _existing(folder, "unicode_indexer.bin"),
        "voice_style": _existing(folder, "voice.bin"),
    }
    return SpeechModel("supertonic", files)


def _zipvoice(folder: _Folder) -> SpeechModel:
    files = {
        "tokens": ("tokens.txt",),
        "encoder": (folder.network("encoder", "text_encoder"),),
        "decoder": (folder.network("decoder", "fm_decoder"),),
        "vocoder": _needed(folder.network(r"vocos[^.]*"), "vocos_24khz.onnx", VOCODERS),
        "lexicon": _existing(folder, "lexicon.txt"),
    }
    return SpeechModel("zipvoice", files)


VOCODERS = (
    " It is one of the files of https://github.com/k2-fsa/sherpa-onnx/releases/tag/vocoder-models "
    "and belongs into the same folder."
)


def _single(folder: _Folder, metadata: ReadMetadata) -> SpeechModel | None:
    """A model with one network for the sound, or one with a vocoder after it."""
    vocoder = folder.network(r"vocos[^.]*", r"hifigan[^.]*")
    network = folder.network("model[^.]*") or folder.other_network(vocoder)
    if not network:
        return None
    properties = metadata(network)
    family = _family(folder, properties)
    if family is None:
        return None
    for entry in REQUIRED[family]:
        if entry not in properties:
            raise StartFailed(f"The network {network} has no entry {entry!r} in its metadata.", param="model")
    files: dict[str, tuple[str, ...]] = {"tokens": ("tokens.txt",)}
    if family == "matcha":
        files |= folder.lexicon | {"acoustic_model": (network,)}
        if properties.get("need_vocoder", "1") != "0":
            files["vocoder"] = _needed(vocoder, "vocos-22khz-univ.onnx", VOCODERS)
    elif family == "vits":
        files |= folder.lexicon | {"model": (network,)}
    else:
        files |= {"model": (network,), "voices": ("voices.bin",)}
        if family == "kokoro":
            files |= folder.lexicon
    _check_frontend(family, files, properties)
    return SpeechModel(family, files, properties, folder.pattern(r".*\.fst"), folder.pattern(r".*\.far"))


def _family(folder: _Folder, properties: Mapping[str, str]) -> Family | None:
    kind = properties.get("model_type", "")
    if folder.has("voices.bin"):
        return "kitten" if kind.startswith("kitten") else "kokoro"
    if kind.startswith("matcha"):
        return "matcha"
    return "vits" if {"n_speakers", "sample_rate"} <= properties.keys() else None


def _check_frontend(family: Family, files: Mapping[str, object], properties: Mapping[str, str]) -> None:
    """Raises StartFailed where nothing turns text into the model's tokens."""
    if "lexicon" in files or properties.get("frontend") == "characters":
        return
    if family == "vits":
        ready = any(word in properties.get("comment", "") for word in _PHONEMES)
    else:
        ready = family != "matcha" or properties.get("jieba", "0") != "1"
    if not ready:
        raise StartFailed(
            "The model is incomplete: it needs a lexicon (lexicon.txt) to read text. Fetch it again.",
            code="weights_missing",
            param="model",
        )


def _existing(folder: _Folder, file: str) -> tuple[str, ...]:
    return _needed(file if folder.has(file) else "", file)


def _needed(found: str, file: str, advice: str = "") -> tuple[str, ...]:
    if not found:
        raise StartFailed(
            f"The model is incomplete: {file} is missing.{advice or ' Fetch it again.'}",
            code="weights_missing",
            param="model",
        )
    return (found,)
