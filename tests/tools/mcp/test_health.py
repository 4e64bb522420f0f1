from duologue.tools.mcp.health import LINE, LINES, Journal


def journal(*secrets):
    return Journal(secrets, lambda: 7)


def texts(kept):
    return [line.text for line in kept.lines()]


def test_lines_are_kept_with_their_time_and_source():
    kept = journal()
    kept.add("one\n\ntwo", "stderr")
    assert [(line.at, line.source, line.text) for line in kept.lines()] == [
        (7, "stderr", "one"),
        (7, "stderr", "two"),
    ]


def test_no_more_than_the_last_lines_are_kept():
    kept = journal()
    for number in range(LINES + 10):
        kept.add(str(number))
    assert texts(kept)[0] == "10"
    assert len(kept.lines()) == LINES


def test_a_line_without_end_is_cut():
    kept = journal()
    kept.add("x" * 10 * LINE)
    assert len(texts(kept)[0]) == LINE


def test_secrets_are_struck_out_the_longest_first():
    kept = journal("secret-key", "secret-key-longer")
    kept.add("with secret-key-longer and secret-key")
    assert texts(kept) == ["with *** and ***"]


def test_what_looks_like_a_secret_is_struck_out_too():
    kept = journal()
    kept.add("Authorization: Bearer abcdef123456 for https://ann:pass@host/x")
    assert texts(kept) == ["Authorization: Bearer *** for https://***@host/x"]


def test_a_short_word_of_the_environment_leaves_the_log_readable():
    kept = journal("on", "1", "")
    kept.add("listening on port 1001")
    assert texts(kept) == ["listening on port 1001"]


def test_colours_and_control_characters_go():
    kept = journal()
    kept.add("\x1b[31mred\x1b[0m\x07")
    assert texts(kept) == ["red"]
