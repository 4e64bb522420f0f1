"""Mira: dark bob, green eyes, a mustard jumper."""

from __future__ import annotations

from duologue.faces.drawing.eye import EyeStyle, draw_eye
from duologue.faces.drawing.mount import BODY, STILL, head
from duologue.faces.drawing.mouth_drawing import MouthStyle, draw_mouth
from duologue.faces.drawing.outline import CENTRE, Outline, curve, ellipse, flipped, mirrored
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Look

LIGHT = {
    "backdrop": "#cfe3dc",
    "backdrop_glow": "#e2efe9",
    "jumper": "#e0a53a",
    "jumper_shade": "#b9812a",
    "collar": "#cf922f",
    "skin": "#f6cdb0",
    "skin_shade": "#d9987a",
    "skin_light": "#ffe3cf",
    "blush": "#ee8a78",
    "nose": "#c67f63",
    "hair": "#3a2a33",
    "hair_back": "#2b1e27",
    "hair_light": "#6b4c57",
    "brow": "#3d2c33",
    "earring": "#f3c14b",
    "white": "#fffdfa",
    "iris": "#5d9a78",
    "iris_rim": "#2f5f4b",
    "iris_glow": "#a5d3a9",
    "pupil": "#1c1a22",
    "gleam": "#ffffff",
    "lash": "#2e2029",
    "lid_shade": "#8a5446",
    "mouth": "#6b1f2b",
    "teeth": "#fffaf3",
    "tongue": "#e2747a",
    "tongue_line": "#c4545f",
    "lip_upper": "#cf5f60",
    "lip_lower": "#dd7270",
    "lip_line": "#8f3440",
    "lip_gleam": "#ffd7cf",
}
DARK = {
    "backdrop": "#24413d",
    "backdrop_glow": "#2e514b",
    "jumper": "#c98f2f",
    "jumper_shade": "#96691f",
    "collar": "#b57d26",
    "skin": "#e9bc9e",
    "skin_shade": "#bd7d62",
    "skin_light": "#f7d3bb",
    "hair": "#2f222a",
    "hair_back": "#1e151b",
    "hair_light": "#5f4450",
    "white": "#f4efea",
    "teeth": "#f6efe6",
}

FACE = mirrored(
    (
        *(
            (CENTRE, 112),
            (316, 126),
            (347, 182),
            (349, 240),
            (340, 288),
            (318, 330),
            (284, 360),
            (CENTRE, 367),
        ),
    ),
    roundness=1.05,
)
JAW = {
    "open": lambda x, y: (0.0, max(0.0, (y - 275) / 92) ** 1.3 * 19),
    "smile": lambda x, y: ((1.0 if x > CENTRE else -1.0) * 3 * (280 < y < 345), 0.0),
}


def mira() -> Look:
    sketch = Sketch()
    _behind(sketch)
    _face(sketch)
    _fringe(sketch)
    return sketch.look("mira", "Mira", LIGHT, DARK)


def _behind(sketch: Sketch) -> None:
    """Background, hair behind the neck, neck, shoulders."""
    sketch.fill("backdrop", ellipse(CENTRE, 262, 232, 232), "backdrop", STILL)
    sketch.fill("backdrop_glow", ellipse(CENTRE, 232, 168, 168), "backdrop_glow", STILL, opacity=0.8)
    back = mirrored(
        ((CENTRE, 74), (330, 86), (382, 150), (392, 250), (388, 340), (366, 384), (322, 392), (CENTRE, 380))
    )
    sketch.fill("hair_back", back, "hair_back", head(-0.3))
    neck = mirrored(((CENTRE, 300), (292, 312), (294, 372), (306, 404), (330, 424), (CENTRE, 470)))
    sketch.neck("neck", neck, "skin")
    shadow = mirrored(((CENTRE, 318), (292, 328), (293, 362), (280, 388), (CENTRE, 398)))
    sketch.neck("neck_shade", shadow, "skin_shade", opacity=0.75, inside="neck")
    body = mirrored(
        ((CENTRE, 428), (292, 420), (322, 408), (390, 428), (446, 470), (470, 540), (CENTRE, 560)),
        corners=(2,),
    )
    sketch.fill("body", body, "jumper", BODY, inside="backdrop")
    for side in (1, -1):
        fold = Outline(((352, 520), (356, 474), (372, 452), (378, 486), (384, 540), (360, 540)))
        sketch.fill(
            f"fold{side}",
            fold if side > 0 else flipped(fold),
            "jumper_shade",
            BODY,
            opacity=0.45,
            inside="backdrop",
        )
    collar = mirrored(
        ((CENTRE, 440), (290, 428), (312, 396), (326, 402), (318, 438), (290, 462), (CENTRE, 470))
    )
    sketch.fill("collar", collar, "collar", BODY, inside="backdrop")
    rib = curve((188, 404), (200, 440), (CENTRE, 466), (312, 440), (324, 404))
    sketch.line("rib", rib, "jumper_shade", 2.5, BODY, opacity=0.6, inside="backdrop")


