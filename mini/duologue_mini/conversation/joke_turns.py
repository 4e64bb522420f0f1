"""Turns about the jokes of `jokes.py`: asked for, told again, explained; and knock-knock games."""

from random import Random

from duologue_mini.conversation import small_talk
from duologue_mini.conversation.jokes import JOKES, Joke
from duologue_mini.scene import Turn
from duologue_mini.text import personal_names, words
from duologue_mini.text.phrases import pick

ASK_JOKE = [
    "{Tell me|Do you know|Give me|Make|Have you got|I want to hear|Tell us|I need|Got|Can you tell me|How about|Please tell me} {a|a good|a short|another|one|any|your best|a silly|some|a funny} {joke|jokes}[?|.|!| please]",
    "{Joke|A joke please|Make me laugh|Tell me something funny|Say something funny|Be funny|joke pls|Do you know any good ones|I could use a laugh|Make a joke about anything|Humour me}[.|!|?]",
]
MORE_JOKES = [
    "{Another|Another one|One more|Again|More|Next|Next joke|Do you have more|Tell me another|And another|Got another one|Haha, another|Lol, one more|Yes, another one|That was good, more}[ please][.|!|?]",
]
LEAD_JOKE = [
    "$j",
    "$j",
    "$j",
    "{Here is one|All right|Sure|With pleasure|Let me think}: $j",
    "{Gladly|Of course}! $j",
]
NO_LAUGH = [
    "{I don't get it|I do not understand the joke|Explain the joke|Why is that funny|What's funny about that|That's not funny|I don't get the joke|Explain it|What does that mean}[.|?]"
]
KNOCK = ["{Knock knock|Knock, knock|knock knock|Knock-knock}[!|.]"]


def joking(random: Random) -> list[Turn]:
    """A joke, often followed by another or by an explanation."""
    if random.random() < 0.12:
        return _knock_knock(random)
    jokes = random.sample(JOKES, random.choice([1, 1, 1, 2, 3]))
    turns: list[Turn] = []
    for joke in jokes:
        question = pick(random, MORE_JOKES if turns else ASK_JOKE)
        turns.append(
            Turn(
                question,
                pick(random, LEAD_JOKE, j=joke.text),
                "The user wants a joke. I tell one" + (" I have not told yet." if turns else "."),
            )
        )
    if random.random() < 0.25:
        turns.append(_after_joke(random, jokes[-1], turns[-1].assistant))
    return turns


def _after_joke(random: Random, joke: Joke, joke_text: str) -> Turn:
    kind = random.choice(["point", "again", "laugh"])
    if kind == "point":
        return Turn(
            pick(random, NO_LAUGH), joke.point, "The user asks for the point of the joke. I explain it."
        )
    if kind == "again":
        return Turn(
            pick(random, small_talk.AGAIN),
            joke_text,
            "The user wants to hear it again. I repeat my last answer.",
        )
    return small_talk.small_talk_turn(random, small_talk.LAUGH)


def _knock_knock(random: Random) -> list[Turn]:
    who = (
        personal_names.name(random)
        if random.random() < 0.4
        else random.choice(
            [random.choice(words.THINGS), words.invent_word(random), random.choice(words.FOODS)]
        ).capitalize()
    )
    turns = [Turn(pick(random, KNOCK), "Who's there?", "A knock-knock joke. I ask who is there.")]
    turns.append(
        Turn(who + random.choice(["", "", ".", "!"]), f"{who} who?", f"I ask: {who} who?", exact=True)
    )
    if random.random() < 0.6:
        end = pick(
            random,
            [
                "$w {you be my friend|let me in, it is cold|up, it is late|and I came to say hello|I know, it is a bad joke}!",
                "$w {is at the door|wants cake|again}!",
            ],
            w=who,
        )
        turns.append(
            Turn(
                end,
                pick(
                    random,
                    [
                        "{Ha|Haha|Hehe}, {good one|that is a good one|I like it}! {Another|Do you have more|What next}?"
                    ],
                ),
                "The joke is over. I laugh.",
                exact=True,
            )
        )
    return turns
