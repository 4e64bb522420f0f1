"""Where models are: the bundled one, and those in the data folder's `models/`.

Used wherever a model's name on the command line, in the settings or in the API becomes a file. Reads no file.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import resources
from pathlib import Path

from duologue.errors import StartFailed
from duologue.models.gguf.header import SPLIT
from duologue.models.recommended import BY_FILE

BUNDLED = "duologue-mini"
PROJECTOR = "mmproj"
"""In the name of every projector's file, in any case: a second file through which a model sees or hears."""
SUFFIX = ".gguf"
PART = ".part"
"""The suffix of an unfinished download's bytes, after the file's name."""
RECORD = ".part.json"
"""The suffix of the record that says which content those bytes begin."""


def bundled_model() -> Path:
    """The weights in the package. Raises StartFailed where they are missing (a source checkout)."""
    path = Path(str(resources.files("duologue.models").joinpath(f"{BUNDLED}{SUFFIX}")))
    if not path.is_file():
        raise StartFailed(
            f"The bundled model {BUNDLED} is not here ({path}): this is a checkout without weights. "
            "Name a model with --model FILE.gguf, or a server with --upstream URL."
        )
    return path


def list_models(folder: Path) -> list[Path]:
    """The models in `folder` and its subfolders, by name; of a split model its first part. No projectors."""
    if not folder.is_dir():
        return []
    return sorted(
        (path for path in folder.rglob(f"*{SUFFIX}") if _is_model(path)), key=lambda path: path.name.lower()
    )


def find_model(name_or_path: str, folder: Path) -> Path:
    """The file of a model given by path, by the bundled model's name, or by a name in `folder` (with or without `.gguf`).

    Raises StartFailed that names the nearest model when there is none, and all of them when several have the name.
    """
    path = Path(name_or_path).expanduser()
    if path.exists():
        return path
    if (folder / path).is_file():
        return folder / path
    if name_or_path == BUNDLED:
        return bundled_model()
    if _looks_like_a_path(name_or_path):
        raise StartFailed(
            f"There is no model file at {path}. Check the path, or give the name of a model in {folder}."
        )
    models = list_models(folder)
    name = model_name(path).lower()
    matches = [model for model in models if model_name(model).lower() == name]
    if len(matches) > 1:
        raise StartFailed(
            f"Several models are called {name_or_path!r}: {', '.join(map(str, matches))}. Give the path."
        )
    if not matches:
        raise StartFailed(_unknown_sentence(name_or_path, models, folder))
    return matches[0]


def model_name(path: Path) -> str:
    """The name a file's model goes by: that of the recommended model whose file it is, so that a model has one name before
    and after its download; else the file's own."""
    own = file_stem(path)
    return RECOMMENDED_NAMES.get(own.lower(), own)


def names_of(model: str) -> tuple[str, ...]:
    """The names of a model that the settings name, by a path or a name; "" is the bundled one."""
    path = Path(model) if model else Path(BUNDLED)
    return tuple(
        dict.fromkeys(
            (model, model_name(path), file_stem(path), *RECOMMENDED_STEMS.get(path.name.lower(), ()))
        )
    )


def file_stem(path: Path) -> str:
    """A file's name without suffix, and without the part's number when it is split."""
    split = SPLIT.match(path.name)
    return split["stem"] if split is not None else path.name.removesuffix(SUFFIX)


def is_projector(path: Path) -> bool:
    """Whether a file is a projector, by its name."""
    return PROJECTOR in path.name.lower() and path.name.endswith(SUFFIX)


def projector_name(model: str) -> str:
    """The name of the file for the projector of a model's file: by it the two find each other."""
    return f"{PROJECTOR}-{file_stem(Path(model))}{SUFFIX}"


def owner_name(path: Path) -> str:
    """The name of the model that a file belongs to, as a model or as its projector."""
    return model_name(path.with_name(path.name.removeprefix(f"{PROJECTOR}-")))


RECOMMENDED_NAMES = {file_stem(Path(file)).lower(): model.name for file, model in BY_FILE.items()}
RECOMMENDED_STEMS = {model.name.lower(): (file_stem(Path(file)),) for file, model in BY_FILE.items()}
"""The names of the recommended models' files."""


def _is_model(path: Path) -> bool:
    split = SPLIT.match(path.name)
    return path.is_file() and not is_projector(path) and (split is None or int(split["part"]) == 1)


def _looks_like_a_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.startswith("~")


def _unknown_sentence(name: str, models: list[Path], folder: Path) -> str:
    names = [model_name(model) for model in models]
    near = get_close_matches(name.removesuffix(SUFFIX), names, n=1)
    if near:
        return f"There is no model called {name!r} in {folder}. Did you mean {near[0]!r}?"
    if names:
        return f"There is no model called {name!r} in {folder}. There are: {', '.join(names[:10])}."
    return (
        f"There is no model called {name!r}: {folder} holds none. Put a .gguf file there, download one "
        "(`duologue models pull`), or give its path."
    )
