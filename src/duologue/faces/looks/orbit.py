"""Orbit: a robot with a screen for a face, whose eyes and mouth are lights."""

from __future__ import annotations

from duologue.faces.drawing.mount import BODY, STILL, head
from duologue.faces.drawing.mouth_drawing import MouthStyle, draw_mouth
from duologue.faces.drawing.outline import CENTRE, Outline, Point, Warp, curve, ellipse, flipped, mirrored
from duologue.faces.drawing.sketch import Sketch
from duologue.faces.look import Look

LIGHT = {
    "backdrop": "#d3dcf3",
    "backdrop_glow": "#e4eafa",
    "shell": "#f3f5fb",
    "shell_shade": "#bcc4d8",
    "shell_deep": "#9aa3b8",
    "joint": "#5c6478",
    "chest": "#e2e7f4",
    "screen": "#1d2540",
    "screen_light": "#2f3b63",
    "accent": "#f2845c",
    "accent_shade": "#c9603c",
    "lamp": "#ffd166",
    "light": "#7ff0e0",
    "light_glow": "#38b8c4",
    "gleam": "#ffffff",
    "blush": "#ff8f8f",
    "mouth": "#0b1024",
    "teeth": "#e9fffb",
    "tongue": "#f2845c",
    "tongue_line": "#c9603c",
    "lip_upper": "#7ff0e0",
    "lip_lower": "#7ff0e0",
    "lip_line": "#7ff0e0",
    "lip_gleam": "#ffffff",
}
DARK = {
    "backdrop": "#2b3350",
    "backdrop_glow": "#364064",
    "shell": "#e4e5ea",
    "shell_shade": "#aab1c4",
    "shell_deep": "#7c86a0",
    "joint": "#474e61",
    "chest": "#cdd2e0",
    "screen": "#141a30",
    "screen_light": "#25304f",
    "accent": "#e0734c",
    "accent_shade": "#b2532f",
}


def _box(wide: float, top: float, bottom: float, corner: float) -> Outline:
    """A rectangle with round corners about the middle of the face."""
    x, inner = CENTRE + wide, corner * 0.29
    half = (
        *((CENTRE, top), (x - 1.1 * corner, top + 2), (x - inner, top + inner), (x - 2, top + 1.1 * corner)),
        *(
            (x - 2, bottom - 1.1 * corner),
            (x - inner, bottom - inner),
            (x - 1.1 * corner, bottom - 2),
            (CENTRE, bottom),
        ),
    )
    return mirrored(half, roundness=1.25)


def orbit() -> Look:
    sketch = Sketch()
    _body(sketch)
    _head(sketch)
    for side in (-1, 1):
        _eye(sketch, side)
    draw_mouth(sketch, 302, MouthStyle(wide=32, upper=0, lower=0, jaw=0.82, bend=8, line=5.5))
    glare = Outline(((186, 176), (236, 166), (190, 262), (168, 262), (166, 210)), frozenset({1, 2}))
    sketch.fill("glare", glare, "gleam", head(0.5), opacity=0.07, inside="screen")
    return sketch.look("orbit", "Orbit", LIGHT, DARK)


def _body(sketch: Sketch) -> None:
    sketch.fill("backdrop", ellipse(CENTRE, 262, 232, 232), "backdrop", STILL)
    sketch.fill("backdrop_glow", ellipse(CENTRE, 232, 168, 168), "backdrop_glow", STILL, opacity=0.8)
    neck = mirrored(((CENTRE, 350), (288, 350), (288, 440), (CENTRE, 440)), corners=(1, 2))
    sketch.neck("neck", neck, "joint")
    for at, y in enumerate((378, 394, 410)):
        ring = mirrored(((CENTRE, y - 3), (292, y - 3), (292, y + 3), (CENTRE, y + 3)), corners=(1, 2))
        sketch.neck(f"ring{at}", ring, "shell_deep")
    body = mirrored(((CENTRE, 416), (316, 418), (396, 438), (446, 488), (462, 560), (CENTRE, 570)))
    sketch.fill("body", body, "chest", BODY, inside="backdrop")
    shade = Outline(((300, 418), (396, 436), (452, 490), (468, 570), (352, 570), (366, 480)))
    sketch.fill("body_shade", shade, "shell_shade", BODY, opacity=0.7, inside="backdrop")
    sketch.fill(
        "collar",
        mirrored(((CENTRE, 410), (300, 412), (322, 420), (300, 432), (CENTRE, 436))),
        "accent",
        BODY,
        inside="backdrop",
    )
    sketch.fill("badge_rim", ellipse(CENTRE, 470, 15, 15), "shell_deep", BODY, inside="backdrop")
    sketch.fill("badge", ellipse(CENTRE, 470, 10, 10), "light", BODY, inside="backdrop")


