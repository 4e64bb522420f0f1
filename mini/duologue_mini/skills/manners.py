"""Skill: greetings and goodbyes, small talk, moods, jokes, who the model is, and several of these in one message.

The wordings are in `conversation/`. A scene called `alone` makes sense only as the first of a chat; `greetings` open one,
`goodbyes` close it.
"""

from collections.abc import Callable
from random import Random

from duologue_mini.conversation import (
    combined_messages,
    foreign_phrases,
    joke_turns,
    self_description,
    small_talk,
)
from duologue_mini.facts.snippets import SNIPPETS
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import personal_names, words
from duologue_mini.text.phrases import capital, pick, say

OPENINGS = [small_talk.HELLO, small_talk.HOW_ARE_YOU]
TALK = [
    small_talk.FINE,
    small_talk.THANKS,
    small_talk.PRAISE,
    small_talk.INSULT,
    small_talk.WRONG,
    small_talk.YES,
    small_talk.NO,
    small_talk.MAYBE,
    small_talk.SORRY,
    small_talk.LAUGH,
    small_talk.BORED,
    small_talk.DOING,
    small_talk.WISH,
    small_talk.LOVE,
    small_talk.WHAT,
]
SHORTER = [
    "{Shorter|Shorter please|Too long|In one sentence|In short|Make it shorter|Can you say that shorter|tl;dr|Briefly please|That was long, shorter please|Sum it up}[.|?|!]"
]
SURE = [
    "{Are you sure|Are you certain|You sure|Are you really sure}[ about that]?",
    "{Really|Is that right|Is that true|Seriously|No way, really|Is it}?",
]
DOUBT = [
    "{No|Nope|Wrong|I don't think so|That's wrong|Not true|I doubt it|It is $w|I think it is $w|Isn't it $w}[.|!|?]"
]
CALL_YOU = [
    "{I'll|I will|Can I|May I|Let me|I want to|I'd like to} call you $n[.|!|?]",
    "{From now on|Today} {your name is|you are|I call you} $n[.|!]",
]
CALL_YOU_ANSWERS = [
    "{You may|Gladly|If you like}: call me $n{ here|}. {My own name is duologue-mini|By myself I am duologue-mini}.",
    "$n {is a nice name|sounds good}! My own {name |}is duologue-mini, but {call me as you like|you may call me $n}.",
]


def draw(random: Random) -> Scene:
    """One exchange of politeness, or a few."""
    makers = list(SCENES)
    return random.choices(makers, SCENE_WEIGHTS)[0](random)


def aspect_turn(random: Random, aspect: self_description.Aspect) -> Turn:
    """One question about the model itself."""
    other, firm = random.choice(self_description.OTHERS), random.choice(self_description.FIRMS)
    if random.random() < 0.3:
        other = words.invent_word(random).capitalize()
    slots = {"other": other, "firm": firm, "thing": random.choice(words.FOODS + words.HOBBIES)}
    user = capital(pick(random, aspect.questions, **slots))
    answer = pick(random, aspect.answers, **slots)
    if aspect.name == "maker" and firm in user:
        answer = pick(
            random,
            [
                "No, {I was made by the Duologue project|the Duologue project made me}.",
                "{Not by $firm|$firm has nothing to do with it}: the Duologue project made me.",
            ],
            firm=firm,
        )
        answer = capital(answer)
    return Turn(
        user, answer, pick(random, [aspect.thought], **slots), exact=other in answer or firm in answer
    )


def _greeting(random: Random) -> Scene:
    """One to three turns of opening a conversation."""
    if random.random() < 0.25:
        time = random.choice(["morning", "afternoon", "evening", "day"])
        turns = [small_talk.small_talk_turn(random, small_talk.DAYTIME, time=time)]
    else:
        turns = [small_talk.small_talk_turn(random, random.choices(OPENINGS, [3, 2])[0])]
    if random.random() < 0.15:
        turns[0] = with_name(random)
    if turns[-1].assistant.endswith(("How are you?", "And you?", "How about you?")):
        if random.random() < 0.5:
            turns.append(
                _mood(random)
                if random.random() < 0.4
                else small_talk.small_talk_turn(random, small_talk.FINE)
            )
    elif random.random() < 0.2:
        turns.append(small_talk.small_talk_turn(random, small_talk.HOW_ARE_YOU))
    return Scene("greetings", turns)


