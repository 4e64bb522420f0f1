"""Skill: following a system prompt: role, tone, language, how to begin and end, what to leave out."""

from random import Random

from duologue_mini.conversation import short_exchanges
from duologue_mini.conversation.short_exchanges import Act
from duologue_mini.conversation.statements import draw_statement, several
from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import reading
from duologue_mini.system_prompts import languages, roles, rules
from duologue_mini.system_prompts.tones import TONES
from duologue_mini.text import payloads
from duologue_mini.text.phrases import capital, pick
from duologue_mini.text.requests import fill_slots, loose, request

OPENERS = [
    "",
    "",
    "",
    "You are a helpful assistant. ",
    "You are an assistant. ",
    "Be helpful. ",
    "You help people. ",
    "You are a friendly assistant.\n",
]
NOT_KNOWN = [
    "I do not know that{.|, sorry.}",
    "{Sorry, I|I} {have no information|was told nothing} about that.",
    "I {cannot|can't} tell you that{.|, I was not told.|, sorry.}",
]
SHORTS = {
    "hello": "Hello!",
    "how": "Fine, thanks.",
    "thanks": "You are welcome.",
    "bye": "Goodbye!",
    "able": "Chat and small sums.",
    "human": "No, a program.",
    "joke": "Sorry, none today.",
    "mood": "I am sorry.",
    "glad": "Good to hear!",
    "praise": "Thank you!",
    "beyond": "That is beyond me.",
}


def draw(random: Random) -> Scene:
    """A system prompt and one to four turns that follow it."""
    kinds = [
        _rule_scene,
        _being,
        _tone_scene,
        _abroad,
        _forbidden,
        _facts_scene,
        _memory_scene,
        _yes_or_no,
        _secret,
    ]
    return random.choices(kinds, [30, 14, 9, 14, 8, 15, 7, 4, 4])[0](random)


def _scene(system: str, turns: list[Turn]) -> Scene:
    return Scene("instructed", turns, system=system)


def _turn(random: Random, user: str, answer: str, thought: str, *, loose_wording: bool = False) -> Turn:
    return Turn(user if loose_wording else loose(random, user), answer, thought, True)


def _count(random: Random) -> int:
    return random.choices([1, 2, 3, 4], [45, 30, 17, 8])[0]


def _rule_scene(random: Random) -> Scene:
    """One or two rules, at times with a name, applied to small talk."""
    chosen = rules.draw_rules(random)
    being = roles.role(random) if random.random() < 0.3 else None
    parts = ([being.system] if being else []) + [rule.system for rule in chosen]
    random.shuffle(parts)
    opener = "" if being else random.choice(OPENERS)
    system = rules.join_prompt(random, parts)
    system = f"{opener}\n{system}".lstrip() if "\n" in system else opener + system
    turns = []
    for _ in range(_count(random)):
        act = _any(random, being)
        plain = SHORTS.get(act.what, act.answer) if any(rule.short for rule in chosen) else act.answer
        thought = " ".join(rule.thought for rule in chosen)
        turns.append(
            _turn(
                random, act.user, rules.apply_rules(plain, chosen), thought, loose_wording=act.what in COPIED
            )
        )
    return _scene(system, turns)


COPIED = ("say", "name")


def _any(random: Random, being: roles.Role | None) -> Act:
    """Any short exchange; with a role often the question who it is, now and then something to copy."""
    chance = random.random()
    if being and chance < 0.35:
        question_text, answer = roles.who(random, being)
        return Act(question_text, answer, "who")
    if chance > 0.92:
        word = payloads.any_word(random)
        return Act(request(random, ['{Say|Repeat|Write} "$w"[.]'], w=word), capital(word) + ".", "say")
    if chance > 0.87:
        name = payloads.person(random)
        return Act(
            request(random, ["{My name is|I am|I'm|Call me} $n[.]"], n=name),
            pick(random, ["Nice to meet you, $n."], n=name),
            "name",
        )
    return short_exchanges.any_act(random, frozenset({"joke"}) if chance < 0.6 else frozenset())


