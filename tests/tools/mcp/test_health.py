from duologue.tools.mcp.health import LINE, LINES, Journal


def journal(*secrets):
    return Journal(secrets, lambda: 7)


def texts(log):
    return [line.text for line in log.lines()]


def test_lines_are_kept_with_their_time_and_source():
    log = journal()
    log.add("one\n\ntwo", "stderr")
    assert [(line.at, line.source, line.text) for line in log.lines()] == [
        (7, "stderr", "one"),
        (7, "stderr", "two"),
    ]


def test_no_more_than_the_last_lines_are_kept():
    log = journal()
    for number in range(LINES + 10):
        log.add(str(number))
    assert texts(log)[0] == "10"
    assert len(log.lines()) == LINES


def test_a_line_without_end_is_cut():
    log = journal()
    log.add("x" * 10 * LINE)
    assert len(texts(log)[0]) == LINE


def test_secrets_are_struck_out_the_longest_first():
    log = journal("secret-key", "secret-key-longer")
    log.add("with secret-key-longer and secret-key")
    assert texts(log) == ["with *** and ***"]


def test_what_looks_like_a_secret_is_struck_out_too():
    log = journal()
    log.add("Authorization: Bearer abcdef123456 for https://ann:pass@host/x")
    assert texts(log) == ["Authorization: Bearer *** for https://***@host/x"]


def test_a_short_word_of_the_environment_leaves_the_log_readable():
    log = journal("on", "1", "")
    log.add("listening on port 1001")
    assert texts(log) == ["listening on port 1001"]


def test_colours_and_control_characters_go():
    log = journal()
    log.add("\x1b[31mred\x1b[0m\x07")
    assert texts(log) == ["red"]
