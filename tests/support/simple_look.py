"""A small look of one's own, and any look as SVG: what the painter of `portrait` is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import resvg_py
from PIL import Image

from duologue.faces.look import SIDE, Look, Shape
from duologue.faces.pose import posed


def rectangle(name: str, left: float, top: float, right: float, bottom: float, **more) -> Shape:
    points = (left, top, right, top, right, bottom, left, bottom)
    return Shape(name, ("M", "L", "L", "L", "Z"), points, **more)


def simple_look() -> Look:
    """A square face whose mouth opens downwards, with a line that shows with the tongue, clipped by the mouth."""
    shapes = (
        rectangle("wall", 0, 0, 512, 512, fill="wall"),
        rectangle("face", 100, 100, 400, 420, fill="skin", moves={"turn": (40.0, 0.0) * 4}),
        rectangle("mouth", 200, 300, 300, 300, fill="mouth", moves={"open": (0, 0, 0, 0, 0, 80, 0, 80)}),
        Shape(
            "tongue",
            ("M", "C"),
            (180, 340, 220, 320, 280, 320, 320, 340),
            stroke="tongue",
            width=20,
            inside="mouth",
            shade="tongue",
        ),
    )
    colours = {"wall": "#204060", "skin": "#e0b090", "mouth": "#601020", "tongue": "#e06070"}
    return Look("simple", "Simple", {"light": colours, "dark": colours}, shapes, ("face", "mouth", "tongue"))


def drawn_by_resvg(
    look: Look, pose: Mapping[str, float], size: int, paper: tuple[int, int, int]
) -> Image.Image:
    """The look in this pose, by another renderer and all at once."""
    return Image.open(BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=svg(look, pose, size, paper))))).convert(
        "RGB"
    )


def svg(look: Look, pose: Mapping[str, float], size: int, paper: tuple[int, int, int]) -> str:
    colours = look.colours["light"]
    paths = {shape.id: path(shape, pose) for shape in look.shapes}
    clips = {shape.inside for shape in look.shapes if shape.inside}
    parts = [f'<clipPath id="{name}"><path d="{paths[name]}"/></clipPath>' for name in sorted(clips)]
    parts.append(f'<rect width="{SIDE}" height="{SIDE}" fill="rgb{paper}"/>')
    for shape in look.shapes:
        opacity = shape.opacity * (max(0.0, min(1.0, pose.get(shape.shade, 0.0))) if shape.shade else 1.0)
        clip = f' clip-path="url(#{shape.inside})"' if shape.inside else ""
        paint = (
            f'fill="{colours[shape.fill]}"'
            if shape.fill
            else f'fill="none" stroke="{colours[shape.stroke]}" stroke-width="{shape.width}" stroke-linecap="round" stroke-linejoin="round"'
        )
        parts.append(f'<path d="{paths[shape.id]}" opacity="{opacity}" {paint}{clip}/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" width="{size}" height="{size}">'
        + "".join(parts)
        + "</svg>"
    )


def path(shape: Shape, pose: Mapping[str, float]) -> str:
    points = posed(shape, pose)
    words, at = [], 0
    for step in shape.steps:
        count = {"M": 2, "L": 2, "C": 6, "Z": 0}[step]
        words.append(step + " ".join(f"{value:.3f}" for value in points[at : at + count]))
        at += count
    return "".join(words)
