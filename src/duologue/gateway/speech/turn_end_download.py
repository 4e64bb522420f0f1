"""Downloads the file of a voice pack that judges by sound whether a caller has finished.

Called by `pack_service` and by `duologue setup voice`, after the pack's archives. It is on the hub, not in the releases that the
archives come from, so its digest is the one in the hub's listing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from duologue.errors import NotFound
from duologue.models.hub.reference import HubReference
from duologue.models.hub.resume import Content
from duologue.models.installed_packs import models_folder
from duologue.models.voice_packs import TurnEndModel

if TYPE_CHECKING:
    from duologue.models.hub.download import Watch
    from duologue.models.hub.http import HubConnection


def download_turn_end(connection: HubConnection, model: TurnEndModel, data: Path, watch: Watch) -> Path:
    """Download the file into the folder of models, resumed and verified: its path. Blocks. Raises as `models.hub.download`,
    NotFound where the repository no longer has it."""
    from duologue.models.hub.download import Source, check_disk, download
    from duologue.models.hub.pull import describe

    repository = describe(connection, HubReference(model.repository))
    file = next((file for file in repository.files if file.path == model.file), None)
    if file is None:
        raise NotFound(
            f"The repository {model.repository} no longer has {model.file}.", code="model_not_found"
        )
    folder = models_folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    check_disk(folder, file.size)
    # The commit that the digest was listed for: the file may be replaced meanwhile.
    address = f"{connection.hub}/{model.repository}/resolve/{repository.commit or 'main'}/{model.file}"
    target = folder / model.file
    download(
        connection, Source(address, model.file, Content(size=file.size, sha256=file.sha256)), target, watch
    )
    return target
