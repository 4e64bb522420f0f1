import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.tools.builtin.html_to_markdown import page_text

SENTENCE = "A sentence that is long enough to be taken for a part of the running text of this page."


def text(html, address="https://x.example/a/"):
    return page_text(html, address)[1]


def test_the_title_is_not_part_of_the_text():
    assert page_text("<title>A &amp; B</title><p>Hello</p>") == ("A & B", "Hello")


def test_headings_paragraphs_and_breaks():
    assert text("<h2>One</h2><p>two  \n three</p><p>four<br>five</p>") == "## One\n\ntwo three\n\nfour\nfive"


def test_scripts_styles_and_furniture_are_gone():
    html = "<nav>Menu</nav><script>if (a < b) {}</script><style>p{}</style><p>Text</p><div hidden>no</div><svg><text>x</text></svg>"
    assert text(html) == "Text"


def test_links_are_whole_addresses():
    assert text('<a href="../b">there</a>') == "[there](https://x.example/b)"
    assert text('<a href="javascript:alert(1)">no</a>') == "no"
    assert text('<a href="#top">up</a>') == "up"


def test_lists_keep_their_order_and_depth():
    html = "<ol><li>one</li><li>two<ul><li>deep</li></ul></li></ol>"
    assert text(html) == "1. one\n2. two\n  - deep"


def test_code_keeps_its_lines():
    assert text("<p>See</p><pre><code>a\n  b</code></pre>") == "See\n\n```\na\n  b\n```"
    assert text("use <code>x</code> now") == "use `x` now"


def test_tables_are_tables():
    html = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2|3</td></tr></table>"
    assert text(html) == "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |"


def test_a_page_that_never_closes_anything_is_read_all_the_same():
    assert text("<div><p>one<p>two<ul><li>three") == "one\n\ntwo\n\n- three"


def test_a_body_inside_a_form_is_read():
    html = "<body><form action=/><h1>Title</h1><p>Body</p><input value=x><select><option>a</select></form>"
    assert text(html) == "# Title\n\nBody"


def test_a_head_that_is_never_closed_does_not_swallow_the_body():
    assert page_text("<html><head><title>T</title><meta charset=utf-8><p>Body") == ("T", "Body")


@pytest.mark.parametrize(
    "menu", ["nav", "nav class=menu", "aside", "footer", 'div class="sidebar"', "dialog"]
)
def test_a_menu_that_is_never_closed_does_not_swallow_the_page(menu):
    html = f"<body><{menu}><ul><li><a href=/>Home</a></ul><main><h1>Title</h1><p>{SENTENCE}</main>"
    assert text(html) == f"# Title\n\n{SENTENCE}"
    assert SENTENCE in text(f"<body><{menu}><a href=/>Home</a><h1>Title</h1><p>{SENTENCE}")


def test_cells_that_are_never_closed_stay_apart():
    html = "<table><tr><td>a<td>b<tr><td>c<th>d</table><p>e"
    assert text(html) == "| a | b |\n| --- | --- |\n| c | d |\n\ne"


def test_nothing_in_a_broken_table_is_lost():
    html = "<table>lost<caption>Title</caption><tr><form><td>a<td>b</form></tr><tr>c<td>d</table>"
    assert text(html) == "lost\n\nTitle\n\n| a | b |\n| --- | --- |\n| c | d |"


def test_a_table_that_arranges_the_page_is_not_written_as_a_table():
    html = (
        "<table><tr><td><h1>Title</h1><p>one</td><td>two</td></tr></table><table><tr><td>x<tr><td>y</table>"
    )
    assert text(html) == "# Title\n\none\n\ntwo\n\nx\n\ny"


def test_quotations_are_marked_on_every_line():
    html = "<p>He said:</p><blockquote><p>one<p>two<br>three<blockquote>four</blockquote></blockquote><p>five"
    assert text(html) == "He said:\n\n> one\n>\n> two\n> three\n>\n> > four\n\nfive"


def test_paragraphs_in_a_list_begin_on_its_line():
    assert text("<ul><li><p>one</p></li><li><h3>two</h3>three</li></ul>") == "- one\n- ### two\n\nthree"


def test_code_with_fences_in_it_stays_one_block():
    assert text("<pre>\n```\nx\n\n\ny  z\n```\n</pre>") == "````\n```\nx\n\n\ny  z\n```\n````"
    assert text("a<code> `b` </code>c") == "a `` `b` `` c"


def test_a_link_around_a_heading_is_a_heading():
    html = "<a href=/x><h3>Title</h3><p>and more</p></a>"
    assert text(html) == "### [Title and more](https://x.example/x)"


def test_blanks_inside_a_link_do_not_vanish():
    assert text("see<a href=/x> this </a>now") == "see [this](https://x.example/x) now"


def test_what_is_deep_or_long_is_read_as_far_as_it_may_be():
    deep = "<div>" * 3000 + "deep" + "</div>" * 3000
    assert text(f"<p>first</p>{deep}<p>last") == "first\n\ndeep\n\nlast"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "</x>" * 100_000,
        "".join(f"<p><b id={n}>" for n in range(20_000)),
        "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">",
        "<table><tr><td>x" * 20_000,
        "<ul><li>" * 20_000,
        "<blockquote><a href=x>" * 20_000,
        "<" * 100_000,
        "<!--" * 100_000,
        "&#x" * 100_000,
        "<a '" * 100_000,
    ],
)
def test_a_hostile_page_costs_little(html):
    # No time is measured: each of these took minutes or gigabytes with some parser that was tried.
    title, words = page_text(html + "<p>end", "https://x.example")
    assert "\0" not in title + words


@given(st.text("<>/=\"' abhpliduotrscky&;#!-\n", max_size=200))
def test_no_page_breaks_it(html):
    title, words = page_text(html, "https://x.example")
    assert "\0" not in title + words
