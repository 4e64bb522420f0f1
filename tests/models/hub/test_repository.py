"""What a repository holds, and which of its files are taken."""

from __future__ import annotations

import json

import msgspec
import pytest

from duologue.errors import BadRequest, EngineFailed, ModelNotFound
from duologue.models.fit import Hardware
from duologue.models.hub.repository import (
    HubFile,
    Repository,
    choose,
    gigabytes,
    memory_of,
    parse_repository,
    quantisation_of,
    variants,
)

GB = 10**9
ROOM = Hardware(cores=8, memory=16 * GB, disk=100 * GB)


def repository(**sizes: float) -> Repository:
    """A repository of files `M-NAME.gguf` with these sizes in gigabytes."""
    files = tuple(HubFile(f"M-{name}.gguf", int(size * GB)) for name, size in sizes.items())
    return Repository("someone/M-GGUF", "", files)


def taken(there: Repository, wanted: str = "", expected: str = "", room: Hardware = ROOM) -> str:
    return choose(there, wanted, expected, room).files[0].path


def test_a_listing_is_read() -> None:
    answer = {
        "sha": "a" * 40,
        "cardData": {"license": ["mit", "other"]},
        "gguf": {"architecture": "llama", "total": 1},
        "siblings": [
            {"rfilename": "a.gguf", "size": 7, "lfs": {"sha256": "B" * 64, "size": 7}},
            {"rfilename": "b.gguf", "lfs": {"oid": "sha256:" + "c" * 64, "size": 8}},
            {"rfilename": "README.md", "size": 3},
        ],
    }
    there = parse_repository("x/y", json.dumps(answer).encode())
    assert (there.commit, there.licence, there.architecture) == ("a" * 40, "mit, other", "llama")
    assert there.files == (
        HubFile("a.gguf", 7, "b" * 64),
        HubFile("b.gguf", 8, "c" * 64),
        HubFile("README.md", 3),
    )


def test_a_model_is_chosen_with_room_for_its_projector() -> None:
    room = Hardware(cores=8, memory=10 * GB, disk=100 * GB)
    blind = repository(Q4_K_M=8, Q3_K_M=7)
    sees = msgspec.structs.replace(blind, files=(*blind.files, HubFile("mmproj-F16.gguf", GB)))
    assert taken(blind, room=room) == "M-Q4_K_M.gguf"
    assert taken(sees, room=room) == "M-Q3_K_M.gguf"
    (variant,) = (each for each in variants(sees.files) if each.quantisation == "Q3_K_M")
    assert memory_of(sees, variant) > memory_of(blind, variant) + GB


def test_a_checksum_or_commit_that_is_none_is_not_believed() -> None:
    answer = {"sha": "../../x", "siblings": [{"rfilename": "a.gguf", "lfs": {"sha256": "short", "size": -1}}]}
    there = parse_repository("x/y", json.dumps(answer).encode())
    assert (there.commit, there.files) == ("", (HubFile("a.gguf", 0),))


def test_nothing_of_a_listing_can_command_the_terminal() -> None:
    answer = {
        "cardData": {"license": "mit\x1b[2J" + "x" * 100},
        "gguf": {"architecture": "a\nb"},
        "siblings": [{"rfilename": "a\x1b[2J.gguf"}, {"rfilename": "b.gguf"}],
    }
    there = parse_repository("x/y", json.dumps(answer).encode())
    assert there.licence.startswith("mit[2J")
    assert len(there.licence) == 60
    assert there.architecture == "ab"
    assert [file.path for file in there.files] == ["b.gguf"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"siblings": 3}', b'{"siblings": [{}]}'])
def test_an_answer_that_is_none_is_told(body: bytes) -> None:
    with pytest.raises(EngineFailed, match="HF_ENDPOINT"):
        parse_repository("x/y", body)


