from duologue.tools.mcp.backoff import delay


def test_each_failure_doubles_the_wait_up_to_half_a_minute():
    assert [delay(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


def test_ten_thousand_failures_wait_no_longer():
    assert delay(10_000) == 30
