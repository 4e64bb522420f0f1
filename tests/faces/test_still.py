"""A look at rest as an SVG drawing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from duologue.faces.catalogue import LookCatalogue
from duologue.faces.look import Look, Shape
from duologue.faces.still import still

NAMES = {"": "http://www.w3.org/2000/svg"}


def test_shapes_are_painted_in_order_with_the_colours_of_the_theme() -> None:
    look = Look(
        "ada",
        "Ada",
        {"light": {"skin": "#ffccaa"}, "dark": {"skin": "#553322"}},
        (
            Shape("head", ("M", "L", "C", "Z"), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), fill="skin"),
            Shape("lash", ("M", "L"), (0, 0, 9, 9), stroke="skin", width=2, opacity=0.5, inside="head"),
            Shape("teeth", ("M",), (0, 0), fill="skin", shade="open"),
        ),
    )
    drawing = ElementTree.fromstring(still(look, "dark"))
    clip, head, lash = list(drawing)
    assert clip.get("id") == "head"
    assert (head.get("d"), head.get("fill")) == ("M1 2 L3 4 C5 6 7 8 9 10 Z", "#553322")
    assert (lash.get("stroke"), lash.get("clip-path"), lash.get("opacity")) == (
        "#553322",
        "url(#head)",
        "0.5",
    )


@pytest.mark.parametrize("name", list(LookCatalogue()))
def test_every_look_is_a_drawing(name: str) -> None:
    for theme in ("light", "dark"):
        drawing = ElementTree.fromstring(still(LookCatalogue()[name], theme))
        assert len(drawing) > 10
