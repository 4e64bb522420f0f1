"""Theo: curly hair, a beard, round glasses, a teal cardigan."""

from __future__ import annotations

from duologue.faces.drawing.eye import EyeStyle, draw_eye
from duologue.faces.drawing.mount import BODY, STILL, head
from duologue.faces.drawing.mouth_drawing import MouthStyle, draw_mouth
from duologue.faces.drawing.outline import CENTRE, Outline, Point, curve, ellipse, flipped, mirrored
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Look

LIGHT = {
    "backdrop": "#f3d9c4",
    "backdrop_glow": "#f9e8da",
    "cardigan": "#2f6f73",
    "cardigan_shade": "#235457",
    "shirt": "#f4efe6",
    "shirt_shade": "#d8cfc0",
    "skin": "#a96b46",
    "skin_shade": "#7d4a2e",
    "skin_light": "#c78a60",
    "blush": "#c2553f",
    "nose": "#6d3d26",
    "hair": "#2a211f",
    "hair_light": "#4a3a34",
    "beard": "#33271f",
    "beard_light": "#4d3b30",
    "brow": "#2a201c",
    "glasses": "#3b2f2a",
    "glass": "#ffffff",
    "white": "#fffaf4",
    "iris": "#6b4023",
    "iris_rim": "#3b2213",
    "iris_glow": "#a8703f",
    "pupil": "#17100c",
    "gleam": "#ffffff",
    "lash": "#241914",
    "lid_shade": "#4f2c1b",
    "mouth": "#541a1f",
    "teeth": "#fffaf2",
    "tongue": "#d4666a",
    "tongue_line": "#b44c53",
    "lip_upper": "#8f4b3d",
    "lip_lower": "#a65a49",
    "lip_line": "#4c221d",
    "lip_gleam": "#e0a08a",
}
DARK = {
    "backdrop": "#4a352b",
    "backdrop_glow": "#5b4235",
    "cardigan": "#2b6165",
    "cardigan_shade": "#1e484b",
    "shirt": "#ded7ca",
    "shirt_shade": "#b9b0a0",
    "skin": "#9c6140",
    "skin_shade": "#6f4027",
    "skin_light": "#b67c55",
    "hair": "#1d1716",
    "beard": "#281e18",
    "white": "#f3ece4",
    "teeth": "#f4ede3",
}

FACE = mirrored(
    ((CENTRE, 106), (322, 118), (352, 172), (354, 240), (346, 296), (322, 344), (288, 370), (CENTRE, 376)),
    roundness=1.05,
)


def _jaw(x: float, y: float) -> Point:
    return 0.0, max(0.0, (y - 285) / 92) ** 1.3 * 20


def theo() -> Look:
    sketch = Sketch()
    _behind(sketch)
    _face(sketch)
    _beard(sketch)
    draw_mouth(sketch, 330, MouthStyle(wide=33, upper=0.75, lower=0.85, bend=7, lip_opacity=0.95))
    _moustache(sketch)
    for side in (-1, 1):
        draw_eye(sketch, side, 46, 236, EyeStyle(wide=23, high=15, iris=14.5, pupil=7.2, lid=4.2, slant=2))
        _brow(sketch, side)
    _nose(sketch)
    _glasses(sketch)
    _hair(sketch)
    return sketch.look("theo", "Theo", LIGHT, DARK)


