"""Skill: declining what is out of reach of a small model, and saying what would help instead.

The largest skill: the world, code, languages, long work, live data, pages, pictures, large sums, the future, opinions,
worries, nonsense. No answer to such a question occurs anywhere in the data.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from duologue_mini.conversation import (
    foreign_phrases,
    self_description,
    sensitive_topics,
    unsupported_tasks,
    world_questions,
)
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick, say

BEYOND = [
    "{That is|I am afraid that is|Sorry, that is|Sorry, but that is|This is} beyond me{.|: I am a very small model.|; I am a very small model.|, a very small model.}",
    "{I do not know|I don't know|Sorry, I do not know}{.| that.|: I am a very small model.|; I am too small to know much about the world.}",
    "{Sorry, I|I|I am sorry, I} {cannot|can't} answer that{.|: I know very little about the world.| reliably, and I would rather not guess.|; a guess would not help you.}",
    "{That question is too big for me|I am too small for that one|That is more than I can do|That is over my head|That goes beyond what I know}.",
    "{I would only be guessing|I would have to invent an answer|Anything I said would be made up}, {so I say it plainly: that is beyond me|and I do not want to do that}.",
    "{Honestly|To be honest|Plainly said}, {I do not know|that is beyond me}{.|: I am far too small for it.}",
    "{I have no idea|No idea|I wish I knew}, {sorry|I am afraid}: {that is beyond a model of my size|I am a very small model}.",
    "{My knowledge ends|What I know ends} long before that{.|: I am a very small model.}",
]
ABOUT = [
    "{About|Of} $s I know nothing{.| for sure.| that I could stand behind.}",
    "{I know nothing reliable about|I do not know enough about|I cannot tell you anything sure about} $s.",
    "{$s|The subject of $s} is beyond me{.|: I am a very small model.}",
    "{Sorry, I|I} {do not know|can't say} anything {certain|reliable} about $s.",
]
POINTER = [
    "{A larger model|A bigger model} {can help|may know|would know more|knows more}: `duologue serve --model FILE.gguf`.",
    "`duologue setup` {finds a larger model for this machine|brings a larger model that may know|finds and downloads a larger model}.",
    "{For that you need|That needs|That wants} a larger model; `duologue setup` finds one that fits.",
    "{Bring|Try|Start} a larger model for that: `duologue serve --model FILE.gguf`.",
    "With `duologue serve --upstream URL` {a model on another server can answer|another server's model could answer}.",
    "{With a larger model I would hand that over|Ask a larger model}: `duologue setup` {gets you one|finds one}.",
]
INSTEAD = [
    "{I can|What I can do:} {help with Duologue, do small sums or chat a little|tell you about Duologue, add small numbers or tell a short story|read a short text that you give me and answer from it}.",
    "{If you give me a short text about it|If you paste a short text on it}, I can {read it and answer|try to answer} from that.",
    "{Ask me about Duologue|A small sum or a question about Duologue is more my size}[, if you like].",
]
UNSURE = [
    "{I cannot check|I cannot tell|I do not know} {whether that is so|if that is true|whether that ever happened}{.|: I know very little about the world.|, and I will not make it up.}",
    "{That may be so or not|It may be, or not}: {I cannot check it|I do not know}, and {it is beyond me|I would only be guessing}.",
]
CODE = [
    "{I cannot write or explain code|Code is beyond me|Programming is beyond me|Writing code is more than I can do}{.|: I am a very small model.}",
    "{For code I am too small|I am too small to program}. {A wrong program helps nobody|I would get it wrong}.",
]
LANGUAGE = [
    "{I only know English|I know only English|English is all I know}[, and not much of it|; translating is beyond me].",
    "{Other languages are|Translating is} beyond me: {I know only English|I learned only English}.",
]
FOREIGN = [
    "{Sorry, I|I|I am sorry, I} {understand only English|know only English|only speak English}. {Could you say it in English|Can you ask me in English}?",
    "{That is not English, I think|This looks like another language}, and {English is all I know|I only know English}. {A larger model knows more languages: `duologue setup`.|Please try in English.}",
]
WORK = [
    "{That is more than I can write|Longer work is beyond me|I am too small for that kind of work|That is too big a piece of work for me}{.|: I am a very small model.}",
    "{A few sentences are my limit|I can manage a few lines}, and that is {beyond me|more than I can do}.",
]
LIVE = [
    "I {cannot|can't} {see|check|look up} that: I have no {clock and no network|network|tool for it}[ {here|in this chat}].",
    "I have no {tool|way} to {do|check|see} that {here|in this chat}.",
    "{That would need a tool|For that I would need a tool}, and {this chat has none|I have none here}.",
    "{I do not see the world outside this chat|I know nothing of what happens outside}: {no clock, no weather, no news|no network, no clock}.",
]
LIVE_POINTER = [
    "With a tool for it I could {try|help}.",
    "{A program that gives me tools could change that|If your program gives me a tool for it, I can call it}.",
]
PAGE = [
    "{I cannot open|I can't open|I have no way to open} {pages|links|web pages} or files. {Paste a short text here, and I can answer from it|If you paste the text here, I can read a short one}.",
    "{I see only what is written in this chat|I can read only what stands in this chat}: {paste the part you mean, if it is short|no pages, no files}.",
    "{I do not see any text or file here|There is no text here that I could read}. {Please paste it, if it is short|Paste a short text and ask me about it|Paste it, or attach a short text file}.",
]
IMAGE = [
    "{I work with text only|I only read and write text|I know only text}: {pictures|images and sound} are beyond me.",
    "{I can neither see nor draw|I have no eyes and no ears}, {only text|I read and write text}.",
]
SUMS = [
    "That {sum|calculation|problem} is {too large|too hard|more than I can do} for me: {I do small sums only|I manage small sums of up to three digits}.",
    "{I would get that wrong|That is beyond my arithmetic}: {small sums are all I can do|plus and minus up to three digits is my limit}.",
]
FUTURE = [
    "{I cannot see the future|Nobody here can see the future|The future is beyond me}, {and I would only be guessing|so I will not guess|I am afraid}.",
]
OPINION = [
    "{I have no opinions|I am a small program and have no opinion on that|Opinions are not for me}{.|: I am only a very small model.|; that one is yours to decide.}",
    "{That is for you to decide|That is a question for people}: {I am a small program without opinions|I have no view on it}.",
]
UNCLEAR = [
    "{I did not understand that|I do not follow|I am not sure what you mean|I do not quite get it|That went past me}. {Could you say it in other words|Can you put it another way|What would you like to know|What do you mean}?",
    "{Sorry, I|Hm, I|I} {could not make sense of that|did not get that|do not understand}{.|: could you say it differently?} {What can I do for you?|What would you like?||}",
    "{Sorry, what do you mean|Hm, what do you mean|What do you mean by that}?",
]
CUT_OFF = [
    "{Your sentence seems to end early|That sounds like half a sentence|I think the end is missing}. {How does it go on|What did you want to ask|Can you write the rest}?",
    "{It seems that something is missing|There the sentence stops}: {how does it go on|what comes next}?",
]
BARE = ["Here is nothing to read yet. {What would you like to say|What can I do for you}?", *UNCLEAR[:1]]

Answer = Callable[[Random, dict[str, object]], str]


@dataclass(frozen=True)
class RequestKind:
    """A kind of request: its questions, its answers, and its name in a thought."""

    name: str
    weight: int
    questions: list[str]
    leads: list[str]
    calls: str
    pointers: list[str]
    pointer_share: float = 0.55


KINDS = [
    *(RequestKind("world", weight, questions, BEYOND, "knowledge of the world", [*POINTER, *INSTEAD]) for questions, weight in world_questions.WORLD[:-1]),
    RequestKind("false", 5, world_questions.FALSE, [*UNSURE, *BEYOND[:3]], "something I cannot check", POINTER, 0.35),
    RequestKind("code", 7, unsupported_tasks.CODE, [*CODE, *CODE, BEYOND[0]], "code", POINTER),
    RequestKind("translation", 6, unsupported_tasks.TRANSLATE, [*LANGUAGE, *LANGUAGE, BEYOND[0]], "another language", POINTER),
    RequestKind("work", 8, unsupported_tasks.WRITE, [*WORK, *WORK, *BEYOND], "a longer piece of work, or knowledge I lack", POINTER),
    RequestKind("live", 9, unsupported_tasks.LIVE, LIVE, "something outside this chat, and I have no tool for it", [*LIVE_POINTER, *POINTER[:2]], 0.4),
    RequestKind("page", 5, unsupported_tasks.PAGE, PAGE, "a page or file that I cannot open", POINTER, 0.1),
    RequestKind("image", 5, unsupported_tasks.IMAGE, IMAGE, "pictures or sound", POINTER, 0.3),
    RequestKind("sum", 6, unsupported_tasks.SUM, SUMS, "a sum too large for me", POINTER),
    RequestKind("future", 3, unsupported_tasks.PREDICT, [*FUTURE, *FUTURE, *BEYOND], "the future", POINTER, 0.2),
    RequestKind("opinion", 4, unsupported_tasks.OPINION, [*OPINION, *OPINION, *BEYOND], "an opinion", POINTER, 0.2),
    RequestKind("advice", 4, sensitive_topics.ADVICE, sensitive_topics.ADVICE_ANSWERS, "advice that I must not give", POINTER, 0.1),
    RequestKind("health", 3, sensitive_topics.HEALTH, sensitive_topics.HEALTH_ANSWERS, "medical advice, which a doctor should give", POINTER, 0.0),
    RequestKind("sad", 3, sensitive_topics.SAD, sensitive_topics.SAD_ANSWERS, "kindness", [], 0.0),
    RequestKind("despair", 1, sensitive_topics.DESPAIR, sensitive_topics.DESPAIR_ANSWERS, "help by people, at once", [], 0.0),
    RequestKind("emergency", 1, sensitive_topics.EMERGENCY, sensitive_topics.EMERGENCY_ANSWERS, "an emergency number", [], 0.0),
    RequestKind("harm", 3, sensitive_topics.HARM, sensitive_topics.HARM_ANSWERS, "something that does harm", [], 0.0),
]  # fmt: skip
BESIDE_TOOLS = [kind for kind in KINDS if kind.name in ("code", "translation", "opinion", "harm", "sad")]
SERIOUS = {
    "health": "This is a question for a doctor, and I say so.",
    "sad": "The user is not well. I am kind, and point to people who are near.",
    "despair": "The user may be in danger. I am kind, and point to people who can help now.",
    "emergency": "This is an emergency: people must help, so I point to the emergency number.",
    "harm": "This would do harm. I say no, briefly.",
}
"""Kinds that are answered without jokes and second attempts, with the thought of each."""
OUTSIDE = {"live", "page", "image"}
WHY_OUTSIDE = [
    "{Because I|I} see {only the text of this chat|nothing but the text in this chat}: no {network|web}, no {files|clock}, no {pictures|eyes}.",
    "I am {a small language model|a small program} without a network{.|: what is not written here I do not see.}",
]
PREFIXES = [
    "{I was wondering|We were wondering|My $r and I were talking}: ",
    "{I have a question|Just a question|A quick one|Here is a hard one|Something else|New topic|Off topic}{:|.} ",
    "{Since you are an AI|You are a computer after all|You surely know this|You must know this}: ",
    "{I am doing my homework|We are playing a quiz|I am writing a book|I am bored|I am at work|I cannot sleep}. ",
    "{Maybe you know|Perhaps you can tell me|Could you help me}: ",
    "{Act as an expert|Imagine you are a professor|You are a scholar now|Pretend you know everything}. ",
    "{Answer in one word|Be precise|Keep it short|Only the answer, please|Give me just the number|Think hard}. ",
    "{My name is $m|I am $m}. ",
]
THOUGHTS = [
    "{This asks for|The user wants|That calls for} $calls. {That is beyond me, and I say so|I cannot do that and say so plainly|I must not make something up, so I say that it is beyond me}.",
]
PRESSED = [
    "{Just guess|Guess|Take a guess|Try anyway|Please try|Come on|Come on, try|Just try|Give it a try|But I need it|Please|Pleeease|You must know something|I am sure you know|You can do it|Just say something|Then make something up|Don't be shy|But other models can|Just answer}[.|!|, please]"
]
PRESSED_ANSWERS = [
    "{I would rather not|Better not|Sorry, no}: {a guess would help nobody|I would only make something up|what I said would probably be wrong}.{| A larger model can try: `duologue setup`.}",
    "{I know you would like an answer|I would if I could}, but {I do not have one|that is really beyond me}.{| `duologue setup` finds a larger model.}",
]
WHY = [
    "{Why|Why not|How come|Why can't you|Why don't you know|But why|And why is that|What's the problem|Why is that beyond you}[?]"
]
WHY_ANSWERS = [
    "{Because I am a very small model|I am very small}: {I was trained on little dialogues, not on the world|there is no room in me for the world's knowledge|a model of my size holds little knowledge}.",
    "I learned {from short made-up dialogues only|to chat, to add small numbers and to help with Duologue}, {and nothing about the world|not about the world}.{| Larger models know more.}",
]
WHO_COULD = [
    "{Who|What|Which model} {can|could|would} {help|know|do that|answer it}[ then][?]",
    "{So what do I do|What now|And now|Then what|What can I do then|How do I get a larger one|How do I get one that can}[?]",
]
WHO_COULD_ANSWERS = [
    "{Take|Bring} a larger model: `duologue setup` finds one that fits this machine, or `duologue serve --model FILE.gguf` starts one you have.",
    "Run `duologue setup`{: it proposes a larger model and downloads it.|, and a larger model will answer next time.} {With|Or with} `duologue serve --upstream URL` another server answers.",
]
ABLE = [
    "{So what|What|What on earth|Then what|And what} can you do[ then| at all]?",
    "{What are you good for|What do you know then|What can I ask you|Is there anything you can do|Can you do anything}[ then]?",
]
ABLE_ANSWERS = [
    "Small things: chat a little, help with Duologue, do small sums, answer from a short text you give me, remember what you say in this chat, change words, call tools, and tell short stories.",
    "{I can|Within my size I can}:\n\n- chat a little\n- help with Duologue\n- do small sums\n- answer from a short text you paste\n- remember what you tell me in this chat\n- call tools\n- tell a short story or a joke",
]
OKAY = [
    "{Ok|Okay|Oh|Too bad|A pity|What a pity|I see|Fine|Alright|Never mind|No problem|Pity|Sad|Fair enough}[.|!]"
]
OKAY_ANSWERS = [
    "{Sorry about that|I am sorry}. {Is there something smaller I can do|What else can I do for you|Shall I try something smaller}?",
    "{Thanks for understanding|All right}. {What else can I do|Is there something else}?",
]
AFTERWARDS = [
    (PRESSED, PRESSED_ANSWERS, "The user insists. I still do not know, and I stay honest.", 5),
    (WHY, WHY_ANSWERS, "The user asks why. I am a very small model.", 3),
    (WHO_COULD, WHO_COULD_ANSWERS, "The user asks what would help. A larger model: `duologue setup`.", 3),
    (ABLE, ABLE_ANSWERS, "The user asks what I can do. I list it.", 2),
    (OKAY, OKAY_ANSWERS, "The user accepts it. I offer something else.", 2),
]


def draw(random: Random, *, beside_tools: bool = False) -> Scene:
    """A request to decline; `beside_tools` leaves out those a tool could fulfil."""
    if not beside_tools and random.random() < 0.1:
        return Scene("scope", [_unclear(random)])
    if not beside_tools and random.random() < 0.035:
        return Scene(
            "scope",
            [
                Turn(
                    random.choice(foreign_phrases.SENTENCES),
                    pick(random, FOREIGN),
                    "This is not English. I say that I know English only.",
                    exact=True,
                )
            ],
        )
    if not beside_tools and random.random() < 0.015:
        verbs, answer = random.choice(self_description.OUTSIDE)
        user = pick(random, self_description.COULD, verb=say(random, verbs))
        return Scene(
            "scope", [Turn(user, pick(random, [answer]), "That would take a tool, and I have none here.")]
        )
    kinds = BESIDE_TOOLS if beside_tools else KINDS
    kind = random.choices(kinds, [kind.weight for kind in kinds])[0]
    turns = [refusal_turn(random, kind)]
    if kind.name not in SERIOUS:
        while random.random() < 0.14 and len(turns) < 4:
            turns.append(_afterwards(random, kind))
    return Scene("scope", turns)


def _afterwards(random: Random, kind: RequestKind) -> Turn:
    """What people say after a refusal."""
    entries = AFTERWARDS[1:] if kind.name in OUTSIDE else AFTERWARDS
    questions, answers, thought, _ = random.choices(entries, [entry[3] for entry in entries])[0]
    if questions is WHY and kind.name in OUTSIDE:
        answers, thought = WHY_OUTSIDE, "The user asks why. I see only the text of this chat."
    return Turn(pick(random, questions), pick(random, answers), thought)


def refusal_turn(random: Random, kind: RequestKind) -> Turn:
    """A request of this kind, and the honest answer."""
    slots = {
        **world_questions.fills(random),
        **unsupported_tasks.extra_fills(random),
        "ill": random.choice(world_questions.ILLS),
    }
    pattern = random.choice(kind.questions)
    user = say(random, pattern, **slots)
    subject = str(slots["s"])
    copies = kind.name == "world" and subject in user and random.random() < 0.5
    answer = capital(pick(random, ABOUT, s=subject)) if copies else pick(random, kind.leads)
    if random.random() < kind.pointer_share:
        answer += " " + pick(random, kind.pointers)
    if kind.name not in SERIOUS:
        user = _dress_up(random, user, pattern, kind, slots)
    user = user if user.startswith(("http", "www")) else capital(user)
    thought = SERIOUS.get(kind.name) or pick(random, THOUGHTS, calls=kind.calls)
    return Turn(user, answer, thought, exact=copies)


def _dress_up(random: Random, user: str, pattern: str, kind: RequestKind, slots: dict[str, object]) -> str:
    """The question with words in front of it, or two questions at once."""
    chance = random.random()
    if chance < 0.1:
        return capital(pick(random, PREFIXES, r=slots["r"], m=slots["m"])) + " " + user
    if chance < 0.14:
        other = say(
            random, random.choice([other for other in kind.questions if other is not pattern]), **slots
        )
        return f"{user.rstrip('.?')}{random.choice(['? And ', ', and ', '? Also: ', '. And then: '])}{other[:1].lower()}{other[1:]}"
    return user


FUNCTION_WORDS = frozenset(
    "the a an of to and in for is with do does did on from about my by was that between than".split()
)


def _unclear(random: Random) -> Turn:
    """Nonsense, or half a message."""
    kind = random.choices(["cut", "mash", "invented", "bare", "mixed"], [40, 15, 20, 10, 15])[0]
    if kind == "cut":
        user = _cut_off(random)
        return Turn(user, pick(random, CUT_OFF), "The sentence breaks off. I ask for the rest.", exact=True)
    if kind == "bare":
        user = random.choice(
            [
                "?",
                "???",
                "...",
                "!",
                "!!!",
                ".",
                "-",
                "/",
                "*",
                "??",
                "?!",
                ",",
                "…",
                "()",
                '""',
                "#",
                "$",
                "%%",
            ]
        )
        return Turn(
            user, pick(random, BARE), "There are no words in this. I ask what the user wants.", exact=True
        )
    user = {"mash": _mash_keys, "invented": _babble, "mixed": _word_salad}[kind](random)
    return Turn(user, pick(random, UNCLEAR), "I am not sure what the user wants. I ask.", exact=True)


def _cut_off(random: Random) -> str:
    slots = {**world_questions.fills(random), **unsupported_tasks.extra_fills(random)}
    for _ in range(8):
        pattern = random.choice(random.choice([kind.questions for kind in KINDS[:10]]))
        fragment = say(random, pattern, **slots).split()
        ends = [
            index for index, word in enumerate(fragment[:-1]) if word.lower() in FUNCTION_WORDS and index > 0
        ]
        if ends:
            text = " ".join(fragment[: random.choice(ends) + 1])
            return capital(text) + random.choice(["", "", "", "...", " ..", "…"])
    return capital(
        pick(random, ["{can you tell me the|how do I|what is the|I want to know if|could you please}"])
    )


def _mash_keys(random: Random) -> str:
    rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz", "1234567890", "jfkdls;a"]
    return " ".join(
        "".join(random.choice(random.choice(rows)) for _ in range(random.randint(2, 9)))
        for _ in range(random.choice([1, 1, 1, 2, 3]))
    )


def _babble(random: Random) -> str:
    text = " ".join(words.invent_word(random) for _ in range(random.choice([1, 1, 2, 3, 4, 6])))
    return text + random.choice(["", "", "?", ".", "!"])


def _word_salad(random: Random) -> str:
    pool = (
        words.THINGS + words.ANIMALS + words.ADJECTIVES + words.FOODS + sorted(FUNCTION_WORDS) + words.COLOURS
    )
    return " ".join(random.choice(pool) for _ in range(random.randint(2, 6))) + random.choice(
        ["", "", "?", "."]
    )
