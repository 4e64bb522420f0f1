"""HTML as a tree, and the limits that a hostile page meets."""

from duologue.tools.builtin import html_tree as module
from duologue.tools.builtin.html_tree import DEEPEST, Element, html_tree


def tags(root: Element) -> list[str]:
    return [each.tag for each in root.elements()]


def words(root: Element) -> str:
    pieces = [child for each in (root, *root.elements()) for child in each.children if isinstance(child, str)]
    return "".join(pieces)


def test_elements_come_in_the_order_of_the_page():
    _, root = html_tree("<p>a<b>b</b><i>c</i><p>d")
    assert tags(root) == ["html", "body", "p", "b", "i", "p"]


def test_scripts_and_comments_are_not_kept():
    _, root = html_tree(
        "<script>if (a</b>c) <p></script><style>p{}</style><!-- <p> --><svg><title>x</title></svg>a"
    )
    assert (tags(root), words(root)) == (["html", "head", "body"], "a")


def test_the_title_is_the_first_one():
    assert html_tree("<title> A &amp;\n B </title><body><title>C</title>")[0] == "A & B"


def test_characters_are_counted_all_and_in_links():
    _, root = html_tree("<p> one  two <a href=/><b>three</b></a></p>")
    paragraph = next(each for each in root.elements() if each.tag == "p")
    assert (paragraph.text, paragraph.linked, root.text) == (12, 5, 12)


def test_an_element_that_holds_a_block_is_one():
    _, root = html_tree("<a><div>x</div></a><x-app><p>y</x-app><span>z</span>")
    assert {each.tag: each.block for each in root.elements() if each.tag in ("a", "x-app", "span")} == {
        "a": True,
        "x-app": True,
        "span": False,
    }


def test_attributes_nobody_asks_for_are_not_kept():
    _, root = html_tree("<p hidden onclick=x class=c data-x=1>")
    assert next(each for each in root.elements() if each.tag == "p").attributes == {
        "hidden": "",
        "class": "c",
    }


def test_what_a_page_says_of_its_encoding_counts_no_more():
    assert words(html_tree('<meta charset="utf-16"><p>ü€𝄞')[1]) == "ü€𝄞"


def test_text_does_not_depend_on_where_it_is_cut(monkeypatch):
    html = "<p>é&amp;é<b title='x>y'>z</b><script>a</script>" * 20
    whole = words(html_tree(html)[1])
    monkeypatch.setattr(module, "PIECE", 1)
    assert words(html_tree(html)[1]) == whole == "é&éz" * 20


def test_text_below_the_deepest_element_belongs_to_it():
    _, root = html_tree("<div>" * (DEEPEST + 50) + "deep" + "</div>" * (DEEPEST + 50) + "<p>last")
    assert len(tags(root)) == DEEPEST + 1
    assert words(root) == "deeplast"


def test_a_page_of_too_many_elements_is_cut_off(monkeypatch):
    monkeypatch.setattr(module, "MOST", 100)
    monkeypatch.setattr(module, "PIECE", 64)
    _, root = html_tree("<p>x" * 10_000)
    assert len(tags(root)) == 100
    assert len(words(root)) < 200


def test_a_page_that_would_take_the_parser_minutes_is_cut_off(monkeypatch):
    monkeypatch.setattr(module, "WORK", 10_000_000)
    _, root = html_tree("<div>" * 20_000 + "</x>" * 200_000 + "<p>end")
    assert "end" not in words(root)


def test_an_empty_page_is_an_empty_tree():
    for html in ("", "  ", "<!-- -->", "\ud800"):
        title, root = html_tree(html)
        assert title == ""
        assert words(root).strip("? ") == ""
