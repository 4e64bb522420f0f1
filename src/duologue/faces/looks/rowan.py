"""Rowan: a fox with a scarf."""

from __future__ import annotations

from duologue.faces.drawing.eye import EyeStyle, draw_eye
from duologue.faces.drawing.mount import BODY, STILL, head
from duologue.faces.drawing.mouth_drawing import MouthStyle, draw_mouth
from duologue.faces.drawing.outline import CENTRE, Outline, Point, curve, ellipse, flipped, mirrored
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Look

LIGHT = {
    "backdrop": "#d9e4c3",
    "backdrop_glow": "#e8f0d8",
    "fur": "#e8813a",
    "fur_shade": "#c2611f",
    "fur_light": "#f6a25c",
    "cream": "#fff4e4",
    "cream_shade": "#e6cfb4",
    "ear": "#5a3326",
    "ear_inner": "#f2c9a8",
    "scarf": "#4f7f6a",
    "scarf_shade": "#3a6352",
    "nose": "#33211d",
    "nose_light": "#7a5d55",
    "white": "#fffdf6",
    "iris": "#d9972b",
    "iris_rim": "#7c4a12",
    "iris_glow": "#f6cf6a",
    "pupil": "#20130d",
    "gleam": "#ffffff",
    "lash": "#3a2018",
    "lid_shade": "#7d3c17",
    "brow": "#a94f1a",
    "blush": "#f0705a",
    "mouth": "#6a1f28",
    "teeth": "#fffdf6",
    "tongue": "#ef8a8a",
    "tongue_line": "#d0686c",
    "lip_upper": "#4a2a20",
    "lip_lower": "#4a2a20",
    "lip_line": "#4a2a20",
    "lip_gleam": "#ffffff",
}
DARK = {
    "backdrop": "#34412e",
    "backdrop_glow": "#425239",
    "fur": "#d67431",
    "fur_shade": "#a9531a",
    "fur_light": "#e5924e",
    "cream": "#f1e4d2",
    "cream_shade": "#cdb59a",
    "ear": "#462619",
    "scarf": "#467362",
    "scarf_shade": "#315546",
    "white": "#f6f1e6",
    "teeth": "#f6f1e6",
}

HEAD = mirrored(
    (
        (CENTRE, 116),
        (306, 128),
        (352, 172),
        (384, 236),
        (420, 292),
        (378, 318),
        (336, 350),
        (292, 374),
        (CENTRE, 380),
    ),
    corners=(4,),
    roundness=1.0,
)


def _jaw(x: float, y: float) -> Point:
    return 0.0, max(0.0, (y - 320) / 60) ** 1.2 * 20


def rowan() -> Look:
    sketch = Sketch()
    _body(sketch)
    for side in (1, -1):
        _ear(sketch, side)
    _head(sketch)
    for side in (-1, 1):
        draw_eye(
            sketch, side, 58, 236, EyeStyle(wide=25, high=20, iris=18.5, pupil=10, lid=4.6, slant=4, lashes=7)
        )
        brow = curve((CENTRE + side * 42, 190), (CENTRE + side * 58, 184), (CENTRE + side * 76, 192))
        moves = {"brow": lambda x, y: (0.0, -9.0), "smile": lambda x, y: (0.0, -2.0)}
        sketch.line(f"brow{side}", brow, "brow", 6.5, head(0.62), moves=moves)
    _muzzle(sketch)
    return sketch.look("rowan", "Rowan", LIGHT, DARK)


def _body(sketch: Sketch) -> None:
    sketch.fill("backdrop", ellipse(CENTRE, 262, 232, 232), "backdrop", STILL)
    sketch.fill("backdrop_glow", ellipse(CENTRE, 232, 168, 168), "backdrop_glow", STILL, opacity=0.8)
    body = mirrored(((CENTRE, 380), (322, 396), (376, 440), (408, 520), (404, 570), (CENTRE, 580)))
    sketch.fill("body", body, "fur", BODY, inside="backdrop")
    bib = mirrored(((CENTRE, 400), (304, 420), (318, 480), (296, 540), (CENTRE, 560)))
    sketch.fill("bib", bib, "cream", BODY, inside="backdrop")
    scarf = mirrored(((CENTRE, 396), (316, 388), (352, 380), (366, 408), (338, 440), (CENTRE, 456)))
    sketch.fill("scarf", scarf, "scarf", BODY, inside="backdrop")
    for at, line in enumerate(
        (
            curve((164, 414), (208, 436), (CENTRE, 440), (304, 436), (348, 414)),
            curve((178, 428), (214, 446), (CENTRE, 450)),
        )
    ):
        sketch.line(f"scarf_fold{at}", line, "scarf_shade", 4, BODY, opacity=0.7, inside="backdrop")
    tail = Outline(
        ((306, 432), (340, 424), (352, 470), (356, 530), (316, 536), (308, 480)), frozenset({0, 3, 4})
    )
    sketch.fill("scarf_end", tail, "scarf", BODY, inside="backdrop")
    sketch.line(
        "scarf_edge",
        curve((308, 440), (312, 486), (318, 532)),
        "scarf_shade",
        4,
        BODY,
        opacity=0.7,
        inside="backdrop",
    )


