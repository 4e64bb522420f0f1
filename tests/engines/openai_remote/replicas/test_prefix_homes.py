from duologue.engines.openai_remote.replicas.prefix_homes import PrefixHomes


def chain(*words: str) -> tuple[bytes, ...]:
    return tuple("".join(words[: end + 1]).encode() for end in range(len(words)))


def test_the_next_turn_of_a_conversation_is_at_home_where_the_last_one_was() -> None:
    homes = PrefixHomes()
    homes.remember(chain("system", "hello"), "a")
    assert homes.find(chain("system", "hello", "reply", "more")) == "a"
    assert homes.find(chain("other")) == ""
    assert homes.find(()) == ""


def test_the_longest_prefix_wins() -> None:
    homes = PrefixHomes()
    homes.remember(chain("system", "hello"), "a")
    homes.remember(chain("system", "hello", "reply", "more"), "b")
    assert homes.find(chain("system", "hello", "reply", "more", "reply", "again")) == "b"


def test_an_edited_message_is_known_by_what_precedes_it() -> None:
    homes = PrefixHomes()
    homes.remember(chain("s", "1", "2", "3", "4", "5"), "a")
    assert homes.find(chain("s", "1", "2", "3", "4", "other")) == "a"


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    homes = PrefixHomes(most=2)
    homes.remember((b"1",), "a")
    homes.remember((b"2",), "a")
    homes.remember((b"1",), "a")
    homes.remember((b"3",), "b")
    assert (homes.find((b"1",)), homes.find((b"2",)), homes.find((b"3",)), len(homes)) == ("a", "", "b", 2)