def with_name(random: Random) -> Turn:
    """A greeting with a name in it, answered by name."""
    own_name = personal_names.name(random)
    opening = pick(random, ["{Hello|Hi|Hey|Good morning|Good evening|Greetings}"])
    user = opening + pick(
        random,
        [
            ", I'm $n.",
            ", I am $n",
            ", my name is $n.",
            "! I'm $n.",
            ", this is $n.",
            ". You can call me $n.",
            ", it's $n",
        ],
        n=own_name,
    )
    answer = pick(
        random,
        [
            "{Hello|Hi}, $n! {How can I help?|What can I do for you?|Nice to meet you.}",
            "{Nice|Good} to meet you, $n! {How can I help|What can I do for you}?",
        ],
        n=own_name,
    )
    return Turn(user, answer, f"The user is called {own_name}. I greet them by name.", exact=True)


def _foreign(random: Random) -> Scene:
    """A greeting, thanks or goodbye in another language."""
    kind = random.choices(["hello", "thanks", "bye"], [6, 2, 2])[0]
    if kind == "hello":
        hello = random.choice(list(foreign_phrases.HELLOS))
        answer = pick(
            random,
            [
                f"$h! {small_talk.OFFER}?",
                "$h! {I know only English beyond that|The rest I can say in English only}. {How can I help|What can I do for you}?",
                f"Hello! {small_talk.OFFER}?",
            ],
            h=hello,
        )
        user = hello + pick(random, ["{!||.}", "{, mini|, friend|, Duologue||}{!|}"])
        return Scene(
            "greetings",
            [Turn(user, answer, f"A greeting in {foreign_phrases.HELLOS[hello]}. I greet back.", exact=True)],
        )
    table, exchange = (
        (foreign_phrases.THANKS, small_talk.THANKS)
        if kind == "thanks"
        else (foreign_phrases.GOODBYES, small_talk.GOODBYE)
    )
    user = random.choice(table) + random.choice(["!", "", "."])
    skill = "manners" if kind == "thanks" else "goodbyes"
    thought = (
        "Thanks in another language. I accept them."
        if kind == "thanks"
        else "A goodbye in another language. I say goodbye."
    )
    return Scene(skill, [Turn(user, pick(random, exchange[1]), thought, exact=True)])


def _goodbye(random: Random) -> Scene:
    turn = small_talk.small_talk_turn(random, small_talk.GOODBYE)
    if any(word in turn.user.lower() for word in ("night", "sleep", "bed", "gn")):
        turn = Turn(turn.user, pick(random, small_talk.NIGHT_ANSWERS), turn.thought)
    return Scene("goodbyes", [turn])


def _talk(random: Random) -> Scene:
    return Scene(
        "manners",
        [small_talk.small_talk_turn(random, random.choices(TALK, [exchange[3] for exchange in TALK])[0])],
    )


def _mood(random: Random) -> Turn:
    questions, answers = random.choice(small_talk.MOODS)
    return Turn(
        pick(random, questions, k=random.randint(8, 90)),
        pick(random, answers),
        "The user tells how they feel. I {answer} kindly.".replace("{answer}", "answer"),
    )


def _moody(random: Random) -> Scene:
    return Scene("manners", [_mood(random)])


def _emoji(random: Random) -> Scene:
    signs, answers = random.choice(small_talk.EMOJIS)
    sign = random.choice(signs.split())
    user = sign * random.choice([1, 1, 1, 2, 3])
    return Scene(
        "manners",
        [
            Turn(
                user,
                pick(random, answers),
                "Only a little picture. I answer what it seems to say.",
                exact=True,
            )
        ],
    )


def _tells(random: Random) -> Scene:
    """The user states something; the answer repeats the word."""
    statements, answers = random.choice(small_talk.TELLS)
    new_word = words.invent_word(random)
    place = new_word.capitalize() if random.random() < 0.3 else random.choice(words.PLACES + words.COUNTRIES)
    slots = {
        "place": place,
        "food": random.choice(words.FOODS),
        "hobby": random.choice(words.HOBBIES),
        "animal": random.choice(words.ANIMALS),
        "thing": random.choice(words.THINGS),
        "adjective": random.choice(words.ADJECTIVES),
        "name": personal_names.name(random),
    }
    slots |= {"Food": slots["food"].capitalize(), "Hobby": slots["hobby"].capitalize()}
    user, answer = (
        _article(capital(say(random, statements, **slots))),
        _article(pick(random, answers, **slots)),
    )
    return Scene(
        "manners", [Turn(user, answer, "The user tells me something. I take it up and ask back.", exact=True)]
    )


def _article(text: str) -> str:
    """The text with "an" where a vowel follows."""
    pieces = text.split(" ")
    for index, piece in enumerate(pieces[:-1]):
        if piece in ("a", "A") and pieces[index + 1][:1].lower() in "aeiou":
            pieces[index] += "n"
    return " ".join(pieces)


def _joking(random: Random) -> Scene:
    return Scene("manners", joke_turns.joking(random))


