"""The arithmetic of the benchmark of web pages."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import bench_html

PAGE = "<title>No</title><nav>Menu here</nav><!--main--><h1>One</h1><p>two &amp; three</p><!--/main--><p>two more"


def test_words_are_told_apart_by_the_marks():
    main, around = bench_html.parts(PAGE)
    assert sorted(main) == ["one", "three", "two"]
    assert sorted(around) == ["here", "menu", "more", "two"]


def test_a_word_counts_as_often_as_it_stands_there():
    assert bench_html.shares(PAGE, "# One\n\ntwo three") == (1, 0)
    assert bench_html.shares(PAGE, "one two two") == pytest.approx((2 / 3, 0.25))
    assert bench_html.shares(PAGE, "[one](https://x.example/menu) [Image: menu]") == pytest.approx((1 / 3, 0))


def test_every_page_has_a_main_part_and_something_around_it():
    for path in bench_html.PAGES.glob("*.html"):
        main, around = bench_html.parts(path.read_text(encoding="utf-8"))
        assert main.total() > 30, path.name
        assert around.total() > 5, path.name
