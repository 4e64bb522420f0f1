"""VRM figures made in code: a head on shoulders whose mouth and lids move, as small as a loader takes, in both versions; and a portrait
drawn in code."""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Sequence
from typing import Any

BONES = {
    # name: (parent, its place relative to the parent in metres)
    "hips": (None, (0.0, 0.9, 0.0)),
    "spine": ("hips", (0.0, 0.15, 0.0)),
    "chest": ("spine", (0.0, 0.15, 0.0)),
    "neck": ("chest", (0.0, 0.2, 0.0)),
    "head": ("neck", (0.0, 0.1, 0.0)),
    **{
        f"{side}{bone}": (parent.format(side), (sign * x, y, 0.0))
        for side, sign in (("left", 1), ("right", -1))
        for bone, parent, x, y in (
            ("UpperLeg", "hips", 0.1, 0.0),
            ("LowerLeg", "{}UpperLeg", 0.0, -0.4),
            ("Foot", "{}LowerLeg", 0.0, -0.4),
            ("UpperArm", "chest", 0.18, 0.12),
            ("LowerArm", "{}UpperArm", 0.25, 0.0),
            ("Hand", "{}LowerArm", 0.2, 0.0),
        )
    },
}
MORPHS = ("aa", "ih", "ou", "ee", "oh", "blink")
VRM0_PRESETS = {"aa": "a", "ih": "i", "ou": "u", "ee": "e", "oh": "o", "blink": "blink"}
Vector = tuple[float, float, float]


class Bytes:
    """The chunk of bytes, with the views and accessors into it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes) -> int:
        self.data += bytes(-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        return len(self.views) - 1

    def vectors(self, vectors: Sequence[Vector]) -> int:
        data = b"".join(struct.pack("<3f", *vector) for vector in vectors)
        bounds = {
            name: [pick(vector[axis] for vector in vectors) for axis in range(3)]
            for name, pick in (("min", min), ("max", max))
        }
        return self._accessor(data, len(vectors), "VEC3", 5126, **bounds)

    def indices(self, indices: Sequence[int]) -> int:
        return self._accessor(struct.pack(f"<{len(indices)}H", *indices), len(indices), "SCALAR", 5123)

    def _accessor(self, data: bytes, count: int, type: str, component: int, **more: Any) -> int:
        self.accessors.append(
            {"bufferView": self.view(data), "componentType": component, "count": count, "type": type, **more}
        )
        return len(self.accessors) - 1


def png(width: int, height: int, colour: str = "#c08060") -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(buffer, "PNG")
    return buffer.getvalue()


def portrait(side: int = 480) -> bytes:
    """A PNG of a face that is drawn: skin, hair, eyes, mouth. Its landmarks are `PORTRAIT_LANDMARKS`."""
    from PIL import Image, ImageDraw

    scale = side / 480
    image = Image.new("RGB", (side, side), "#b8c8d8")
    draw = ImageDraw.Draw(image)

    def ellipse(left: float, top: float, right: float, bottom: float, colour: str) -> None:
        draw.ellipse([value * scale for value in (left, top, right, bottom)], fill=colour)

    ellipse(60, 400, 420, 700, "#44546a")
    draw.rectangle([value * scale for value in (205, 360, 275, 440)], fill="#d9a07c")
    ellipse(100, 50, 380, 330, "#4a3020")
    ellipse(125, 85, 355, 405, "#e8b590")
    for left in (160, 270):
        ellipse(left, 205, left + 54, 235, "#ffffff")
        ellipse(left + 17, 206, left + 37, 234, "#35506b")
        draw.line(
            [value * scale for value in (left, 192, left + 54, 190)], fill="#4a3020", width=round(6 * scale)
        )
    draw.line(
        [value * scale for value in (240, 230, 232, 280, 248, 284)], fill="#c98f6b", width=round(4 * scale)
    )
    ellipse(198, 312, 284, 344, "#b8585a")
    draw.line([value * scale for value in (198, 328, 284, 328)], fill="#7a3038", width=round(3 * scale))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _at(x: float, y: float) -> list[float]:
    return [x / 480, y / 480]


PORTRAIT_LANDMARKS: dict[str, Any] = {
    "left_eye": {
        "outer": _at(160, 220),
        "inner": _at(214, 220),
        "upper": _at(187, 205),
        "lower": _at(187, 235),
    },
    "right_eye": {
        "outer": _at(324, 220),
        "inner": _at(270, 220),
        "upper": _at(297, 205),
        "lower": _at(297, 235),
    },
    "mouth_left": _at(198, 328),
    "mouth_right": _at(284, 328),
    "mouth_top": _at(241, 312),
    "mouth_bottom": _at(241, 344),
    "lips": _at(241, 328),
    "chin": _at(241, 404),
}


def vrm_document(version: int = 1, *, textures: Sequence[bytes] = ()) -> tuple[dict[str, Any], bytes]:
    """A figure's document and bytes, for tests that break them. The first texture is its thumbnail."""
    chunk = Bytes()
    names = list(BONES)
    nodes: list[dict[str, Any]] = [
        {
            "name": name,
            "translation": list(place),
            **(
                {"children": children}
                if (children := [i for i, n in enumerate(names) if BONES[n][0] == name])
                else {}
            ),
        }
        for name, (_, place) in BONES.items()
    ]
    # VRM 0.x looks along -z, VRM 1.0 along +z.
    forward = 1.0 if version else -1.0
    mesh = _head(chunk, forward)
    nodes.append({"name": "face", "mesh": 0, "translation": [0.0, 0.1, 0.0]})
    nodes[names.index("head")].setdefault("children", []).append(len(nodes) - 1)
    body = _sphere(chunk, (0.0, 0.0, 0.0), (0.24, 0.2, 0.12))
    nodes.append({"name": "body", "mesh": 1, "translation": [0.0, 0.0, 0.0]})
    nodes[names.index("chest")].setdefault("children", []).append(len(nodes) - 1)
    images = [{"bufferView": chunk.view(data), "mimeType": "image/png"} for data in textures]
    extension = _vrm1(names, len(nodes) - 2, images) if version else _vrm0(names, images)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Duologue's tests"},
        "extensionsUsed": list(extension),
        "extensions": extension,
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": nodes,
        "meshes": [mesh, {"primitives": [body]}],
        "materials": [
            {"name": name, "pbrMetallicRoughness": {"baseColorFactor": colour, "metallicFactor": 0.0}}
            for name, colour in (
                ("skin", [0.85, 0.6, 0.45, 1.0]),
                ("cloth", [0.2, 0.3, 0.5, 1.0]),
                ("dark", [0.08, 0.02, 0.03, 1.0]),
            )
        ],
        "accessors": chunk.accessors,
        "bufferViews": chunk.views,
        "buffers": [{"byteLength": len(chunk.data)}],
    }
    if images:
        document |= {"images": images, "textures": [{"source": index} for index in range(len(images))]}
    return document, bytes(chunk.data)


