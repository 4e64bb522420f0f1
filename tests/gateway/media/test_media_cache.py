"""What was made of media is kept within bounds."""

from duologue.gateway.media.media_cache import MediaCache


def test_an_entry_is_found_by_its_key():
    cache = MediaCache()
    cache.put(b"a", "made", 4)
    assert cache.get(b"a", str) == "made"
    assert cache.get(b"b", str) is None


def test_what_was_not_used_for_longest_goes_first():
    cache = MediaCache(most_bytes=100)
    for key in (b"a", b"b"):
        cache.put(key, key, 40)
    cache.get(b"a", bytes)
    cache.put(b"c", b"c", 40)
    assert (cache.get(b"a", bytes), cache.get(b"b", bytes), cache.get(b"c", bytes)) == (b"a", None, b"c")
    assert cache.size == 80


def test_one_entry_does_not_push_out_all_others():
    cache = MediaCache(most_bytes=100)
    cache.put(b"a", b"a", 40)
    cache.put(b"b", b"b", 51)
    assert cache.get(b"b", bytes) is None
    assert cache.get(b"a", bytes) == b"a"


def test_an_entry_that_is_forgotten_leaves_its_room():
    cache = MediaCache(100)
    cache.put(b"a", "x", 40)
    cache.discard(b"a")
    cache.discard(b"b")
    assert (cache.get(b"a", str), cache.size) == (None, 0)


def test_entries_are_counted_too():
    cache = MediaCache(most_entries=2)
    for key in (b"a", b"b", b"c"):
        cache.put(key, key, 1)
    assert cache.get(b"a", bytes) is None
    assert cache.size == 2