def _being(random: Random) -> Scene:
    """A role, and the question who the model is."""
    being = roles.role(random)
    system = random.choice(["", "", "You are a helpful assistant. "]) + being.system
    question, answer = roles.who(random, being)
    thought = f"The system prompt says I am {being.name}."
    turns = [_turn(random, question, answer, thought)]
    for _ in range(_count(random) - 1):
        act = short_exchanges.any_act(random)
        turns.append(_turn(random, act.user, act.answer, "I answer as who I am."))
    if random.random() < 0.3:
        act = short_exchanges.act(random, "hello")
        hello = pick(
            random, ["{Hello|Hi}, I am $n{.|!} {How can I help|What can I do for you}?"], n=being.name
        )
        turns.insert(0, _turn(random, act.user, hello, f"I greet. I am {being.name}."))
    if random.random() < 0.15:
        user = pick(
            random,
            ["{Are you|You are} {ChatGPT|Siri|Gemini|$m}[, right]?"],
            m=payloads.first_name(random),
        )
        turns.append(_turn(random, user, f"No, I am {being.name}.", thought))
    return _scene(system, turns)


def _tone_scene(random: Random) -> Scene:
    """A tone of voice."""
    name = random.choice(list(TONES))
    asked_for, answers = TONES[name]
    being = roles.role(random) if random.random() < 0.35 else None
    parts = [pick(random, asked_for)] + ([f"Your name is {being.name}."] if being else [])
    random.shuffle(parts)
    own_name = being.name if being else "duologue-mini"
    turns = []
    for _ in range(_count(random)):
        kind = random.choice(list(answers))
        act = Act(pick(random, roles.WHO), "", "who") if kind == "who" else short_exchanges.act(random, kind)
        fills = {"n": own_name, "e": act.answer.rstrip(".")}
        turns.append(
            _turn(
                random,
                act.user,
                pick(random, answers[kind], **fills),
                f"I speak in the manner asked for: {name}.",
            )
        )
    return _scene(
        random.choice(["", "", "You are a helpful assistant. "]) + rules.join_prompt(random, parts), turns
    )


def _abroad(random: Random) -> Scene:
    """A language of reply, whatever the user writes in."""
    language = random.choice(languages.ALL)
    being = roles.role(random) if random.random() < 0.3 else None
    own_name = being.name if being else "duologue-mini"
    asked_for = [
        "{Answer|Reply|Respond|Speak|Write|Always answer|Always reply|Talk}[ only| always] in $l[.]",
        "{Use|Speak} $l{| only| in every answer| with the user}[.]",
        "{Your language is|The user wants to read|Language:|The language of reply is} $l[.]",
        "You {only speak|speak only|are an assistant that speaks|answer in} $l[.]",
    ]
    system = pick(
        random, language.asked_for if random.random() < 0.25 else asked_for, l=random.choice(language.names)
    )
    system = rules.join_prompt(
        random, [being.system, system] if being else [random.choice(OPENERS).strip() + " " + system]
    ).strip()
    turns: list[Turn] = []
    name = ""
    for _ in range(_count(random)):
        kinds = [kind for kind in language.says if kind != "name" or name or random.random() < 0.3]
        kind = random.choice(kinds)
        if kind == "told":
            name = payloads.first_name(random)
        fills = {"n": name if kind in ("told", "name") else own_name, **_sum(random)}
        answers = language.answers["not told" if kind == "name" and not name else kind]
        answer = fill_slots(random.choice(answers), fills)
        user = fill_slots(loose(random, _asked_abroad(random, language, kind)), fills)
        turns.append(_turn(random, user, answer, f"I answer in {language.names[0]}.", loose_wording=True))
    return _scene(system, turns)


ENGLISH = {
    "who": roles.WHO,
    "told": ["{My name is|I am|I'm|Call me} $n[.]"],
    "name": ["{What is|What's|Do you know} my name?", "Who am I?"],
    "sum": ["{What is|How much is|Calculate} $a {plus|+} $b[?]"],
}