def _face(sketch: Sketch) -> None:
    face = head(0.3)
    for side in (1, -1):
        ear = ellipse(CENTRE + side * 96, 256, 15, 25, lean=side * 8)
        sketch.fill(f"ear{side}", ear, "skin_shade", head(0.0))
        drop = ellipse(CENTRE + side * 99, 292, 6.5, 6.5)
        sketch.fill(f"earring{side}", drop, "earring", head(0.0))
    sketch.fill("face", FACE, "skin", face, moves=JAW)
    light = ellipse(CENTRE, 236, 62, 92)
    sketch.fill("face_light", light, "skin_light", head(0.5), opacity=0.35, inside="face")
    side_shade = Outline(((356, 130), (338, 200), (334, 270), (312, 328), (272, 372), (360, 380), (380, 250)))
    sketch.fill(
        "face_shade",
        side_shade,
        "skin_shade",
        head(0.2),
        opacity=0.28,
        inside="face",
        moves={"open": JAW["open"]},
    )
    under_hair = mirrored(
        ((CENTRE, 92), (340, 110), (362, 260), (338, 262), (326, 205), (300, 186), (CENTRE, 190))
    )
    sketch.fill("fringe_shade", under_hair, "skin_shade", head(0.34), opacity=0.5, inside="face")
    for side in (1, -1):
        cheek = ellipse(CENTRE + side * 58, 292, 26, 17)
        sketch.fill(
            f"cheek{side}",
            cheek,
            "blush",
            head(0.55),
            opacity=0.2,
            inside="face",
            moves={"smile": lambda x, y: (0.0, -6.0)},
        )
        inner = ellipse(CENTRE + side * 59, 292, 17, 11)
        sketch.fill(
            f"blush{side}",
            inner,
            "blush",
            head(0.56),
            opacity=0.14,
            inside="face",
            moves={"smile": lambda x, y: (0.0, -6.0)},
        )
    chin = ellipse(CENTRE, 346, 22, 5)
    sketch.fill(
        "chin_shade",
        chin,
        "skin_shade",
        head(0.6),
        opacity=0.3,
        inside="face",
        moves={"open": lambda x, y: (0.0, 34.0), "round": lambda x, y: (0.0, 6.0)},
    )
    eyes = EyeStyle(lashes=9, crease=7.5)
    for side in (-1, 1):
        draw_eye(sketch, side, 45, 242, eyes)
        _brow(sketch, side)
    _nose(sketch)
    draw_mouth(sketch, 322, MouthStyle(bend=8))


def _brow(sketch: Sketch, side: int) -> None:
    brow = Outline(
        ((280, 199), (300, 192), (320, 194), (337, 207), (319, 200.5), (300, 199), (281, 205)),
        frozenset({3}),
        roundness=1.0,
    )
    moves = {
        "brow": lambda x, y: (0.0, -11.0),
        "smile": lambda x, y: (0.0, -2.0),
    }
    sketch.fill(f"brow{side}", brow if side > 0 else flipped(brow), "brow", head(0.62), moves=moves)


def _nose(sketch: Sketch) -> None:
    mount = head(1.0)
    shade = Outline(((262, 250), (268, 278), (273, 290), (262, 296), (252, 296)), frozenset({0}))
    sketch.fill("nose_shade", shade, "skin_shade", head(0.9), opacity=0.3)
    line = curve((243, 290), (249, 296), (CENTRE, 297.5), (263, 296), (269, 290))
    sketch.line("nose_line", line, "nose", 3, mount)
    sketch.fill("nose_light", ellipse(254, 281, 5.5, 4), "skin_light", mount, opacity=0.8)


def _fringe(sketch: Sketch) -> None:
    """The hair in front: a parting on the right of the picture, and two sides that frame the face."""
    left = Outline(
        (
            *(
                (322, 92),
                (290, 64),
                (236, 60),
                (172, 88),
                (134, 150),
                (122, 240),
                (124, 330),
                (144, 382),
                (172, 388),
            ),
            *((178, 350), (165, 290), (171, 236), (204, 190), (262, 158), (308, 108)),
        ),
        frozenset({0, 8}),
    )
    right = Outline(
        (
            *((300, 72), (340, 82), (376, 128), (389, 210), (388, 310), (370, 380), (342, 389)),
            *((338, 352), (348, 292), (344, 236), (332, 180), (306, 112)),
        ),
        frozenset({6}),
    )
    mount = head(0.36)
    sketch.fill("hair_right", right, "hair", mount)
    sketch.fill("hair_left", left, "hair", mount)
    for at, line in enumerate(
        (
            curve((292, 106), (236, 132), (180, 178), (152, 254)),
            curve((276, 84), (206, 104), (152, 166), (138, 252)),
            curve((326, 108), (354, 146), (370, 208), (371, 280)),
        )
    ):
        sketch.line(f"strand{at}", line, "hair_light", 4 if at else 5, mount, opacity=0.5)
