"""Figures: what is read of a good one, and a sentence for each that cannot be drawn or would exhaust a browser."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from tests.support.vrm_file import glb, png, vrm_document, vrm_file

from duologue.errors import Problem
from duologue.media import vrm_file as figures
from duologue.media.vrm_file import read_figure

Break = Callable[[dict[str, Any]], object]


def code_of(change: Break, version: int = 1, textures: tuple[bytes, ...] = ()) -> str:
    """The code with which a figure is refused after `change` of its document."""
    document, data = vrm_document(version, textures=textures)
    change(document)
    with pytest.raises(Problem) as caught:
        read_figure(glb(document, data))
    return caught.value.code


@pytest.mark.parametrize("version", [0, 1])
def test_a_figure_of_either_version_is_read_with_its_thumbnail(version: int) -> None:
    figure = read_figure(vrm_file(version, textures=[png(400, 300), png(16, 16)]))
    assert (figure.version, figure.textures) == (version, 2)
    assert 0 < figure.triangles < 1000
    with Image.open(io.BytesIO(figure.preview)) as preview:
        assert (preview.format, preview.size) == ("PNG", (256, 192))


def test_a_figure_without_a_thumbnail_has_no_preview() -> None:
    assert read_figure(vrm_file(1)).preview == b""


def test_gltf_that_is_no_figure_is_refused() -> None:
    assert code_of(lambda document: document.update(extensions={}, extensionsUsed=[])) == "avatar_unreadable"


def test_a_figure_must_have_a_head() -> None:
    assert (
        code_of(lambda document: document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"].pop("head"))
        == "avatar_without_head"
    )
    assert (
        code_of(lambda document: document["extensions"]["VRM"]["humanoid"].update(humanBones=[]), 0)
        == "avatar_without_head"
    )


def test_a_figure_must_be_able_to_open_its_mouth() -> None:
    def without_aa(document: dict[str, Any]) -> None:
        document["extensions"]["VRMC_vrm"]["expressions"]["preset"]["aa"] = {"morphTargetBinds": []}

    def without_a(document: dict[str, Any]) -> None:
        document["extensions"]["VRM"]["blendShapeMaster"]["blendShapeGroups"] = []

    assert code_of(without_aa) == "avatar_without_mouth"
    assert code_of(without_a, 0) == "avatar_without_mouth"


@pytest.mark.parametrize("key", ["extensionsUsed", "extensionsRequired"])
def test_extensions_that_the_page_does_not_know_are_refused(key: str) -> None:
    for name in ("KHR_draco_mesh_compression", "KHR_interactivity", "x" * 10_000):

        def use(document: dict[str, Any], name: str = name) -> None:
            document.setdefault(key, []).append(name)

        assert code_of(use) == "avatar_extension_unknown"


def test_an_accessor_of_endless_zeros_is_too_large() -> None:
    def endless(document: dict[str, Any]) -> None:
        document["accessors"][0] = {"count": 2**31, "componentType": 5126, "type": "VEC3"}

    assert code_of(endless) == "avatar_too_large"


def test_too_many_triangles_are_refused_however_often_a_mesh_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "TRIANGLES", 2000)
    assert (
        code_of(lambda document: document["nodes"].extend({"mesh": 0} for _ in range(20)))
        == "avatar_too_large"
    )


def test_textures_are_measured_by_their_headers() -> None:
    assert code_of(lambda _: None, textures=(png(8192, 8),)) == "avatar_too_large"
    assert code_of(lambda _: None, textures=(b"no picture",)) == "avatar_unreadable"
    assert (
        code_of(lambda _: None, textures=(b"<svg xmlns='http://www.w3.org/2000/svg'/>",))
        == "avatar_unreadable"
    )


def test_the_number_and_the_pixels_of_textures_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    small = png(20, 20)
    assert code_of(lambda _: None, textures=(small,) * (figures.TEXTURES + 1)) == "avatar_too_large"
    monkeypatch.setattr(figures, "TEXTURE_PIXELS", 700)
    assert code_of(lambda _: None, textures=(small, small)) == "avatar_too_large"


def test_nodes_in_a_circle_are_refused() -> None:
    def circle(document: dict[str, Any]) -> None:
        document["nodes"] += [
            {"children": [len(document["nodes"]) + 1]},
            {"children": [len(document["nodes"])]},
        ]

    assert code_of(circle) == "avatar_unreadable"
    assert code_of(lambda document: document["nodes"].append({"children": [1]})) == "avatar_unreadable"


def test_more_nodes_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "NODES", 10)
    assert code_of(lambda _: None) == "avatar_too_large"


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["bufferViews"][0].update(byteLength=10**9),
        lambda document: document["bufferViews"][0].update(byteOffset=-4),
        lambda document: document["bufferViews"][0].update(buffer=1),
        lambda document: document["buffers"].append({"byteLength": 1}),
        lambda document: document["nodes"][0].update(mesh=99),
        lambda document: document["nodes"][0].update(children=[-1]),
        lambda document: document["meshes"][0]["primitives"][0]["attributes"].update(POSITION=999),
        lambda document: document["meshes"][0]["primitives"][0].update(indices=999),
        lambda document: document["accessors"][0].update(type="MAT9"),
        lambda document: document["accessors"][0].update(count="many"),
        lambda document: document.pop("nodes"),
        lambda document: document.update(images=[{"bufferView": 999}]),
        lambda document: document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]["head"].update(
            node=999
        ),
        lambda document: document.update(extensions=[]),
    ],
)
def test_a_document_that_names_what_is_not_there_is_a_sentence(change: Break) -> None:
    assert code_of(change) == "avatar_unreadable"


def test_text_that_looks_like_a_script_is_data() -> None:
    document, data = vrm_document(1)
    document["extensions"]["VRMC_vrm"]["meta"]["name"] = "<script>alert(1)</script>"
    document["extras"] = {"onload": "javascript:alert(1)"}
    assert read_figure(glb(document, data)).version == 1
