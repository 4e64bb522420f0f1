"""What of a page is kept, and what is not. bench/bench_html.py tries whole pages."""

import pytest

from duologue.tools.builtin.html_to_markdown import page_text
from duologue.tools.builtin.html_tree import html_tree
from duologue.tools.builtin.main_content import main_content

LINE = "This is a line of running text, long enough for a sentence and then some. "
MENU = "<ul><li><a href=/1>Home</a><li><a href=/2>News</a><li><a href=/3>Sport and weather</a></ul>"


def text(body: str) -> str:
    return page_text(f"<body>{body}")[1]


def test_what_stands_around_the_main_part_goes():
    body = (
        f"<header>{MENU}</header><div id=a><h1>Title</h1><p>{LINE * 5}</div><div>{MENU}<p>Another site.</div>"
    )
    assert text(body) == f"# Title\n\n{(LINE * 5).strip()}"


def test_the_title_above_the_main_part_stays():
    assert text(f"<div><h1>Title</h1>{MENU}</div><main><p>{LINE * 5}</main>").startswith(
        "# Title\n\nThis is a line"
    )


def test_a_lead_above_the_main_part_stays():
    assert text(f"<div class=lead><p>First. {LINE * 2}</div><div class=text><p>{LINE * 20}</div>").startswith(
        "First."
    )


def test_sections_of_one_kind_stay_together():
    section = f"<section class=s><h2>Part</h2><p>{LINE}</section>"
    long = f"<section class=s><h2>Long</h2><p>{LINE * 30}</section>"
    assert text(f"<main>{section}{long}{section}{section}</main>").count("## Part") == 3


@pytest.mark.parametrize(
    "menu",
    [
        "<nav>{}</nav>",
        "<div role=navigation>{}</div>",
        "<div class='site-footer dark'>{}</div>",
        "<div id=cookieConsent>{}</div>",
        "<div hidden>{}</div>",
        "<div style='display: none'>{}</div>",
        "<div aria-hidden=true>{}</div>",
        "<footer>{}</footer>",
    ],
)
def test_what_pages_call_furniture_goes(menu):
    assert text(menu.format("<p>We use cookies.") + f"<p>{LINE}") == LINE.strip()


@pytest.mark.parametrize(
    "name",
    ["sharing-with-a-single-developer", "post-related-content", "CtxtMenu_Attached_0", "social-story"],
)
def test_a_name_that_only_sounds_like_furniture_keeps_its_text(name):
    assert "Kept." in text(f"<div><div id={name}><p>Kept. {LINE}</div><p>{LINE}<p>{LINE}</div>")


def test_the_cell_that_holds_the_page_is_read_without_the_cells_around_it():
    page = f"<table><tr><td>{MENU}<td><h2>Title</h2><p>{LINE * 3}<tr><td colspan=2>Made in 1999</table>"
    assert text(page).startswith("## Title\n\nThis is")
    assert "Home" not in text(page)


def test_a_long_cell_of_data_does_not_stand_alone():
    assert "| Price | 34 EUR |" in text(f"<table><tr><td>About<td>{LINE * 9}<tr><td>Price<td>34 EUR</table>")


def test_most_of_a_page_is_content_whatever_it_is_called():
    assert text(f"<div class=sidebar><p>{LINE * 5}</div>").startswith("This is a line")


def test_a_footer_or_an_aside_inside_an_article_is_part_of_it():
    article = (
        f"<article><p>{LINE * 3}</p><aside><p>A quotation.</aside><footer>By somebody</footer></article>"
    )
    assert text(article).endswith("A quotation.\n\nBy somebody")


def test_comments_go_where_there_is_a_text_and_stay_where_they_are_all_there_is():
    comments = f"<div class=comments><p>Comment. {LINE * 20}</div>"
    assert "Comment." not in text(f"<div><p>{LINE * 6}</div>{comments}")
    assert "Comment." in text(f"<div><p>A question?</div>{comments}")


def test_a_list_of_links_in_a_text_goes_and_a_page_of_links_stays():
    assert "Sport" not in text(f"<div><p>{LINE * 3}{MENU}<p>{LINE * 3}</div>")
    assert "Sport" in text(MENU)
    assert "Sport" in text(f"<h1>All pages</h1><p>{LINE}{MENU * 5}")
    assert "Sport" in text(f"<main><p>{LINE * 3}{MENU}<p>{LINE * 3}</main>")


def test_a_question_that_unfolds_its_answer_is_kept_and_other_buttons_are_not():
    assert (
        text(f"<h2><button>Why?</button></h2><button>Share</button><p>{LINE}") == f"## Why?\n\n{LINE.strip()}"
    )


def test_a_page_without_text_is_empty():
    assert main_content(html_tree("<p></p>")[1]).text == 0