def _behind(sketch: Sketch) -> None:
    sketch.fill("backdrop", ellipse(CENTRE, 262, 232, 232), "backdrop", STILL)
    sketch.fill("backdrop_glow", ellipse(CENTRE, 232, 168, 168), "backdrop_glow", STILL, opacity=0.8)
    neck = mirrored(((CENTRE, 300), (306, 316), (308, 376), (316, 402), (340, 424), (CENTRE, 480)))
    sketch.neck("neck", neck, "skin")
    shadow = mirrored(((CENTRE, 318), (306, 330), (308, 374), (292, 404), (CENTRE, 418)))
    sketch.neck("neck_shade", shadow, "skin_shade", opacity=0.7, inside="neck")
    body = mirrored(
        ((CENTRE, 440), (300, 430), (328, 406), (404, 426), (462, 470), (486, 540), (CENTRE, 560)),
        corners=(2,),
    )
    sketch.fill("body", body, "cardigan", BODY, inside="backdrop")
    shirt = mirrored(
        ((CENTRE, 440), (292, 424), (322, 404), (316, 470), (300, 540), (CENTRE, 560)), corners=(2,)
    )
    sketch.fill("shirt", shirt, "shirt", BODY, inside="backdrop")
    skin = Outline(((222, 412), (290, 412), (CENTRE, 468)), frozenset({0, 1, 2}))
    sketch.fill("throat", skin, "skin_shade", BODY, inside="backdrop")
    for side in (1, -1):
        collar = Outline(
            ((312, 398), (330, 412), (316, 466), (288, 444), (CENTRE, 462), (288, 430)),
            frozenset({0, 1, 2, 4}),
        )
        sketch.fill(
            f"collar{side}", collar if side > 0 else flipped(collar), "shirt", BODY, inside="backdrop"
        )
        edge = curve((316, 466), (288, 446), (258, 463))
        sketch.line(
            f"collar_edge{side}",
            edge if side > 0 else flipped(edge),
            "shirt_shade",
            3,
            BODY,
            inside="backdrop",
        )
        lapel = Outline(
            ((326, 408), (352, 414), (340, 480), (310, 540), (294, 540), (312, 470)), frozenset({0, 1, 3, 4})
        )
        sketch.fill(
            f"lapel{side}", lapel if side > 0 else flipped(lapel), "cardigan_shade", BODY, inside="backdrop"
        )


def _face(sketch: Sketch) -> None:
    for side in (1, -1):
        sketch.fill(f"ear{side}", ellipse(CENTRE + side * 101, 246, 17, 28, lean=side * 8), "skin", head(0.0))
        sketch.fill(
            f"ear_shade{side}",
            ellipse(CENTRE + side * 102, 247, 9, 17, lean=side * 8),
            "skin_shade",
            head(0.02),
            opacity=0.6,
        )
    sketch.fill("face", FACE, "skin", head(0.3), moves={"open": _jaw})
    sketch.fill(
        "face_light", ellipse(CENTRE, 200, 66, 84), "skin_light", head(0.5), opacity=0.3, inside="face"
    )
    side_shade = Outline(((360, 120), (340, 190), (338, 262), (322, 322), (290, 380), (364, 390), (384, 250)))
    sketch.fill("face_shade", side_shade, "skin_shade", head(0.2), opacity=0.35, inside="face")
    under_hair = mirrored(
        ((CENTRE, 90), (340, 96), (364, 220), (346, 226), (338, 176), (304, 158), (CENTRE, 154))
    )
    sketch.fill("hair_shade", under_hair, "skin_shade", head(0.32), opacity=0.4, inside="face")
    for side in (1, -1):
        cheek = ellipse(CENTRE + side * 60, 284, 24, 14)
        sketch.fill(
            f"cheek{side}",
            cheek,
            "blush",
            head(0.55),
            opacity=0.22,
            inside="face",
            moves={"smile": lambda x, y: (0.0, -6.0)},
        )


def _beard(sketch: Sketch) -> None:
    beard = mirrored(
        (
            *((CENTRE, 294), (286, 298), (314, 306), (336, 286), (348, 236), (357, 250), (351, 312)),
            *((332, 360), (298, 390), (CENTRE, 398)),
        ),
        corners=(4,),
    )
    sketch.fill(
        "beard",
        beard,
        "beard",
        head(0.34),
        moves={"open": _jaw, "smile": lambda x, y: (0.0, -3.0 * (y < 312))},
    )
    sketch.fill(
        "beard_light",
        ellipse(CENTRE - 26, 372, 34, 11, lean=12),
        "beard_light",
        head(0.5),
        opacity=0.5,
        moves={"open": lambda x, y: (0.0, 21.0)},
    )
    bare = mirrored(((CENTRE, 340), (276, 342), (272, 352), (CENTRE, 353)))
    sketch.fill(
        "bare",
        bare,
        "skin_shade",
        head(0.6),
        opacity=0.55,
        moves={"open": lambda x, y: (0.0, 39.0), "round": lambda x, y: (0.0, 9.0)},
    )