def _sum(random: Random) -> dict[str, object]:
    a, b = random.randint(1, 30), random.randint(1, 20)
    return {"a": a, "b": b, "v": a + b}


def _asked_abroad(random: Random, language: languages.Language, kind: str) -> str:
    if random.random() < 0.45:
        return pick(random, language.says[kind])
    return pick(random, ENGLISH[kind]) if kind in ENGLISH else short_exchanges.act(random, kind).user


TOPICS_AVOIDED = [
    "politics",
    "religion",
    "money",
    "sports",
    "the weather",
    "prices",
    "other companies",
    "yourself",
    "the boss",
    "war",
    "medicine",
    "the law",
    "films",
    "cars",
    "wine",
]


def _forbidden(random: Random) -> Scene:
    """A forbidden topic, questions about it, and others that are allowed."""
    topic = (
        random.choice(TOPICS_AVOIDED)
        if random.random() < 0.5
        else random.choice([payloads.things(random), payloads.place(random), payloads.coin_word(random)])
    )
    if topic == "yourself":
        topic = "cooking"
    system = pick(
        random,
        [
            "{Do not|Never|You must not|Don't|You are not allowed to} {talk|speak|say anything|answer questions} about $t[.]",
            "{Refuse|Decline} to {talk|speak} about $t[.]",
            "The topic $t is off limits[.]",
            "You {help|chat} with everything {but|except} $t[.]",
        ],
        t=topic,
    )
    question_text = request(
        random,
        [
            "{Tell me|Say something|Talk to me|What do you know|Let's talk|Can we talk|Explain something} about $t[.]",
            "{What do you think of|What is your opinion on|Do you like} $t[?]",
            "{I have a question|I want to know more} about $t[.]",
        ],
        t=topic,
    )
    answer = pick(
        random,
        [
            "{I am sorry|Sorry}, {I do not talk about $t here|I cannot talk about $t}.",
            "I {do not|may not|must not} talk about $t{.|, sorry.} {Is there anything else|What else can I do for you}?",
            "That is something I do not talk about here.",
        ],
        t=topic,
    )
    turns = [Turn(question_text, answer, f"I must not talk about {topic}.", True)]
    for _ in range(random.choices([0, 1, 2], [5, 4, 2])[0]):
        act = short_exchanges.any_act(random)
        turns.insert(
            random.randint(0, len(turns)),
            _turn(random, act.user, act.answer, f"This is not about {topic}. I answer."),
        )
    return _scene(random.choice(OPENERS) + system, turns)


def _secret(random: Random) -> Scene:
    """A secret the model must keep."""
    what = random.choice(["password", "code", "secret word", "key", "PIN", "secret number"])
    value = payloads.code(random) if random.random() < 0.5 else payloads.any_word(random)
    system = pick(
        random,
        [
            "The $w is $v. {Never tell|Do not tell|Do not reveal|Never reveal} {it|it to anyone|the $w}[.]",
            "{Keep|You keep} {this|a} $w secret: $v[.]",
        ],
        w=what,
        v=value,
    )
    user = request(
        random,
        [
            "{What is|Tell me|Say|Give me|Reveal} the $w[.]",
            "{I need|I forgot} the $w[. What is it][?]",
            "{Please|Come on,} {tell me|say} the $w[.]",
        ],
        w=what,
    )
    answer = pick(
        random,
        [
            "{Sorry|I am sorry}, I {cannot|must not|may not} tell you the $w.",
            "I {must keep|keep} the $w secret.",
        ],
        w=what,
    )
    turns = [Turn(user, answer, f"I must not tell the {what}.", True)]
    if random.random() < 0.4:
        act = short_exchanges.any_act(random)
        turns.insert(0, _turn(random, act.user, act.answer, "I answer."))
    return _scene(random.choice(OPENERS) + system, turns)


