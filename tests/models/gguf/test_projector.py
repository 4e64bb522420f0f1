"""What the file of a projector says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.tiny_model import write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.errors import StartFailed
from duologue.models.gguf.projector import Projector, read_projector


@pytest.mark.parametrize(
    ("sees", "hears", "modalities"),
    [(True, False, ("image",)), (False, True, ("audio",)), (True, True, ("image", "audio"))],
)
def test_it_says_what_a_model_takes_through_it(tmp_path: Path, sees, hears, modalities) -> None:
    path = write_projector(tmp_path / "mmproj.gguf", sees=sees, hears=hears)
    projector = read_projector(path)
    assert projector.modalities == modalities
    assert projector.size == path.stat().st_size
    assert projector.stated == (64,)
    assert projector.fits(64)
    assert not projector.fits(4096)


def test_a_file_that_states_another_width_fits_by_its_last_layer() -> None:
    old = Projector(Path("p.gguf"), 1, True, False, stated=(768,), widths=frozenset({1024, 4096}))
    assert old.fits(4096)
    assert old.fits(768)
    assert not old.fits(5120)
    assert old.fits(0), "a model that does not say its width"


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="There is no projector at"):
        read_projector(tmp_path / "none.gguf")
    with pytest.raises(StartFailed, match="is not a projector"):
        read_projector(write_tiny_model(tmp_path / "model.gguf"))
    whole = write_projector(tmp_path / "whole.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[:-1000])
    with pytest.raises(StartFailed, match="truncated"):
        read_projector(tmp_path / "cut.gguf")