def glb(document: dict[str, Any], data: bytes) -> bytes:
    """A binary glTF file."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def vrm_file(version: int = 1, *, textures: Sequence[bytes] = ()) -> bytes:
    """A VRM file that loads: `version` 1 (1.0) or 0 (0.x)."""
    return glb(*vrm_document(version, textures=textures))


def _head(chunk: Bytes, forward: float) -> dict[str, Any]:
    """A head that looks to `forward` on the z axis, a mouth and two eyes on it, which the morphs open and close."""
    head = _sphere(chunk, (0.0, 0.0, 0.0), (0.09, 0.12, 0.1))
    features = [(0.0, -0.05), (-0.035, 0.02), (0.035, 0.02)]
    vertices: list[Vector] = []
    indices: list[int] = []
    for x, y in features:
        start = len(vertices)
        z = forward * 0.112
        height, width = (0.004, 0.03) if x == 0.0 else (0.012, 0.012)
        vertices += [(x - width, y, z), (x, y + height, z), (x + width, y, z), (x, y - height, z)]
        turn = (0, 2, 1, 0, 3, 2) if forward > 0 else (0, 1, 2, 0, 2, 3)
        indices += [start + index for index in turn]
    moves = {
        "aa": (0.0, -0.045, 0.0),
        "ih": (0.008, -0.01, 0.0),
        "ou": (-0.016, -0.02, 0.0),
        "ee": (0.012, -0.012, 0.0),
        "oh": (-0.01, -0.035, 0.0),
    }
    targets = []
    for name in MORPHS:
        deltas: list[Vector] = [(0.0, 0.0, 0.0)] * len(vertices)
        if name == "blink":
            for eye in (4, 8):
                deltas[eye + 1] = (0.0, -0.011, 0.0)
                deltas[eye + 3] = (0.0, 0.011, 0.0)
        else:
            x, y, _ = moves[name]
            deltas[0], deltas[2], deltas[3] = (-x, 0.0, 0.0), (x, 0.0, 0.0), (0.0, y, 0.0)
        targets.append({"POSITION": chunk.vectors(deltas)})
    still = [{"POSITION": chunk.vectors([(0.0, 0.0, 0.0)] * _count(chunk, head))} for _ in MORPHS]
    mouth = {
        "attributes": {"POSITION": chunk.vectors(vertices)},
        "indices": chunk.indices(indices),
        "material": 2,
    }
    return {
        "primitives": [head | {"targets": still}, mouth | {"targets": targets}],
        "weights": [0.0] * len(MORPHS),
        "extras": {"targetNames": list(MORPHS)},
    }


def _count(chunk: Bytes, primitive: dict[str, Any]) -> int:
    return int(chunk.accessors[primitive["attributes"]["POSITION"]]["count"])


def _sphere(
    chunk: Bytes, middle: Vector, radius: Vector, rows: int = 10, columns: int = 14
) -> dict[str, Any]:
    vertices: list[Vector] = []
    normals: list[Vector] = []
    for row in range(rows + 1):
        for column in range(columns + 1):
            down, around = math.pi * row / rows, 2 * math.pi * column / columns
            unit = (math.sin(down) * math.cos(around), math.cos(down), math.sin(down) * math.sin(around))
            normals.append(unit)
            x, y, z = (
                centre + size * value for centre, size, value in zip(middle, radius, unit, strict=True)
            )
            vertices.append((x, y, z))
    indices: list[int] = []
    for row in range(rows):
        for column in range(columns):
            one = row * (columns + 1) + column
            below = one + columns + 1
            indices += [one, one + 1, below, below, one + 1, below + 1]
    return {
        "attributes": {"POSITION": chunk.vectors(vertices), "NORMAL": chunk.vectors(normals)},
        "indices": chunk.indices(indices),
        "material": 0 if radius[0] < 0.2 else 1,
    }


def _vrm1(names: list[str], face: int, images: list[Any]) -> dict[str, Any]:
    presets = {
        name: {"morphTargetBinds": [{"node": face, "index": index, "weight": 1.0}]}
        for index, name in enumerate(MORPHS)
    }
    meta: dict[str, Any] = {
        "name": "Test",
        "version": "1",
        "authors": ["Duologue"],
        "licenseUrl": "https://vrm.dev/licenses/1.0/",
    }
    return {
        "VRMC_vrm": {
            "specVersion": "1.0",
            "meta": meta | ({"thumbnailImage": 0} if images else {}),
            "humanoid": {"humanBones": {name: {"node": names.index(name)} for name in names}},
            "expressions": {"preset": presets},
        }
    }


def _vrm0(names: list[str], images: list[Any]) -> dict[str, Any]:
    groups = [
        {
            "name": name,
            "presetName": VRM0_PRESETS[name],
            "binds": [{"mesh": 0, "index": index, "weight": 100}],
        }
        for index, name in enumerate(MORPHS)
    ]
    return {
        "VRM": {
            "exporterVersion": "Duologue",
            "specVersion": "0.0",
            "meta": {"title": "Test", "version": "1", "author": "Duologue"}
            | ({"texture": 0} if images else {}),
            "humanoid": {"humanBones": [{"bone": name, "node": names.index(name)} for name in names]},
            "blendShapeMaster": {"blendShapeGroups": groups},
            "firstPerson": {
                "lookAtTypeName": "Bone",
                **{
                    f"lookAt{way}": {"curve": [0, 0, 0, 1, 1, 1, 1, 0], "xRange": 90, "yRange": 10}
                    for way in ("HorizontalInner", "HorizontalOuter", "VerticalDown", "VerticalUp")
                },
            },
            "secondaryAnimation": {},
            "materialProperties": [
                {
                    "name": name,
                    "shader": "VRM_USE_GLTFSHADER",
                    "renderQueue": 2000,
                    "floatProperties": {},
                    "vectorProperties": {},
                    "textureProperties": {},
                    "keywordMap": {},
                    "tagMap": {},
                }
                for name in ("skin", "cloth", "dark")
            ],
        }
    }
