"""How far a download is, on a terminal and elsewhere."""

from __future__ import annotations

import io

from duologue.cli.progress import Bar, Lines, watch_on


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_everything_else_lines() -> None:
    assert isinstance(watch_on(Terminal()), Bar)
    assert isinstance(watch_on(io.StringIO()), Lines)


def test_lines_come_for_every_tenth() -> None:
    stream = io.StringIO()
    watch = Lines(stream)
    watch.begin("a.gguf", 1000 * 10**6, 0)
    for _ in range(100):
        watch.advance(10 * 10**6)
    watch.end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "a.gguf: 1.0 GB"
    assert lines[1:] == [f"a.gguf: {tenth * 10} % of 1.0 GB" for tenth in range(1, 11)]


def test_a_download_that_goes_on_begins_where_it_was() -> None:
    stream = io.StringIO()
    watch = Lines(stream)
    watch.begin("a.gguf", 0, 0)
    watch.advance(500)
    watch.begin("a.gguf", 1000, 500)
    watch.advance(100)
    assert stream.getvalue().splitlines() == ["a.gguf: 0.0 MB", "a.gguf: 60 % of 0.0 MB"]


def test_beginning_anew_is_said_once() -> None:
    stream = io.StringIO()
    watch = Lines(stream)
    watch.begin("a.gguf", 1000, 0)
    watch.advance(350)
    watch.advance(-350)
    watch.advance(50)
    assert stream.getvalue().splitlines()[1:] == [
        "a.gguf: 30 % of 0.0 MB",
        "a.gguf: restarted from the beginning",
    ]


def test_the_bar_shows_label_and_end_and_is_gone_when_told() -> None:
    stream = Terminal()
    watch = Bar(stream)
    watch.begin("[red]a.gguf", 0, 0)
    watch.begin("[red]a.gguf", 1000, 0)
    watch.advance(1000)
    watch.say("Trying again in 1 s.")
    watch.end()
    watch.end()
    assert "[red]a.gguf" in stream.getvalue(), "a label is text, not markup"
    assert "1.0/1.0 kB" in stream.getvalue()
    assert "Trying again in 1 s." in stream.getvalue()


def test_without_a_bar_a_line_is_just_written() -> None:
    stream = Terminal()
    Bar(stream).say("Hello.")
    assert stream.getvalue() == "Hello.\n"
