from duologue.gateway.scheduling.queueing.ranking import Ranking


def test_the_lowest_rank_is_first_whatever_it_was_before():
    ranking: Ranking[str, float] = Ranking()
    ranking.put("a", 1.0)
    ranking.put("b", 2.0)
    assert ranking.first() == (1.0, "a")
    ranking.put("a", 3.0)
    assert ranking.first() == (2.0, "b")
    ranking.discard("b")
    assert ranking.first() == (3.0, "a")
    ranking.put("b", 3.0)
    ranking.put("a", 3.0)
    assert ranking.first() == (3.0, "a"), "the lower key of two that are equal"
    assert len(ranking) == 2


def test_what_has_changed_a_thousand_times_takes_no_more_room():
    ranking: Ranking[int, float] = Ranking()
    for number in range(1000):
        ranking.put(1, float(number))
        ranking.put(2, float(-number))
    assert len(ranking._heap) < 30
    assert ranking.first() == (-999.0, 2)
