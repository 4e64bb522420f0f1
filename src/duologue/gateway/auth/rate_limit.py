"""The rate limit on wrong keys, by client address and by the beginning of the key. `guessing` asks it after a wrong key.

Pure: time is an argument, in seconds of any origin. A right key is never counted, and never slowed by the wrong ones of others:
many people share an address behind one router. The same wrong key again is no further guess: a program with an old key, or a
browser with an ended login, asks for ever.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from typing import NamedTuple

from duologue.gateway.middleware.address_group import address_group

GUESSES = 10
SECONDS_PER_GUESS = 6.0
"""An address may be wrong so often at once, then once in so many seconds."""
PREFIX_GUESSES = 30
SECONDS_PER_PREFIX_GUESS = 2.0
"""The same for one key that is guessed from many addresses."""
PREFIX = 10
"""Characters of a key that lists of keys show, so that others may know them."""
REMEMBERED = 10_000
"""Addresses, and as many beginnings of keys, that are remembered; the least recently active is dropped first."""
RECENT = 8
"""Wrong keys of an address that are recognised when they come again."""


class TokenBucket:
    """A token bucket: `burst` attempts at once, then one every `seconds`."""

    def __init__(self, burst: int, seconds: float, now: float) -> None:
        self._burst = burst
        self._seconds = seconds
        self._level = float(burst)
        self._at = now

    def take(self, now: float) -> float:
        """Take an attempt: 0 if one was available, else the seconds until one is."""
        self._level = min(self._burst, self._level + (now - self._at) / self._seconds)
        self._at = now
        if self._level < 1:
            return (1 - self._level) * self._seconds
        self._level -= 1
        return 0.0


class _Guesser:
    """The guesses that share an address, or the beginning of a key."""

    def __init__(self, burst: int, seconds: float, now: float) -> None:
        self.bucket = TokenBucket(burst, seconds, now)
        self.recent: deque[bytes] = deque(maxlen=RECENT)


class GuessTable:
    """A bucket for each source of guesses: at most `limit` of them."""

    def __init__(self, burst: int, seconds: float, limit: int = REMEMBERED) -> None:
        self._burst, self._seconds, self._limit = burst, seconds, limit
        self._guessers: OrderedDict[bytes, _Guesser] = OrderedDict()

    def guessed(self, source: bytes, guess: bytes, now: float) -> float:
        """A wrong guess. 0 where it is within the rate, or was one of the last ones; else the seconds until the next may come."""
        guesser = self._guessers.get(source)
        if guesser is None:
            guesser = self._guessers[source] = _Guesser(self._burst, self._seconds, now)
            if len(self._guessers) > self._limit:
                self._guessers.popitem(last=False)
        self._guessers.move_to_end(source)
        if guess in guesser.recent:
            return 0.0
        wait = guesser.bucket.take(now)
        if wait == 0:
            guesser.recent.append(guess)
        return wait


class Guess(NamedTuple):
    """A wrong key: the group of its address, and digests of the key and of its beginning."""

    group: str
    key: bytes
    prefix: bytes


class GuessLimit:
    """Both tables. Only digests are kept: what is wrong here may be right elsewhere."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._addresses = GuessTable(GUESSES, SECONDS_PER_GUESS, limit)
        self._prefixes = GuessTable(PREFIX_GUESSES, SECONDS_PER_PREFIX_GUESS, limit)

    def wrong(self, address: str, key: str, now: float) -> float:
        """A wrong key came from this address: 0 if that is within the rate, else the seconds until it may try again."""
        return self.guessed(guess_of(address, key), now)

    def guessed(self, guess: Guess, now: float) -> float:
        """As `wrong`, of a guess that may have come to another gateway."""
        by_address = self._addresses.guessed(guess.group.encode(), guess.key, now)
        if by_address > 0:
            # Guesses that are refused anyway do not use up what others may still try.
            return by_address
        return self._prefixes.guessed(guess.prefix, guess.key, now)


def guess_of(address: str, key: str) -> Guess:
    """A wrong key from an address."""
    return Guess(address_group(address), _digest(key), _digest(key[:PREFIX]))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
