"""Loading MiniCPM-o: where its weights are, the consent to run the code that comes with them, and its libraries.

`engine` calls `read_model`, in a thread. The weights bring Python code, which transformers imports into this process (`trust_remote_code`):
it may do whatever the worker may. So it is run only if the settings say so, and only in the revision that they name.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.devices import Device, numbered_cards, parse_device, require_card
from duologue.engines.minicpmo.reference_voice import ReferenceVoice, read_voice
from duologue.engines.minicpmo.reply_methods import bound_silence
from duologue.engines.optional_library import loading
from duologue.engines.options import read_options
from duologue.engines.weights import check_files, find_folder, hub_command, missing_weights, target_folder
from duologue.errors import StartFailed

MODEL = "MiniCPM-o-4_5"
REPOSITORY = "openbmb/MiniCPM-o-4_5"
CONTEXT = 8192
"""Tokens of sound, pictures and text that the model was trained for."""
VOICE = Path("assets/system_ref_audio.wav")
"""The voice that comes with the weights, within their folder."""
METADATA = Path(".cache/huggingface/download")
"""Where a download by `hf` notes the commit of each file, within the folder."""
UNTRUSTED = "remote_code_untrusted"
INSTALL = (
    "It needs transformers 4.51 and minicpmo-utils, which exclude the server's own packages: make an environment for it and name its "
    "interpreter in the worker's python (docs/models.md, MiniCPM-o)."
)


class MiniCPMOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`model`: a folder, or the name of one in `models`. `trust_remote_code` and `revision`: run the code in it, if it is of this revision
    (see `revision_of`). `voice`: a WAV file to speak like, "" for the one that comes with the weights; `speech` False: without the
    parts that speak; `attention`: transformers' name."""

    model: str = MODEL
    models: str = ""
    name: str = ""
    slots: int = 1
    context: int = CONTEXT
    device: str = "auto"
    trust_remote_code: bool = False
    revision: str = ""
    voice: str = ""
    speech: bool = True
    attention: str = "sdpa"


class LoadedModel(Struct, frozen=True):
    """`model`: the object of the weights' own class. `voices` by name, the default first; `speaks`: its vocoder is loaded."""

    model: Any
    name: str
    context: int = CONTEXT
    size: int = 0
    device: str = ""
    speaks: bool = True
    voices: dict[str, ReferenceVoice] = {}
    warnings: tuple[str, ...] = ()


def read_model(given: dict[str, Any]) -> LoadedModel:
    """Load the model. Blocks for a minute. Raises StartFailed."""
    options = read_options(MiniCPMOptions, given, "minicpmo")
    if options.slots != 1:
        raise StartFailed(
            "The engine minicpmo has one slot: its model answers one after the other.", param="slots"
        )
    device = parse_device(options.device)
    folder = find_weights(options)
    check_trust(folder, options)
    voices = find_voices(folder, options)
    model, place, warnings = _open_model(folder, options, device)
    if options.speech and not voices:
        warnings += (
            f"There is no {VOICE} in {folder}, so it speaks only like a recording that comes with a request.",
        )
    return LoadedModel(
        model,
        options.name or folder.name,
        options.context,
        sum(path.stat().st_size for path in folder.glob("*.safetensors")),
        place,
        options.speech,
        voices,
        warnings,
    )


def find_weights(options: MiniCPMOptions) -> Path:
    """The folder of the model. Raises StartFailed with the command that fetches it."""
    folder = find_folder(options.model, options.models, (options.model.rpartition("/")[2],))
    if folder is None:
        target = target_folder(options.model, options.models)
        raise missing_weights("minicpmo", options.model, [hub_command(REPOSITORY, target)], target)
    check_files("minicpmo", folder, ("config.json",))
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError, OSError):
        kind = None
    if kind != "minicpmo" or not list(folder.glob("*.py")):
        raise StartFailed(
            f"The folder {folder} has no MiniCPM-o model with its code. Fetch it with: {hub_command(REPOSITORY, folder)}",
            code="weights_missing",
            param="model",
        )
    return folder