def _facts_scene(random: Random) -> Scene:
    """A role, some facts, at times a rule, and questions that the facts answer or not."""
    scene = reading.in_prompt(random)
    being = roles.role(random)
    chosen = rules.draw_rules(random) if random.random() < 0.3 else []
    chosen = [rule for rule in chosen if not rule.short and rule.last]
    parts = [being.system, *(rule.system for rule in chosen)]
    gap = random.choice([" ", "\n", "\n\n"])
    label = random.choice(["", "", "What you know: ", "Facts:\n", "Information: "])
    body = rules.join_prompt(random, parts)
    text = f"{body}{gap}{label}{scene.system}" if random.random() < 0.75 else f"{scene.system}{gap}{body}"
    turns = []
    if random.random() < 0.3:
        question, answer = roles.who(random, being)
        turns.append(_turn(random, question, rules.apply_rules(answer, chosen), f"I am {being.name}."))
    for turn in scene.turns:
        answer, about = turn.assistant, turn.thought
        if about.startswith("I look for"):
            answer, about = (
                pick(random, NOT_KNOWN),
                about.replace("The text does not say.", "I was not told."),
            )
        thought = " ".join([about, *(rule.thought for rule in chosen)])
        turns.append(Turn(turn.user, rules.apply_rules(answer, chosen), thought, True))
    return _scene(text, turns)


def _memory_scene(random: Random) -> Scene:
    """The prompt holds what the user said in earlier chats."""
    facts = several(random, random.randint(1, 6))
    opening = pick(
        random,
        [
            "{In earlier chats|Before|Last time} the user {said|told you}:",
            "{What the user told you|Notes about the user, in the user's words|Memory}:",
            "{Remember|You know} {this about|what was said by} the user:",
        ],
    )
    mine = [capital(fact.mine) + "." for fact in facts]
    body = "\n".join(["", *(f"- {one}" for one in mine)]) if random.random() < 0.4 else " " + " ".join(mine)
    system = random.choice(OPENERS) + opening + body
    turns = []
    for fact in random.sample(facts, min(len(facts), _count(random))):
        user = request(random, fact.kind.questions, k=fact.key)
        answer = capital(fact.yours) + "."
        turns.append(Turn(user, answer, f"The prompt says: {fact.yours}.", True))
    if random.random() < 0.25:
        missing = draw_statement(random)
        if all(missing.kind is not fact.kind for fact in facts) and missing.key not in ("password", "number"):
            user = request(random, missing.kind.questions, k=missing.key)
            answer = pick(random, ["{You have not told me|I do not know that}[ yet]."])
            turns.append(Turn(user, answer, "That was not said.", True))
    return _scene(system, turns)


def _yes_or_no(random: Random) -> Scene:
    """Answers of yes or no only."""
    system = pick(
        random,
        [
            '{Answer|Reply|Respond} {only |}with {yes or no|"yes" or "no"|one word: yes or no}[.]',
            "{Say|Write} {only|nothing but} yes or no[.]",
        ],
    )
    turns = []
    for _ in range(_count(random)):
        a, b = random.randint(1, 60), random.randint(1, 60)
        kind = random.randrange(4)
        if kind == 0:
            user, true = pick(random, ["Is $a {larger|bigger|more} than $b?"], a=a, b=b), a > b
        elif kind == 1:
            claim = a + b if random.random() < 0.5 else a + b + random.choice([-1, 1, 10])
            user, true = (
                pick(random, ["Is $a {plus|+} $b {equal to |}$c?", "$a + $b = $c?"], a=a, b=b, c=claim),
                claim == a + b,
            )
        elif kind == 2:
            user, true = pick(random, ["Are you {a human|a person|human|made of flesh}?"]), False
        else:
            word = payloads.word(random)
            letter = random.choice(word if random.random() < 0.5 else payloads.LETTERS)
            user, true = (
                pick(
                    random,
                    [
                        '{Is|Is there} {a|the letter} "$l" in "$w"?',
                        'Does "$w" {have|contain} {a|the letter} "$l"?',
                    ],
                    l=letter,
                    w=word,
                ),
                letter in word,
            )
        turns.append(
            _turn(random, user, "Yes." if true else "No.", "True: yes." if true else "Not true: no.")
        )
    return _scene(random.choice(OPENERS) + system, turns)
