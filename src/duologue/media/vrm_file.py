"""A VRM figure (0.x or 1.0): checked before it is kept, so that a browser which opens it finds a face, and nothing that exhausts it.

Owns the limits of a figure and the extensions it may use. A glTF document has no place for scripts, and none of these extensions adds
one: text in it that looks like a script is data that nothing runs. Runs in decoder processes, for `gateway.avatars.library`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, Problem, TooLarge
from duologue.media import images
from duologue.media.glb import read_glb, unreadable

TRIANGLES = 500_000
"""Of all meshes as often as they are shown. Figures made for calls and games have 10,000 to 70,000."""
ELEMENTS = 64_000_000
"""Values of all accessors together, 256 MB as floats: an accessor without bytes is zeros of any length."""
NODES = 10_000
TEXTURES = 64
TEXTURE_SIDE = 4096
TEXTURE_PIXELS = 96_000_000
"""Of all textures together, 384 MB in a graphics card."""
TEXTURE_TYPES = ("image/png", "image/jpeg", "image/webp")
PREVIEW_SIDE = 256
KNOWN_EXTENSIONS = frozenset(
    (
        *("VRM", "VRMC_vrm", "VRMC_springBone", "VRMC_springBone_extended_collider", "VRMC_node_constraint"),
        *("VRMC_materials_mtoon", "VRMC_materials_hdr_emissiveMultiplier", "VRMC_vrm_animation"),
        *("KHR_materials_unlit", "KHR_texture_transform", "KHR_mesh_quantization", "KHR_lights_punctual"),
        *("KHR_materials_emissive_strength", "KHR_materials_specular", "KHR_materials_ior"),
        *("KHR_materials_clearcoat", "KHR_materials_sheen", "KHR_materials_transmission"),
        *("KHR_materials_volume", "KHR_materials_iridescence", "KHR_materials_anisotropy"),
        *("KHR_materials_dispersion", "EXT_texture_webp", "EXT_materials_bump"),
    )
)
"""What the page's loader reads by itself. Compressed meshes and textures would need programs that are fetched."""
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}

T = TypeVar("T")


class FigureFile(Struct, frozen=True):
    """What is known of a checked figure. `version` of VRM: 0 or 1; `preview`: the thumbnail its author gave it, as PNG, else empty."""

    version: int
    triangles: int
    textures: int
    preview: bytes = b""


class _BufferView(Struct, rename="camel"):
    byte_length: int
    byte_offset: int = 0
    buffer: int = 0


class _Image(Struct, rename="camel"):
    buffer_view: int


class _Accessor(Struct, rename="camel"):
    count: int
    type: str
    buffer_view: int | None = None


class _Primitive(Struct):
    attributes: dict[str, int]
    indices: int | None = None


class _Mesh(Struct):
    primitives: list[_Primitive]


class _Node(Struct):
    mesh: int | None = None
    children: list[int] = []


class _Texture(Struct):
    source: int | None = None


class _Document(Struct, rename="camel"):
    """The parts of a glTF document that are checked."""

    asset: dict[str, Any]
    buffer_views: list[_BufferView]
    accessors: list[_Accessor]
    meshes: list[_Mesh]
    nodes: list[_Node]
    extensions: dict[str, Any]
    buffers: list[dict[str, Any]] = []
    images: list[_Image] = []
    textures: list[_Texture] = []
    extensions_used: list[str] = []
    extensions_required: list[str] = []


@decoder_job(seconds=60, cpu_seconds=30, memory_mb=1024, preload=images.LIBRARIES)
def read_figure(data: bytes) -> FigureFile:
    """Check a VRM file. Raises BadRequest (`avatar_unreadable`, `avatar_refers_outside`, `avatar_extension_unknown`,
    `avatar_without_head`, `avatar_without_mouth`), TooLarge (`avatar_too_large`)."""
    raw, content = read_glb(data)
    try:
        document = msgspec.convert(raw, _Document)
    except (msgspec.ValidationError, RecursionError) as error:
        raise unreadable(f"its document is not as glTF wants it ({error})") from None
    _check_extensions(document)
    _check_views(document, content)
    triangles = _count_triangles(document)
    _check_nodes(document.nodes)
    version, thumbnail = _check_face(document)
    pictures = [_picture(document, content, image) for image in range(len(document.images))]
    _check_textures(pictures)
    return FigureFile(version, triangles, len(pictures), _preview(pictures, thumbnail))


def _at(items: list[T], index: object) -> T:
    """The item that the document names. Raises BadRequest."""
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(items):
        return items[index]
    raise unreadable("it names a part that it does not have")


def _check_extensions(document: _Document) -> None:
    named = {*document.extensions_used, *document.extensions_required, *document.extensions}
    if unknown := sorted(named - KNOWN_EXTENSIONS):
        raise BadRequest(
            f"The figure uses {', '.join(name[:40] for name in unknown[:3])}, which the page cannot draw. "
            "Export it without compression of meshes and textures.",
            code="avatar_extension_unknown",
        )


def _check_views(document: _Document, content: memoryview) -> None:
    if len(document.buffers) != 1:
        raise unreadable("it needs exactly one buffer")
    for view in document.buffer_views:
        start, length = view.byte_offset, view.byte_length
        if view.buffer or start < 0 or length < 0 or start + length > len(content):
            raise unreadable("a part of it lies outside its bytes")