def _ear(sketch: Sketch, side: int) -> None:
    """The ears go up with the brows."""

    def perk(x: float, y: float) -> Point:
        share = max(0.0, (190 - y) / 140)
        return side * 6.0 * share, -7.0 * share

    outer = Outline(((268, 160), (314, 88), (364, 40), (380, 104), (364, 196), (320, 210)), frozenset({2}))
    inner = Outline(((300, 148), (328, 102), (357, 70), (366, 118), (354, 190)), frozenset({0, 2, 4}))
    tip = Outline(((326, 70), (364, 30), (390, 82), (356, 92)), frozenset({1}))
    for name, outline, colour, inside in (
        (f"ear{side}", outer, "fur", ""),
        (f"ear_inner{side}", inner, "ear_inner", ""),
        (f"ear_tip{side}", tip, "ear", f"ear{side}"),
    ):
        shape = outline if side > 0 else flipped(outline)
        sketch.fill(name, shape, colour, head(-0.05), inside=inside, moves={"brow": perk})


def _head(sketch: Sketch) -> None:
    sketch.fill("head", HEAD, "fur", head(0.2), moves={"open": _jaw})
    sketch.fill("forehead", ellipse(CENTRE, 176, 52, 44), "fur_light", head(0.4), opacity=0.5, inside="head")
    shade = Outline(((330, 120), (360, 200), (372, 280), (330, 340), (280, 390), (440, 400), (440, 150)))
    sketch.fill("head_shade", shade, "fur_shade", head(0.15), opacity=0.3, inside="head")
    for side in (1, -1):
        cheek = Outline(
            (
                (270, 262),
                (304, 268),
                (344, 262),
                (392, 276),
                (422, 292),
                (380, 322),
                (338, 354),
                (290, 378),
                (CENTRE - 6, 390),
                (CENTRE - 4, 300),
            ),
            frozenset({4, 8, 9}),
        )
        shape = cheek if side > 0 else flipped(cheek)
        sketch.fill(f"cheek{side}", shape, "cream", head(0.26), inside="head", moves={"open": _jaw})
        tuft = curve((376, 300), (392, 302), (406, 298))
        sketch.line(
            f"tuft{side}", tuft if side > 0 else flipped(tuft), "cream_shade", 3, head(0.2), opacity=0.8
        )
        blush = ellipse(CENTRE + side * 84, 286, 21, 12)
        sketch.fill(
            f"blush{side}",
            blush,
            "blush",
            head(0.4),
            opacity=0.22,
            inside="head",
            moves={"smile": lambda x, y: (0.0, -5.0)},
        )


def _muzzle(sketch: Sketch) -> None:
    bridge = mirrored(((CENTRE, 200), (276, 226), (284, 258), (290, 286), (CENTRE, 304)))
    sketch.fill("bridge", bridge, "fur", head(0.7))
    sketch.fill("bridge_light", ellipse(252, 246, 10, 28), "fur_light", head(0.8), opacity=0.5)
    muzzle = mirrored(((CENTRE, 276), (284, 278), (310, 300), (310, 328), (284, 350), (CENTRE, 358)))
    moves = {
        "open": lambda x, y: (0.0, 30.0 * max(0.0, (y - 318) / 40) ** 0.8),
        "round": lambda x, y: (-0.08 * (x - CENTRE), 0.0),
    }
    sketch.fill("muzzle", muzzle, "cream", head(0.72), moves=moves)
    sketch.fill(
        "chin_shade",
        ellipse(CENTRE, 349, 20, 4.5),
        "cream_shade",
        head(0.7),
        opacity=0.7,
        moves={"open": lambda x, y: (0.0, 33.0), "round": lambda x, y: (0.0, 7.0)},
    )
    draw_mouth(sketch, 322, MouthStyle(wide=29, upper=0, lower=0, jaw=0.86, bend=9, line=4, fangs=True))
    lip = curve((CENTRE, 300), (CENTRE, 322))
    stays = {
        "open": {1: (0.0, -2.0)},
        "round": {1: (0.0, -4.0)},
        "tuck": {1: (0.0, -6.5)},
        "tongue": {1: (0.0, -2.5)},
        "smile": {1: (0.0, 2.5)},
    }
    sketch.line("philtrum", lip, "lip_line", 3.6, head(0.76), moves=stays)
    nose = mirrored(((CENTRE, 272), (274, 273), (283, 283), (272, 297), (CENTRE, 303)))
    sketch.fill("nose", nose, "nose", head(1.05))
    sketch.fill("nose_light", ellipse(251, 279, 8, 3.5), "nose_light", head(1.08), opacity=0.9)
