"""A model from the hub to the folder where it is found by name."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest
from tests.support.hub_stand_in import COMMIT, Hub
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.errors import BadRequest, EngineFailed, ModelNotFound, Problem
from duologue.models.catalogue import find_model
from duologue.models.fit import Hardware
from duologue.models.hub import pull
from duologue.models.hub.http import HubConnection
from duologue.models.hub.pull import PulledModel, download_model, plan_download
from duologue.models.hub.reference import HubReference, UrlReference, parse
from duologue.models.local import remove, unfinished_downloads
from duologue.models.projectors import find_projector

TINY = HubReference("someone/Tiny-GGUF")


@pytest.fixture
def fetch(connection: HubConnection, hardware: Hardware, folder: Path, watch):
    """Bring a reference, all steps."""

    def call(reference=TINY) -> PulledModel:
        return download_model(connection, plan_download(connection, reference, hardware), folder, watch)

    return call


@pytest.fixture
def parts(tmp_path: Path, hub: Hub) -> list[bytes]:
    """A split model in the repository `someone/Split-GGUF`, in a folder of its own."""
    whole = write_tiny_model(tmp_path / "whole.gguf", TinyModel(name="Split"))
    contents = split(whole, tmp_path)
    names = [f"Q8_0/Split-Q8_0-0000{number}-of-0000{len(contents)}.gguf" for number in (1, 2)]
    hub.files["someone/Split-GGUF"] = dict(zip(names, contents, strict=True))
    return contents


def split(path: Path, folder: Path) -> list[bytes]:
    """A model in two files, as converters split it: the metadata in the first, tensors in both."""
    reader = gguf.GGUFReader(path)
    contents = []
    half = len(reader.tensors) // 2
    for number, tensors in enumerate((reader.tensors[:half], reader.tensors[half:])):
        target = folder / f"part-{number}.gguf"
        writer = gguf.GGUFWriter(target, "llama")
        if number == 0:
            writer.add_context_length(512)
            writer.add_block_count(2)
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 2)
        writer.add_int32("split.tensors.count", len(reader.tensors))
        for tensor in tensors:
            writer.add_tensor(tensor.name, tensor.data)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        contents.append(target.read_bytes())
    return contents


def test_a_repository_becomes_a_model_that_is_found_by_name(fetch, folder, content, hub) -> None:
    pulled = fetch()
    assert (pulled.name, pulled.was_there, pulled.checked) == ("Tiny-Q4_K_M", False, True)
    assert pulled.header.architecture == "llama"
    assert find_model("Tiny-Q4_K_M", folder).read_bytes() == content
    assert [path.name for path in folder.iterdir()] == ["Tiny-Q4_K_M.gguf"]


def test_files_are_fetched_of_the_commit_that_was_listed(fetch, hub) -> None:
    fetch()
    assert [asked.path for asked in hub.requests] == [
        "/api/models/someone/Tiny-GGUF/revision/main",
        f"/someone/Tiny-GGUF/resolve/{COMMIT}/Tiny-Q4_K_M.gguf",
        "/store/someone/Tiny-GGUF/Tiny-Q4_K_M.gguf",
    ]


def test_a_model_that_is_there_is_not_fetched_again(fetch, hub) -> None:
    fetch()
    hub.requests.clear()
    assert fetch().was_there
    assert hub.downloads() == []


def test_an_address_needs_no_hub(fetch, hub, folder) -> None:
    reference = parse(f"{hub.store}/store/someone/Tiny-GGUF/Tiny-Q4_K_M.gguf", hub.url)
    assert isinstance(reference, UrlReference)
    pulled = fetch(reference)
    assert (pulled.name, pulled.checked) == ("Tiny-Q4_K_M", False)
    assert fetch(reference).was_there


def test_all_parts_of_a_split_model_are_fetched_the_first_one_last(fetch, hub, folder, parts) -> None:
    pulled = fetch(HubReference("someone/Split-GGUF"))
    assert (pulled.name, pulled.header.parts) == ("Split-Q8_0", 2)
    assert find_model("Split-Q8_0", folder).name == "Split-Q8_0-00001-of-00002.gguf"
    assert [asked.path.rpartition("/")[2] for asked in hub.downloads()] == [
        "Split-Q8_0-00002-of-00002.gguf",
        "Split-Q8_0-00001-of-00002.gguf",
    ]


def test_a_split_model_is_gone_on_with_part_by_part(fetch, hub, folder, parts, watch) -> None:
    hub.cuts = [len(parts[1]), 5_000, 0, 0, 0, 0, 0, 0]
    with pytest.raises(Problem):
        fetch(HubReference("someone/Split-GGUF"))
    with pytest.raises(Problem):
        find_model("Split-Q8_0", folder)
    hub.requests.clear()
    hub.cuts.clear()
    assert fetch(HubReference("someone/Split-GGUF")).header.parts == 2
    assert [asked.headers.get("range") for asked in hub.downloads()] == ["bytes=5000-"]


def test_the_order_says_what_will_come(connection, hardware, hub, parts) -> None:
    wanted = plan_download(connection, HubReference("someone/Split-GGUF"), hardware)
    assert (wanted.name, wanted.size, wanted.quantisation, wanted.licence) == (
        "Split-Q8_0",
        sum(map(len, parts)),
        "Q8_0",
        "apache-2.0",
    )
    assert [source.label for _, source in wanted.files] == [
        "Split-Q8_0-00001-of-00002.gguf (part 1 of 2)",
        "Split-Q8_0-00002-of-00002.gguf (part 2 of 2)",
    ]


def test_what_is_insisted_on_though_memory_is_short_is_warned_of(connection, hub) -> None:
    little = Hardware(1, 1000, 10**12)
    wanted = plan_download(connection, HubReference("someone/Tiny-GGUF", "Q4_K_M"), little)
    assert "it may not start" in wanted.warning
    with pytest.raises(BadRequest, match="Nothing in someone/Tiny-GGUF fits"):
        plan_download(connection, TINY, little)


def test_a_repository_that_is_not_there_is_told(connection, hardware) -> None:
    with pytest.raises(ModelNotFound, match="no repository someone/Gone"):
        plan_download(connection, HubReference("someone/Gone"), hardware)


@pytest.mark.parametrize(
    ("architecture", "words"), [("clip", "projector"), ("t5encoder", "encoder"), ("adapter", "LoRA")]
)
def test_what_cannot_run_is_refused_before_the_download(
    architecture: str, words: str, connection, hardware, hub
) -> None:
    hub.architecture = architecture
    with pytest.raises(BadRequest, match=words) as raised:
        plan_download(connection, TINY, hardware)
    assert raised.value.code == "model_unusable"


def test_a_file_that_is_no_model_is_not_left_under_a_models_name(fetch, hub, folder) -> None:
    hub.files["someone/Tiny-GGUF"]["Tiny-Q4_K_M.gguf"] = b"<html>Sign in</html>"
    with pytest.raises(Problem, match=r"was removed: .* web page") as raised:
        fetch()
    assert raised.value.code == "model_unusable"
    assert list(folder.iterdir()) == []


def test_another_model_of_the_same_name_is_never_overwritten(fetch, hub, folder, content) -> None:
    folder.mkdir(parents=True)
    mine = folder / "Tiny-Q4_K_M.gguf"
    mine.write_bytes(b"mine")
    with pytest.raises(BadRequest, match="duologue models rm Tiny-Q4_K_M") as raised:
        fetch()
    assert raised.value.code == "model_exists"
    assert mine.read_bytes() == b"mine"


def test_a_model_of_the_same_name_in_a_folder_below_is_seen(fetch, folder, content) -> None:
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "tiny-q4_k_m.gguf").write_bytes(content)
    with pytest.raises(BadRequest, match="deep"):
        fetch()


def test_the_disk_is_asked_for_all_parts_at_once(fetch, hub, folder, parts, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(pull, "check_disk", lambda folder, needed: asked.append(needed))
    fetch(HubReference("someone/Split-GGUF"))
    assert asked == [sum(map(len, parts))]


def test_a_mirror_that_announces_no_checksums_is_good_enough(fetch, hub) -> None:
    hub.checksums["Tiny-Q4_K_M.gguf"] = ""
    assert fetch().checked is False


def test_a_repository_cannot_choose_where_its_file_lands(connection, hardware, hub, content) -> None:
    hub.files["someone/Tiny-GGUF"] = {"..\\evil.gguf": content}
    with pytest.raises(BadRequest) as raised:
        plan_download(connection, TINY, hardware)
    assert raised.value.code == "file_name_refused"


def test_no_file_takes_the_bundled_models_name(connection, hardware, hub, content) -> None:
    hub.files["someone/Tiny-GGUF"] = {"duologue-mini.gguf": content}
    with pytest.raises(BadRequest, match="name of the model inside"):
        plan_download(connection, TINY, hardware)


def test_a_listing_without_end_is_not_read_to_it(connection, hardware, hub, monkeypatch) -> None:
    monkeypatch.setattr(pull, "LARGEST_LISTING", 100)
    hub.body = b"x" * 1000
    with pytest.raises(EngineFailed, match="has no end"):
        plan_download(connection, TINY, hardware)


def test_a_folder_that_cannot_be_made_is_told(connection, hardware, hub, tmp_path, watch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem) as raised:
        download_model(
            connection, plan_download(connection, TINY, hardware), tmp_path / "file" / "models", watch
        )
    assert raised.value.code == "write_failed"


@pytest.fixture
def projector(tmp_path: Path, hub: Hub) -> bytes:
    """A projector in the repository of the tiny model, in several forms."""
    content = write_projector(tmp_path / "eyes.gguf").read_bytes()
    other = write_projector(tmp_path / "ears.gguf", sees=False, hears=True).read_bytes()
    hub.files["someone/Tiny-GGUF"] |= {
        "mmproj-BF16.gguf": other,
        "mmproj-F16.gguf": content,
        "mmproj-F32.gguf": other,
    }
    return content


def test_the_projector_of_a_model_comes_with_it(fetch, folder, projector, connection, hardware) -> None:
    plan = plan_download(connection, TINY, hardware)
    assert [name for name, _ in plan.files] == ["Tiny-Q4_K_M.gguf", "mmproj-Tiny-Q4_K_M.gguf"]
    pulled = fetch()
    assert plan.size == sum(path.stat().st_size for path in folder.iterdir())
    assert (folder / "mmproj-Tiny-Q4_K_M.gguf").read_bytes() == projector
    found = find_projector(pulled.header).projector
    assert found is not None
    assert found.modalities == ("image",)


def test_it_is_fetched_for_a_model_that_is_here_already_and_then_left_alone(
    fetch, folder, hub, projector
) -> None:
    eyes = {
        name: hub.files["someone/Tiny-GGUF"].pop(name)
        for name in list(hub.files["someone/Tiny-GGUF"])
        if "mmproj" in name
    }
    fetch()
    hub.files["someone/Tiny-GGUF"] |= eyes
    assert not fetch().was_there
    assert (folder / "mmproj-Tiny-Q4_K_M.gguf").is_file()
    (folder / "mmproj-Tiny-Q4_K_M.gguf").write_bytes(b"one of my own")
    assert fetch().was_there
    assert (folder / "mmproj-Tiny-Q4_K_M.gguf").read_bytes() == b"one of my own"


def test_a_projector_that_cannot_be_read_is_removed(fetch, folder, hub) -> None:
    hub.files["someone/Tiny-GGUF"]["mmproj-F16.gguf"] = b"GGUF and no more"
    with pytest.raises(Problem, match="projector cannot be used") as error:
        fetch()
    assert error.value.code == "model_unusable"
    assert not list(folder.glob("mmproj*"))


def test_a_model_goes_with_its_projector(fetch, folder, projector) -> None:
    fetch()
    name, freed = remove("Tiny-Q4_K_M", folder)
    assert name == "Tiny-Q4_K_M"
    assert freed > len(projector)
    assert list(folder.iterdir()) == []


def test_a_download_that_broke_off_at_the_projector_is_the_models(folder, tmp_path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mmproj-Tiny-Q4_K_M.gguf.part").write_bytes(b"123")
    (entry,) = unfinished_downloads(folder)
    assert (entry.name, entry.size) == ("Tiny-Q4_K_M", 3)
    (folder / "mmproj-Tiny-Q4_K_M.gguf.part").rename(folder / "mmproj-Tiny-Q4_K_M.gguf")
    (folder / "Tiny-Q4_K_M.gguf.part").write_bytes(b"12345")
    (entry,) = unfinished_downloads(folder)
    assert (entry.name, entry.size) == ("Tiny-Q4_K_M", 8)
