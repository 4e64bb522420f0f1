from hypothesis import given
from hypothesis import strategies as st

from duologue.tools.builtin.html_to_markdown import page_text


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


@given(st.text("<>/=\"' abhpliduotrscky&;#!-\n", max_size=200))
def test_no_page_breaks_it(html):
    title, words = page_text(html, "https://x.example")
    assert "\0" not in title + words