def check_trust(folder: Path, options: MiniCPMOptions) -> None:
    """Raises StartFailed (`remote_code_untrusted`) unless the settings allow to run the code in this folder, as it is now."""
    found = revision_of(folder)
    files = sorted(path.name for path in folder.glob("*.py"))
    if not options.trust_remote_code or not options.revision:
        raise StartFailed(
            f"The model in {folder} comes with {len(files)} Python files ({', '.join(files[:3])} ...), which would run with all the rights of "
            "this server. If you trust their publisher, set these options of the worker: "
            f"trust_remote_code: true and revision: {found}",
            code=UNTRUSTED,
            param="trust_remote_code",
        )
    if options.revision not in (found, code_digest(folder)):
        raise StartFailed(
            f"The code in {folder} is of revision {found}, and the settings trust {options.revision}. Fetch that revision, or read what "
            "has changed and set the new one.",
            code=UNTRUSTED,
            param="revision",
        )


def revision_of(folder: Path) -> str:
    """The commit of the hub that the code in a folder was downloaded from; without a note of it, or where a file is not as it was
    downloaded, `code_digest`."""
    commits = set()
    for path in folder.glob("*.py"):
        note = folder / METADATA / f"{path.name}.metadata"
        try:
            commit, etag = note.read_text(encoding="utf-8").splitlines()[:2]
        except (OSError, ValueError):
            return code_digest(folder)
        if etag.strip() != _blob_id(path):
            return code_digest(folder)
        commits.add(commit.strip())
    return commits.pop() if len(commits) == 1 else code_digest(folder)


def code_digest(folder: Path) -> str:
    """A digest of all Python files in a folder and their names: "sha256:" and 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def find_voices(folder: Path, options: MiniCPMOptions) -> dict[str, ReferenceVoice]:
    """The model's voice by its name. Raises StartFailed for a file of the settings that is no recording."""
    if not options.speech:
        return {}
    path = Path(options.voice).expanduser() if options.voice else folder / VOICE
    return {path.stem: read_voice(path)} if options.voice or path.is_file() else {}


def silence_code(model: Any) -> None:
    """Keep the code of the weights from writing conversations into the server's log: it prints each piece that the model says."""
    package = type(model).__module__.rpartition(".")[0]
    logging.getLogger(package).setLevel(logging.WARNING)
    for name, module in list(sys.modules.items()):
        if package and name.startswith(f"{package}.") and module is not None:
            vars(module)["print"] = _print_nothing


def _print_nothing(*what: object, **how: object) -> None:
    return None


def _blob_id(path: Path) -> str:
    """The hash by which git knows a file, which the hub gives as its etag."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _open_model(folder: Path, options: MiniCPMOptions, device: Device) -> tuple[Any, str, tuple[str, ...]]:
    """The model, where it is, and warnings."""
    # The weights' code fetches from the hub what it does not find. Nothing is ever downloaded here (`engines/weights`).
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch
        from transformers import AutoModel
    except ImportError as error:
        raise StartFailed(
            f"The engine minicpmo needs the package {error.name}. {INSTALL}", code="engine_missing"
        ) from None
    cards = numbered_cards(torch.cuda.device_count())
    require_card(device, cards)
    place = device.name if device.kind != "auto" else "cuda:0" if cards else "cpu"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    # Quantised weights bring their own numbers, and are where they belong once they are loaded.
    is_quantised = "quantization_config" in config
    numbers = {} if is_quantised else {"torch_dtype": torch.bfloat16}
    with loading(f"The model in {folder} cannot be loaded", ImportError, AttributeError, TypeError, KeyError):
        model = AutoModel.from_pretrained(
            str(folder),
            trust_remote_code=True,
            local_files_only=True,
            attn_implementation=options.attention,
            init_vision=True,
            init_audio=True,
            init_tts=options.speech,
            **numbers,
        ).eval()
        if not is_quantised:
            model = model.to(place)
        if hasattr(model, "init_unified"):
            model.init_unified(device=place)
        elif options.speech:
            model.init_tts()
        bound_silence(model)
        silence_code(model)
    slow = (
        ""
        if place != "cpu"
        else "It runs on the processor, where a second of a call takes far longer than a second."
    )
    return model, place, (slow,) if slow else ()
