"""Finding MuseTalk's files."""

import pytest

from duologue.engines.musetalk.musetalk_weights import find_files
from duologue.errors import StartFailed

FILES = (
    "musetalkV15/musetalk.json",
    "musetalkV15/unet.pth",
    "sd-vae/config.json",
    "sd-vae/diffusion_pytorch_model.bin",
    "whisper/config.json",
    "whisper/preprocessor_config.json",
    "whisper/pytorch_model.bin",
)


@pytest.fixture
def models(tmp_path):
    for name in FILES:
        file = tmp_path / "musetalk" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path


def test_the_official_folder_is_found_by_name_and_by_path(models):
    by_name = find_files("musetalk", str(models))
    assert by_name == find_files(str(models / "musetalk"), "")
    assert by_name.unet == models / "musetalk/musetalkV15/unet.pth"
    assert by_name.whisper == models / "musetalk/whisper"


def test_safetensors_are_preferred_and_version_1_0_is_known(models):
    folder = models / "musetalk"
    (folder / "musetalkV15/unet.safetensors").write_text("better")
    assert find_files("musetalk", str(models)).unet.name == "unet.safetensors"
    (folder / "musetalkV15").rename(folder / "musetalk")
    (folder / "musetalk/unet.pth").rename(folder / "musetalk/pytorch_model.bin")
    assert find_files("musetalk", str(models)).unet.name == "pytorch_model.bin"


def test_another_vae_has_another_mark(models):
    before = find_files("musetalk", str(models)).mark
    (models / "musetalk/sd-vae/diffusion_pytorch_model.bin").write_text("another")
    assert find_files("musetalk", str(models)).mark != before


def test_a_missing_folder_is_named_with_three_commands(tmp_path):
    with pytest.raises(StartFailed) as raised:
        find_files("musetalk", str(tmp_path))
    assert raised.value.code == "weights_missing"
    assert raised.value.message.count("hf download") == 3
    assert str(tmp_path / "musetalk" / "sd-vae") in raised.value.message


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named(models, file):
    (models / "musetalk" / file).unlink()
    with pytest.raises(StartFailed, match="is missing or empty") as raised:
        find_files("musetalk", str(models))
    assert file.rpartition("/")[2] in raised.value.message


@pytest.mark.parametrize("folder", ["musetalkV15", "sd-vae", "whisper"])
def test_a_missing_part_is_named(models, folder):
    (models / "musetalk" / folder).rename(models / "elsewhere")
    with pytest.raises(StartFailed, match=f"the folder {folder} is missing"):
        find_files("musetalk", str(models))