def _head(sketch: Sketch) -> None:
    sketch.line("mast", curve((CENTRE, 118), (CENTRE, 64)), "shell_deep", 6, head(-0.1))
    sketch.fill("lamp", ellipse(CENTRE, 56, 15, 15), "lamp", head(-0.15))
    sketch.fill("lamp_light", ellipse(251, 51, 5, 5), "gleam", head(-0.13), opacity=0.8)
    for side in (1, -1):
        ear = Outline(((360, 206), (390, 202), (398, 236), (390, 272), (360, 268)), roundness=0.9)
        sketch.fill(f"ear{side}", ear if side > 0 else flipped(ear), "accent_shade", head(-0.1))
        disc = ellipse(CENTRE + side * 131, 237, 9, 26)
        sketch.fill(f"disc{side}", disc, "accent", head(-0.12))
    shell = _box(126, 104, 372, 92)
    sketch.fill("shell", shell, "shell", head(0.12))
    shade = Outline(((330, 96), (356, 180), (354, 290), (318, 356), (220, 376), (400, 390), (400, 96)))
    sketch.fill("shell_shade", shade, "shell_shade", head(0.1), opacity=0.75, inside="shell")
    cap = mirrored(((CENTRE, 98), (300, 100), (292, 126), (CENTRE, 130)))
    sketch.fill("cap", cap, "accent", head(0.16), inside="shell")
    sketch.fill("frame", _box(104, 148, 350, 70), "shell_deep", head(0.3), opacity=0.55)
    sketch.fill("screen", _box(99, 153, 345, 66), "screen", head(0.32))
    sketch.fill(
        "screen_light",
        ellipse(CENTRE, 190, 120, 58),
        "screen_light",
        head(0.36),
        opacity=0.5,
        inside="screen",
    )
    for side in (1, -1):
        cheek = ellipse(CENTRE + side * 64, 284, 17, 10)
        sketch.fill(
            f"cheek{side}",
            cheek,
            "blush",
            head(0.55),
            opacity=0.5,
            inside="screen",
            moves={"smile": lambda x, y: (0.0, -4.0)},
        )


def _eye(sketch: Sketch, side: int) -> None:
    x, y = CENTRE + side * 45, 232.0
    mount = head(0.6)

    def closing(share: float) -> dict[str, Warp]:
        def blink(px: float, py: float) -> Point:
            return 0.12 * (px - x), -0.86 * (py - y) + 8 * share

        return {
            "blink": blink,
            "look_x": lambda px, py: (11.0 * share, 0.0),
            "look_y": lambda px, py: (0.0, 9.0 * share),
            "smile": lambda px, py: (0.0, -9.0 if py > y + 4 else -2.0),
            "brow": lambda px, py: (0.0, -3.0 if py < y else 0.0),
        }

    glow = ellipse(x, y, 30, 37)
    sketch.fill(f"glow{side}", glow, "light_glow", mount, opacity=0.28, inside="screen", moves=closing(1.0))
    sketch.fill(f"eye{side}", ellipse(x, y, 23, 30), "light", mount, moves=closing(1.0))
    pupil = ellipse(x + 2, y + 2, 10.5, 14)
    sketch.fill(f"pupil{side}", pupil, "screen", mount, inside=f"eye{side}", moves=closing(1.45))
    gleam = ellipse(x + 7, y - 11, 5.5, 6.5)
    sketch.fill(f"gleam{side}", gleam, "gleam", mount, inside=f"eye{side}", moves=closing(1.15))
    brow = curve((x - 20, 184 - 2 * side), (x, 178), (x + 20, 184 + 2 * side))
    moves = {"brow": lambda px, py: (0.0, -9.0), "smile": lambda px, py: (0.0, -2.0)}
    sketch.line(f"brow{side}", brow, "light", 5, head(0.6), opacity=0.85, moves=moves)