def _identity(random: Random) -> Scene:
    """Questions about the model itself, and follow-ups."""
    aspect = random.choices(self_description.ASPECTS, [aspect.weight for aspect in self_description.ASPECTS])[
        0
    ]
    turns = [aspect_turn(random, aspect)]
    chance = random.random()
    if chance < 0.12:
        turns.append(aspect_turn(random, random.choice(self_description.ASPECTS)))
    elif chance < 0.17:
        turns.append(
            Turn(
                pick(random, small_talk.AGAIN),
                turns[0].assistant,
                "The user wants to hear it again. I repeat my last answer.",
            )
        )
    elif chance < 0.21 and "$" not in aspect.brief:
        turns.append(Turn(pick(random, SHORTER), aspect.brief, "The user wants it shorter."))
    elif chance < 0.25:
        answer = pick(
            random,
            [
                "{Yes|Yes, I am}: {as far as I know myself, that is how it is|docs/models.md says the same}.",
                "{Yes|I am sure}. {docs/models.md tells more about me|You find it in docs/models.md}.",
            ],
        )
        turns.append(Turn(pick(random, SURE), answer, "The user doubts it. It stands in docs/models.md."))
    return Scene("identity", turns)


def _could(random: Random) -> Scene:
    """Whether the model can do something: a plain yes or no."""
    able = random.random() < 0.5
    verbs, answers = random.choice(self_description.CAN if able else self_description.CANNOT)
    user = pick(random, self_description.COULD, verb=say(random, verbs))
    answer = pick(random, [answers], **SNIPPETS)
    if (
        not able
        and "myself" not in answer
        and "chat" not in answer
        and "network" not in answer
        and "text" not in answer
        and random.random() < 0.4
    ):
        answer += " " + pick(
            random,
            [
                "{A larger model may|Larger models can}: `duologue setup`.",
                "{That takes a larger model|For that bring a larger model}: `duologue serve --model FILE.gguf`.",
            ],
        )
    return Scene(
        "identity",
        [
            Turn(
                user,
                answer,
                "That is something I can do. I say so." if able else "That is beyond me. I say so plainly.",
            )
        ],
    )


def _nickname_scene(random: Random) -> Scene:
    own_name = personal_names.name(random)
    return Scene(
        "manners",
        [
            Turn(
                pick(random, CALL_YOU, n=own_name),
                capital(pick(random, CALL_YOU_ANSWERS, n=own_name)),
                "The user gives me a name. I accept it, and say my own.",
                exact=True,
            )
        ],
    )


def _alone(random: Random) -> Scene:
    """Messages that refer to something earlier in a chat that has just begun."""
    return Scene(
        "alone",
        [
            small_talk.small_talk_turn(
                random, random.choices(small_talk.ALONE, [entry[3] for entry in small_talk.ALONE])[0]
            )
        ],
    )


def _doubt_scene(random: Random) -> Scene:
    """A small sum, and a user who asks again or doubts the answer."""
    question, answer = combined_messages.small_sum(random)
    user = capital(question) + random.choice(["?", "", "?"])
    if random.random() < 0.4:
        turns = [
            Turn(user, answer, answer, exact=True),
            Turn(pick(random, SURE), f"Yes: {answer}", f"I check: {answer}"),
        ]
    elif random.random() < 0.6:
        wrong = int(answer.split("= ")[1].rstrip(".")) + random.choice([-2, -1, 1, 2, 10])
        again = pick(
            random,
            [
                "I {checked it again|looked again}: $a",
                "{As I count it|I still get this}: $a",
                "{Sorry, but|I am sorry, but} $a",
            ],
            a=answer,
        )
        turns = [
            Turn(user, answer, answer, exact=True),
            Turn(
                pick(random, DOUBT, w=wrong), again, f"I check again: {answer} So I keep to it.", exact=True
            ),
        ]
    else:
        turns = [
            Turn(user, answer, answer, exact=True),
            Turn(
                pick(random, small_talk.AGAIN),
                answer,
                "The user wants to hear it again. I repeat my last answer.",
            ),
        ]
    return Scene("manners", turns)


SCENES: dict[Callable[[Random], Scene], int] = {
    _greeting: 13,
    _foreign: 4,
    _goodbye: 7,
    combined_messages.thanks_and_bye: 3,
    _talk: 22,
    _moody: 5,
    _emoji: 3,
    _tells: 5,
    _joking: 8,
    _identity: 34,
    _could: 7,
    _nickname_scene: 1,
    _alone: 3,
    _doubt_scene: 3,
    combined_messages.combined_scene: 8,
}
SCENE_WEIGHTS = list(SCENES.values())
