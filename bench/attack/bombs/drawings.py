"""SVG drawings written to hurt: small files that take a renderer for ever, all memory, or its stack.

Each function gives the bytes of one file; `DRAWINGS` names them. What they have in common: a few elements that refer to each
other, so that what is drawn grows as a power of what is written.
"""

from __future__ import annotations

from collections.abc import Callable

NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
DEPTH = 25


def svg(inside: str, side: int = 2000) -> bytes:
    return f'<svg {NAMES} width="{side}" height="{side}">{inside}</svg>'.encode()


def nested(open_tag: str, close_tag: str, count: int, inside: str = "") -> bytes:
    return svg(open_tag * count + (inside or '<rect width="2000" height="2000"/>') + close_tag * count)


def opacity() -> bytes:
    """400 groups, each a layer of its own: the renderer recurses until its stack ends."""
    return nested('<g opacity="0.9">', "</g>", 400)


def opacity_deep() -> bytes:
    return nested('<g opacity="0.99">', "</g>", 5000)


def isolated() -> bytes:
    return nested('<g style="isolation:isolate;mix-blend-mode:multiply">', "</g>", 600)


def groups_deep() -> bytes:
    return nested("<g>", "</g>", 100_000)


def nested_svg() -> bytes:
    return nested('<svg width="100%" height="100%">', "</svg>", 1500)


def switches() -> bytes:
    return nested("<switch>", "</switch>", 3000)


def texts() -> bytes:
    return svg("<text>" + "<tspan>" * 2000 + "x" + "</tspan>" * 2000 + "</text>")


def patterns() -> bytes:
    """Each pattern is filled with the next one, twice."""
    rects = '<rect width="{0}" height="{0}" fill="url(#p{1})"/>'
    body = "".join(
        f'<pattern id="p{i}" width="1" height="1">{rects.format(1, i + 1)}{rects.format(0.9, i + 1)}</pattern>'
        for i in range(DEPTH)
    )
    return svg(f"<defs>{body}</defs>" + rects.format(2000, 0))


def patterns_tiny() -> bytes:
    """One pattern of a thousandth of a pixel over a large area."""
    return svg(
        '<defs><pattern id="p" width=".001" height=".001" patternUnits="userSpaceOnUse">'
        '<rect width=".0005" height=".0005"/></pattern></defs><rect width="2000" height="2000" fill="url(#p)"/>'
    )


def clip_paths() -> bytes:
    body = "".join(
        f'<clipPath id="c{i}"><g clip-path="url(#c{i + 1})"><rect width="9" height="9"/></g>'
        f'<rect clip-path="url(#c{i + 1})" width="9" height="9"/>'
        f'<rect clip-path="url(#c{i + 1})" width="8" height="9"/></clipPath>'
        for i in range(DEPTH)
    )
    return svg(f'<defs>{body}</defs><rect clip-path="url(#c0)" width="2000" height="2000"/>')


def masks() -> bytes:
    body = "".join(
        f'<mask id="m{i}"><rect mask="url(#m{i + 1})" width="2000" height="2000" fill="white"/>'
        f'<rect mask="url(#m{i + 1})" width="1999" height="2000" fill="white"/></mask>'
        for i in range(DEPTH)
    )
    return svg(f'<defs>{body}</defs><rect mask="url(#m0)" width="2000" height="2000"/>')


def masked_rects() -> bytes:
    """1,000 rectangles, each with a layer and a mask of the whole picture."""
    mask = '<defs><mask id="m"><rect width="2000" height="2000" fill="white"/></mask></defs>'
    return svg(mask + '<rect mask="url(#m)" width="2000" height="2000"/>' * 1000)


def markers() -> bytes:
    path = (
        '<path d="M0 0L1 1L2 0L3 1" marker-mid="url(#k{})" marker-start="url(#k{})" marker-end="url(#k{})"/>'
    )
    body = "".join(
        f'<marker id="k{i}" markerWidth="9" markerHeight="9">{path.format(i + 1, i + 1, i + 1)}</marker>'
        for i in range(20)
    )
    return svg(f"<defs>{body}</defs>" + path.format(0, 0, 0))


def dashes() -> bytes:
    """300 lines, each of a million dashes."""
    return svg('<path d="M0 0L2000 2000" stroke="red" stroke-width="3" stroke-dasharray=".002"/>' * 300)


def dashes_in_style() -> bytes:
    lines = '<path class="d" d="M0 0 H 1e6"/>' * 200
    return svg("<style>.d{stroke:red;stroke-dasharray:.001,.001}</style>" + lines)


