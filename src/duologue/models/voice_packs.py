"""The voice packs: a recogniser and a voice that go together, by language, each a model of sherpa-onnx's releases.

Data for the voice settings and `duologue setup voice`. Sizes are those of the archives in bytes, as the release lists them,
read in November 2026; licences are those of the weights, from the page named as `source`. Digests are not kept here: each
release publishes one for every archive, which is fetched with the download. Pure.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.errors import NotFound

RELEASES = "https://github.com/k2-fsa/sherpa-onnx/releases/download"
DIGESTS = "checksum.txt"
"""The file of a release with the SHA-256 of each of its archives."""
ENGINE: Literal["sherpa"] = "sherpa"
Release = Literal["asr-models", "tts-models"]
Variant = Literal["", "small"]


class SpeechModelArchive(Struct, frozen=True):
    """An archive of a release. `name` is its folder and its own name, `does` a few words about it, `title` the model's name as people
    write it."""

    name: str
    release: Release
    size: int
    licence: str
    does: str
    source: str
    title: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}.tar.bz2"


class TurnEndModel(Struct, frozen=True):
    """A file on the hub that judges by sound whether a caller has finished. Downloaded where the setting `voice.turn_end.enabled` asks
    for it; a pack works without it."""

    repository: str
    file: str
    size: int
    licence: str
    does: str
    source: str


class VoicePack(Struct, frozen=True):
    """What is downloaded and used together. `languages`: BCP 47 tags in which one can both speak and be answered. `variant`: what
    distinguishes it from another pack of the same languages."""

    name: str
    title: str
    languages: tuple[str, ...]
    recogniser: SpeechModelArchive
    speaker: SpeechModelArchive
    voice: str = ""
    """The voice of the speaker that is used by default, "" its own."""
    variant: Variant = ""
    turn_end: TurnEndModel | None = None

    @property
    def archives(self) -> tuple[SpeechModelArchive, ...]:
        return (self.recogniser, self.speaker)

    @property
    def size(self) -> int:
        return sum(archive.size for archive in self.archives)


PARAKEET = SpeechModelArchive(
    "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8",
    "asr-models",
    487_170_055,
    "CC-BY-4.0",
    "Parakeet, for 25 European languages, with word times",
    "https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3",
    "Parakeet v3",
)
MOONSHINE = SpeechModelArchive(
    "sherpa-onnx-moonshine-base-en-quantized-2026-02-27",
    "asr-models",
    111_266_225,
    "MIT",
    "Moonshine, small and quick, for English",
    "https://huggingface.co/UsefulSensors/moonshine",
    "Moonshine",
)
QWEN = SpeechModelArchive(
    "sherpa-onnx-qwen3-asr-0.6B-int8-2026-03-25",
    "asr-models",
    878_702_423,
    "Apache-2.0",
    "Qwen3-ASR, for 30 languages",
    "https://huggingface.co/Qwen/Qwen3-ASR-0.6B",
    "Qwen3-ASR",
)
KOKORO = SpeechModelArchive(
    "kokoro-multi-lang-v1_0",
    "tts-models",
    349_418_188,
    "Apache-2.0",
    "Kokoro, natural, with many voices",
    "https://huggingface.co/hexgrad/Kokoro-82M",
    "Kokoro",
)
AMY = SpeechModelArchive(
    "vits-piper-en_US-amy-medium",
    "tts-models",
    67_223_746,
    "CC-BY-SA-4.0",
    "Piper's voice Amy, small and quick",
    "https://huggingface.co/rhasspy/piper-voices/tree/main/en/en_US/amy/medium",
    "Piper Amy",
)
THORSTEN = SpeechModelArchive(
    "vits-piper-de_DE-thorsten-medium",
    "tts-models",
    67_214_254,
    "CC0-1.0",
    "Piper's voice Thorsten, small and quick",
    "https://huggingface.co/rhasspy/piper-voices/tree/main/de/de_DE/thorsten/medium",
    "Piper Thorsten",
)
SIWIS = SpeechModelArchive(
    "vits-piper-fr_FR-siwis-medium",
    "tts-models",
    67_207_459,
    "CC-BY-4.0",
    "Piper's voice Siwis, small and quick",
    "https://huggingface.co/rhasspy/piper-voices/tree/main/fr/fr_FR/siwis/medium",
    "Piper Siwis",
)
DAVEFX = SpeechModelArchive(
    "vits-piper-es_ES-davefx-medium",
    "tts-models",
    67_184_952,
    "CC0-1.0",
    "Piper's voice DaveFX, small and quick",
    "https://huggingface.co/rhasspy/piper-voices/tree/main/es/es_ES/davefx/medium",
    "Piper DaveFX",
)

SMART_TURN = TurnEndModel(
    "pipecat-ai/smart-turn-v3",
    "smart-turn-v3.2-cpu.onnx",
    8_679_182,
    "BSD-2-Clause",
    "Smart Turn, for 23 languages, those of every pack among them",
    "https://huggingface.co/pipecat-ai/smart-turn-v3",
)

PACKS = (
    VoicePack("english", "English", ("en",), PARAKEET, KOKORO, voice="af_heart", turn_end=SMART_TURN),
    VoicePack(
        "english-small", "English, small", ("en",), MOONSHINE, AMY, variant="small", turn_end=SMART_TURN
    ),
    VoicePack("german", "German", ("de",), PARAKEET, THORSTEN, turn_end=SMART_TURN),
    VoicePack("french", "French", ("fr",), PARAKEET, SIWIS, turn_end=SMART_TURN),
    VoicePack("spanish", "Spanish", ("es",), PARAKEET, DAVEFX, turn_end=SMART_TURN),
    VoicePack(
        "chinese", "Chinese and English", ("zh", "en"), QWEN, KOKORO, voice="zf_xiaobei", turn_end=SMART_TURN
    ),
)
"""In the order in which they are offered."""


def find_pack(name: str) -> VoicePack:
    """The pack of this name. Raises NotFound."""
    for pack in PACKS:
        if pack.name == name:
            return pack
    names = ", ".join(pack.name for pack in PACKS)
    raise NotFound(f"There is no voice pack {name[:40]!r}. There are: {names}.", code="pack_not_found")


def digest_of(listing: str, file: str) -> str:
    """The SHA-256 of a file in a release's list of them; "" where it has none. A line has the digest and the name, in either
    order."""
    for line in listing.splitlines():
        words = line.replace("*", " ").split()
        if len(words) == 2 and file in words:
            digest = words[1 - words.index(file)].lower()
            if len(digest) == 64 and not digest.strip("0123456789abcdef"):
                return digest
    return ""