def _count_triangles(document: _Document) -> int:
    """The triangles that are drawn. Raises BadRequest, TooLarge."""
    elements = 0
    for accessor in document.accessors:
        if accessor.count < 0 or accessor.type not in _COMPONENTS:
            raise unreadable("a table of its numbers is invalid")
        if accessor.buffer_view is not None:
            _at(document.buffer_views, accessor.buffer_view)
        elements += accessor.count * _COMPONENTS[accessor.type]
    if elements > ELEMENTS:
        raise _too_large(f"more than {ELEMENTS // 1_000_000} million numbers")
    of_mesh = [_triangles_of(document, mesh) for mesh in document.meshes]
    triangles = sum(_at(of_mesh, node.mesh) for node in document.nodes if node.mesh is not None)
    if triangles > TRIANGLES:
        raise _too_large(f"{triangles:,} triangles; {TRIANGLES:,} are allowed")
    return triangles


def _triangles_of(document: _Document, mesh: _Mesh) -> int:
    total = 0
    for primitive in mesh.primitives:
        for index in primitive.attributes.values():
            _at(document.accessors, index)
        points = primitive.indices if primitive.indices is not None else primitive.attributes.get("POSITION")
        total += _at(document.accessors, points).count // 3
    return total


def _check_nodes(nodes: list[_Node]) -> None:
    """The nodes are trees: a loader follows children without end in a circle. Raises BadRequest, TooLarge."""
    if len(nodes) > NODES:
        raise _too_large(f"{len(nodes):,} nodes; {NODES:,} are allowed")
    parents = [-1] * len(nodes)
    for at, node in enumerate(nodes):
        for child in node.children:
            _at(nodes, child)
            if parents[child] != -1:
                raise unreadable("a node has two parents")
            parents[child] = at
    # With one parent each, a node that cannot be reached from a root is in a circle or below one.
    waiting = [at for at, parent in enumerate(parents) if parent == -1]
    reached = 0
    while waiting:
        reached += 1
        waiting.extend(nodes[waiting.pop()].children)
    if reached < len(nodes):
        raise unreadable("its nodes form a circle")


def _check_face(document: _Document) -> tuple[int, int | None]:
    """The version of VRM, and which image is the thumbnail. Raises BadRequest."""
    if isinstance(one := document.extensions.get("VRMC_vrm"), dict):
        bones = _inside(one, "humanoid", "humanBones")
        mouth = _inside(one, "expressions", "preset", "aa")
        moved = [
            mouth.get(kind) for kind in ("morphTargetBinds", "textureTransformBinds", "materialColorBinds")
        ]
        _require_face(document, _inside(bones, "head").get("node"), any(moved))
        thumbnail = _inside(one, "meta").get("thumbnailImage")
        return 1, thumbnail if isinstance(thumbnail, int) else None
    if isinstance(zero := document.extensions.get("VRM"), dict):
        heads = [
            bone.get("node") for bone in _list(zero, "humanoid", "humanBones") if bone.get("bone") == "head"
        ]
        groups = _list(zero, "blendShapeMaster", "blendShapeGroups")
        mouths = [group for group in groups if str(group.get("presetName", "")).lower() in ("a", "aa")]
        moved = [group.get(kind) for group in mouths for kind in ("binds", "materialValues")]
        _require_face(document, heads[0] if heads else None, any(moved))
        texture = _inside(zero, "meta").get("texture")
        if isinstance(texture, int) and 0 <= texture < len(document.textures):
            return 0, document.textures[texture].source
        return 0, None
    raise unreadable("it is glTF, but no VRM figure")


def _require_face(document: _Document, head: object, has_mouth: bool) -> None:
    if head is None:
        raise BadRequest(
            "The figure has no head bone. Give it the humanoid bones of VRM and export it again.",
            code="avatar_without_head",
        )
    _at(document.nodes, head)
    if not has_mouth:
        raise BadRequest(
            "The figure cannot open its mouth: it has no expression `aa` (in VRM 0.x `A`). Give it one and export it again.",
            code="avatar_without_mouth",
        )


def _inside(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The object at this place, {} where there is none."""
    for name in names:
        below = value.get(name)
        if not isinstance(below, dict):
            return {}
        value = below
    return value


def _list(value: dict[str, Any], *names: str) -> Iterable[dict[str, Any]]:
    """The objects of the list at this place."""
    items = _inside(value, *names[:-1]).get(names[-1])
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _picture(document: _Document, content: memoryview, image: int) -> bytes:
    view = _at(document.buffer_views, document.images[image].buffer_view)
    return bytes(content[view.byte_offset : view.byte_offset + view.byte_length])


def _check_textures(pictures: list[bytes]) -> None:
    """By the headers of the pictures: nothing is decoded. Raises BadRequest, TooLarge."""
    if len(pictures) > TEXTURES:
        raise _too_large(f"{len(pictures)} textures; {TEXTURES} are allowed")
    pixels = 0
    for picture in pictures:
        try:
            mime, width, height = images.inspect(picture)
        except Problem:
            raise unreadable("one of its textures is damaged") from None
        if mime not in TEXTURE_TYPES:
            raise unreadable(f"one of its textures is {mime}; PNG, JPEG and WebP are known")
        if max(width, height) > TEXTURE_SIDE:
            raise _too_large(f"a texture of {width} x {height} pixels; {TEXTURE_SIDE} a side are allowed")
        pixels += width * height
    if pixels > TEXTURE_PIXELS:
        raise _too_large(
            f"textures of {pixels // 1_000_000} megapixels; {TEXTURE_PIXELS // 1_000_000} are allowed"
        )


def _preview(pictures: list[bytes], thumbnail: int | None) -> bytes:
    """The thumbnail, encoded anew; empty where there is none that can be read."""
    if thumbnail is None or not 0 <= thumbnail < len(pictures):
        return b""
    try:
        return images.preview(pictures[thumbnail], PREVIEW_SIDE)
    except Problem:
        return b""


def _too_large(what: str) -> TooLarge:
    return TooLarge(
        f"The figure has {what}. Make it smaller in the program it was made with.", code="avatar_too_large"
    )