def uses() -> bytes:
    body = "".join(f'<g id="u{i}">' + f'<use xlink:href="#u{i + 1}"/>' * 10 + "</g>" for i in range(12))
    return svg(f'<defs>{body}<g id="u12"><rect width="1" height="1"/></g></defs><use xlink:href="#u0"/>')


def blur_by_comment() -> bytes:
    """A filter where a check for the word `filter:` does not see it."""
    return svg('<g style="filter/**/:blur(400px)"><rect width="2000" height="2000"/></g>' * 60)


def blur_by_entity() -> bytes:
    return svg('<g style="fil&#116;er: blur(400px)"><rect width="2000" height="2000"/></g>' * 60)


def blur_by_escape() -> bytes:
    return svg("<style>g{fil\\74 er:blur(400px)}</style>" + '<g><rect width="2000" height="2000"/></g>' * 60)


def filter_attribute() -> bytes:
    body = '<filter id="f"><feGaussianBlur stdDeviation="900"/><feMorphology radius="900"/></filter>'
    return svg(f"<defs>{body}</defs>" + '<rect filter="url(#f)" width="2000" height="2000"/>' * 60)


def turbulence() -> bytes:
    body = '<filter id="f"><feTurbulence baseFrequency=".9" numOctaves="2000000000"/></filter>'
    return svg(f'<defs>{body}</defs><rect filter="url(#f)" width="2000" height="2000"/>')


def inner(data: bytes) -> str:
    import base64

    return "data:image/svg+xml;base64," + base64.b64encode(data).decode()


def in_data() -> bytes:
    """A drawing inside a drawing, where the outer one is checked."""
    return svg(f'<image width="2000" height="2000" xlink:href="{inner(filter_attribute())}"/>')


def in_data_opacity() -> bytes:
    return svg(f'<image width="2000" height="2000" xlink:href="{inner(opacity())}"/>')


def in_data_twice() -> bytes:
    data = patterns()
    for _ in range(3):
        data = svg(f'<image width="2000" height="2000" xlink:href="{inner(data)}"/>' * 2)
    return data


def in_data_local_file() -> bytes:
    return svg(
        '<image width="9" height="9" xlink:href="file:///etc/passwd"/><image href="/dev/zero" width="9" height="9"/>'
    )


def entities() -> bytes:
    """Entities that grow by ten each: a thousand million."""
    declared = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
    )
    return f"<!DOCTYPE svg [{declared}]><svg {NAMES}><text>&j;</text></svg>".encode()


def external_entity() -> bytes:
    return f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg {NAMES}><text>&x;</text></svg>'.encode()


def huge_sides() -> bytes:
    return f'<svg {NAMES} width="1e30" height="1e30" viewBox="0 0 1e-30 1e30"><rect width="9" height="9"/></svg>'.encode()


def flat() -> bytes:
    return f'<svg {NAMES} width="99999999" height="0.0000001"><rect width="9" height="9"/></svg>'.encode()


def path_points() -> bytes:
    """One path of 300,000 points that crosses itself everywhere."""
    points = "".join(f"L{(i * 7919) % 2000} {(i * 104729) % 2000}" for i in range(300_000))
    return svg(f'<path fill-rule="evenodd" stroke="red" stroke-width="40" d="M0 0{points}Z"/>')


def gradient_stops() -> bytes:
    stops = "".join(f'<stop offset="{i / 50_000}" stop-color="red"/>' for i in range(50_000))
    return svg(
        f'<linearGradient id="g">{stops}</linearGradient>'
        + '<rect width="2000" height="2000" fill="url(#g)"/>' * 20
    )


def attributes() -> bytes:
    return svg("<rect " + " ".join(f'a{i}="1"' for i in range(100_000)) + "/>")


def style_rules() -> bytes:
    """As many rules as elements: every element is tried against every rule."""
    rules = "".join(f"g g g .c{i}{{fill:red}}" for i in range(20_000))
    return svg(
        f"<style>{rules}</style>" + '<g><g><g><rect class="c1" width="1" height="1"/></g></g></g>' * 2000
    )


DRAWINGS: dict[str, Callable[[], bytes]] = {
    function.__name__.replace("_", " "): function
    for function in (
        opacity, opacity_deep, isolated, groups_deep, nested_svg, switches, texts, patterns, patterns_tiny,
        clip_paths, masks, masked_rects, markers, dashes, dashes_in_style, uses, blur_by_comment,
        blur_by_entity, blur_by_escape, filter_attribute, turbulence, in_data, in_data_opacity, in_data_twice,
        in_data_local_file, entities, external_entity, huge_sides, flat, path_points, gradient_stops, attributes,
        style_rules,
    )
}  # fmt: skip