def _moustache(sketch: Sketch) -> None:
    def lift(x: float, y: float) -> Point:
        return 0.0, -3.0

    half = ((CENTRE, 301), (272, 299), (294, 308), (309, 330), (290, 325), (270, 322), (CENTRE, 319.5))
    sketch.fill(
        "moustache",
        mirrored(half, corners=(3,)),
        "beard",
        head(0.72),
        moves={
            "open": lift,
            "round": lambda x, y: (-0.28 * (x - CENTRE), -3.0),
            "wide": lambda x, y: (0.16 * (x - CENTRE), 0.0),
            "press": lambda x, y: (0.0, 3.5 * (y > 318)),
            "tuck": lambda x, y: (0.0, -6.0 * (y > 318)),
            "smile": lambda x, y: (0.12 * (x - CENTRE), -0.1 * abs(x - CENTRE) + 1.5),
        },
    )


def _brow(sketch: Sketch, side: int) -> None:
    brow = Outline(
        ((278, 194), (300, 184), (324, 186), (342, 201), (322, 196), (300, 195), (280, 204)),
        frozenset({3}),
        roundness=1.0,
    )
    moves = {"brow": lambda x, y: (0.0, -10.0), "smile": lambda x, y: (0.0, -2.0)}
    sketch.fill(f"brow{side}", brow if side > 0 else flipped(brow), "brow", head(0.64), moves=moves)


def _nose(sketch: Sketch) -> None:
    shade = Outline(((264, 236), (272, 270), (282, 288), (264, 298), (250, 298)), frozenset({0}))
    sketch.fill("nose_shade", shade, "skin_shade", head(0.9), opacity=0.4)
    line = curve((234, 284), (238, 294), (248, 297), (CENTRE, 300), (264, 297), (274, 294), (278, 284))
    sketch.line("nose_line", line, "nose", 3.2, head(1.0))
    sketch.fill("nose_light", ellipse(253, 280, 8, 6), "skin_light", head(1.0), opacity=0.7)


def _glasses(sketch: Sketch) -> None:
    mount = head(0.8)
    for side in (-1, 1):
        lens = ellipse(CENTRE + side * 47, 239, 38, 35)
        sketch.fill(f"lens{side}", lens, "glass", mount, opacity=0.1)
        glare = Outline(
            tuple((x + side * 47, y) for x, y in ((236, 222), (250, 210), (258, 212), (238, 236))),
            frozenset({0, 1, 2, 3}),
        )
        sketch.fill(f"glare{side}", glare, "glass", mount, opacity=0.3)
        sketch.line(f"rim_{side}", lens, "glasses", 5.5, mount)
        arm = curve((CENTRE + side * 85, 232), (CENTRE + side * 102, 234))
        sketch.line(f"arm{side}", arm, "glasses", 5.5, head(0.4))
    sketch.line("bridge", curve((246, 234), (CENTRE, 228), (266, 234)), "glasses", 5.5, mount)


def _hair(sketch: Sketch) -> None:
    curls = (
        *(
            (160, 176, 24),
            (170, 138, 30),
            (198, 106, 34),
            (236, 88, 36),
            (278, 86, 36),
            (316, 104, 34),
            (344, 138, 30),
            (352, 176, 22),
        ),
        *((210, 128, 30), (256, 116, 34), (302, 128, 30)),
    )
    mount = head(0.3)
    for side in (1, -1):
        temple = Outline(((338, 150), (362, 168), (360, 214), (354, 252), (345, 252), (346, 214), (334, 190)))
        sketch.fill(f"temple{side}", temple if side > 0 else flipped(temple), "hair", mount)
    for at, (x, y, radius) in enumerate(curls):
        sketch.fill(f"curl{at}", ellipse(x, y, radius, radius), "hair", mount)
    for at, (x, y) in enumerate(((196, 104), (240, 84), (284, 84), (222, 122), (268, 112), (324, 112))):
        shine = curve((x - 14, y + 4), (x - 8, y - 9), (x + 6, y - 12))
        sketch.line(f"shine{at}", shine, "hair_light", 4.5, mount, opacity=0.75)
