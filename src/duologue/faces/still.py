"""A look at rest as an SVG drawing, for a small picture of it where nothing moves. Used by `gateway.avatars.library`."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from duologue.faces.look import SIDE, Look, Shape

_POINTS = {"M": 1, "L": 1, "C": 3, "Z": 0}


def still(look: Look, theme: str = "light") -> str:
    """The look without a pose, in a square of `SIDE`."""
    colours = look.colours[theme]
    clips = {shape.inside for shape in look.shapes if shape.inside}
    body = []
    for shape in look.shapes:
        path = quoteattr(_path(shape))
        if shape.id in clips:
            body.append(f"<clipPath id={quoteattr(shape.id)}><path d={path}/></clipPath>")
        # What has a shade is only there in a pose.
        if not shape.shade and (shape.fill or shape.stroke):
            body.append(f"<path d={path}{_paint(shape, colours)}/>")
    drawn = "".join(body)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">{drawn}</svg>'


def _path(shape: Shape) -> str:
    parts = []
    at = 0
    for step in shape.steps:
        count = 2 * _POINTS[step]
        parts.append(step + " ".join(f"{value:g}" for value in shape.points[at : at + count]))
        at += count
    return " ".join(parts)


def _paint(shape: Shape, colours: dict[str, str]) -> str:
    paint = {"fill": colours[shape.fill] if shape.fill else "none"}
    if shape.stroke:
        paint |= {
            "stroke": colours[shape.stroke],
            "stroke-width": f"{shape.width:g}",
            "stroke-linecap": "round",
        }
    if shape.opacity < 1:
        paint["opacity"] = f"{shape.opacity:g}"
    if shape.inside:
        paint["clip-path"] = f"url(#{shape.inside})"
    return "".join(f" {name}={quoteattr(value)}" for name, value in paint.items())
