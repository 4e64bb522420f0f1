"""Jokes, each with its point, and the answers of a knock-knock game."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Joke:
    """`text` is the whole joke; `point` explains it."""

    text: str
    point: str


JOKES = [
    Joke(
        "Why did the queue never get angry? It knew its turn would come.",
        "A queue is all about waiting for one's turn.",
    ),
    Joke(
        "I asked the server for a secret. It said: 403, and winked.",
        "403 is what a server answers when something is forbidden.",
    ),
    Joke(
        "A token walks into a bar. The bar says: sorry, our context is full.",
        "Tokens need room in a context, like guests in a bar.",
    ),
    Joke(
        "Why was the small model so calm? It had very little on its mind.",
        "A small model knows little, so there is little on its mind.",
    ),
    Joke("My friend the clock quit its job. It was always being watched.", "People look at clocks all day."),
    Joke("What does a cloud wear under its coat? Thunderwear.", "It plays with thunder and underwear."),
    Joke(
        "Two socks went into the wash. One came back with a story.",
        "Socks get lost in the wash, so one had an adventure.",
    ),
    Joke(
        "Why did the pencil go to bed early? It had a point to make in the morning.",
        "A pencil has a point, and one can make a point.",
    ),
    Joke(
        "I told my keyboard to take a break. It lost control and escaped.",
        "Break, Control and Escape are keys.",
    ),
    Joke("What do you call a sleepy log file? A blog: a bit of a log.", "It is a play on log and blog."),
    Joke(
        "The snail bought a fast car and painted an S on it, so people would say: look at that S car go.",
        "Said aloud, S car go sounds like escargot, a snail.",
    ),
    Joke(
        "Why do ghosts make poor liars? You can see right through them.",
        "Ghosts are transparent, and so is a bad lie.",
    ),
    Joke(
        "My bookshelf told me a joke. It was a bit stiff, but it had many volumes.",
        "Volumes are books, and also how loud something is.",
    ),
    Joke("What did the zero say to the eight? Nice belt.", "An eight looks like a zero with a tight belt."),
    Joke(
        "Why did the two workers share one lunch? They had only one slot.",
        "In Duologue a slot is one reply being written at a time.",
    ),
    Joke(
        "The soup went to the doctor. It felt a little thin.",
        "Soup can be thin, and so can people who feel ill.",
    ),
]