@pytest.mark.parametrize(
    ("path", "quantisation"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-0.5b-instruct-q4_k_m.gguf", "Q4_K_M"),
        ("Model.Q8_0.gguf", "Q8_0"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("gpt-oss-20b-MXFP4_MOE.gguf", "MXFP4"),
        ("M-IQ3_XXS.gguf", "IQ3_XXS"),
        ("M-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("M-BF16-00001-of-00002.gguf", "BF16"),
        ("M-fp16.gguf", "F16"),
        ("Q6_K/M-00001-of-00002.gguf", "Q6_K"),
        ("phi-4.gguf", ""),
        ("SmolLM3-Q4_K_M.gguf", "Q4_K_M"),
    ],
)
def test_the_quantisation_is_in_the_name(path: str, quantisation: str) -> None:
    assert quantisation_of(HubFile(path, 1)) == quantisation


def test_projectors_and_matrices_are_no_models() -> None:
    files = [HubFile(name, 1) for name in ("mmproj-M-f16.gguf", "M.imatrix.gguf", "README.md", "M.gguf")]
    assert [variant.files[0].path for variant in variants(files)] == ["M.gguf"]


def test_a_split_model_is_one_variant_with_its_parts_in_order() -> None:
    names = [f"Q8_0/M-Q8_0-0000{number}-of-00003.gguf" for number in (3, 1, 2)]
    (variant,) = variants([HubFile(name, 5) for name in names])
    assert [file.path for file in variant.files] == sorted(names)
    assert (variant.size, variant.quantisation) == (15, "Q8_0")


def test_a_split_model_with_a_part_missing_is_none() -> None:
    assert variants([HubFile("M-00001-of-00002.gguf", 1)]) == []


def test_four_bits_are_taken_unless_something_else_is_said() -> None:
    there = repository(Q8_0=8, Q4_K_M=5, Q2_K=3, F16=15)
    assert taken(there) == "M-Q4_K_M.gguf"


def test_a_smaller_one_is_taken_when_memory_is_short() -> None:
    there = repository(Q8_0=8, Q4_K_M=5, Q3_K_M=4, Q2_K=3)
    assert taken(there, room=Hardware(8, 5 * GB + GB // 10, 100 * GB)) == "M-Q3_K_M.gguf"


def test_memory_of_a_card_counts() -> None:
    there = repository(Q4_K_M=5)
    assert taken(there, room=Hardware(8, GB, 100 * GB, 8 * GB)) == "M-Q4_K_M.gguf"


def test_when_nothing_fits_the_smallest_is_told_and_how_to_insist() -> None:
    with pytest.raises(BadRequest, match=r"smallest file has 3\.0 GB") as raised:
        taken(repository(Q4_K_M=5, Q2_K=3), room=Hardware(8, GB, GB))
    assert "someone/M-GGUF:M-Q2_K.gguf" in raised.value.message
    assert raised.value.code == "model_too_large"


@pytest.mark.parametrize("wanted", ["M-Q2_K.gguf", "m-q2_k.gguf", "M-Q2_K", "q2_k", "Q2_K"])
def test_what_is_asked_for_is_taken_however_large(wanted: str) -> None:
    assert taken(repository(Q4_K_M=5, Q2_K=3), wanted, room=Hardware(1, 0, 0)) == "M-Q2_K.gguf"


@pytest.mark.parametrize(
    "wanted",
    ["Q8_0", "M-Q8_0", "Q8_0/M-Q8_0", "M-Q8_0-00001-of-00002.gguf", "Q8_0/M-Q8_0-00001-of-00002.gguf"],
)
def test_a_split_model_is_asked_for_by_any_of_its_names(wanted: str) -> None:
    files = tuple(HubFile(f"Q8_0/M-Q8_0-0000{number}-of-00002.gguf", 5) for number in (1, 2))
    assert len(choose(Repository("a/b", "", files), wanted, "", ROOM).files) == 2


def test_a_file_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ModelNotFound, match=r"has no Q9_X\. It has: Q2_K, Q4_K_M\."):
        taken(repository(Q4_K_M=5, Q2_K=3), "Q9_X")


def test_a_quantisation_that_two_files_have_must_be_named_by_its_file() -> None:
    files = (HubFile("A-Q4_0.gguf", 1), HubFile("B-Q4_0.gguf", 1))
    with pytest.raises(BadRequest, match="several files with q4_0"):
        taken(Repository("a/b", "", files), "q4_0")


def test_the_expected_file_is_taken_and_another_where_it_is_gone() -> None:
    there = repository(Q8_0=8, Q4_K_M=5)
    assert taken(there, expected="M-Q8_0.gguf") == "M-Q8_0.gguf"
    assert taken(there, expected="gone.gguf") == "M-Q4_K_M.gguf"


def test_a_repository_of_original_weights_says_where_to_look() -> None:
    with pytest.raises(ModelNotFound, match="Llama-GGUF"):
        taken(Repository("meta/Llama", "", (HubFile("model.safetensors", 1),)))
    with pytest.raises(ModelNotFound, match="no complete GGUF"):
        taken(Repository("meta/Llama", "", ()))


def test_sizes_read_well() -> None:
    assert [gigabytes(size) for size in (0, 9_976_000, 640 * 10**6, 42_520 * 10**6)] == [
        "0.0 MB",
        "10.0 MB",
        "640 MB",
        "42.5 GB",
    ]
