"""Skill: help about Duologue: any topic of `facts/`, any name of `glossary.py`, and follow-up questions.

Questions of the same shape about other software, or about things Duologue does not have, get an honest "I do not know".
"""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.facts import FACTS, lookups
from duologue_mini.facts.fact import Fact
from duologue_mini.facts.snippets import SNIPPETS
from duologue_mini.inquiries import INQUIRIES, Inquiry
from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.locations import address, domain, folder, model_file, port
from duologue_mini.text.phrases import capital, pick, say

GOAL = [
    "{How do I|How can I|How to|How would I|How could I|How does one|How should I} $goal?",
    "{How do I|How can I|How to} $goal?",
    "{Can I|Could I|Is it possible to|Is there a way to|Is there any way to|Am I able to} $goal?",
    "{I want to|I'd like to|I need to|I have to|I'm trying to|I would like to|I wish to} $goal{.|, how?|. How?|. What do I do?|. Any idea?}",
    "{What do I have to do|What do I do|What's the way|What is the command|Which command is there|What do I need} to $goal?",
    "{Tell me|Show me|Explain|Can you tell me|Could you explain|Do you know|Please explain|Teach me|Can you show me} how to $goal[ please][.]",
    "{I don't know|I do not know|No idea|Not sure|I forgot|I can't find out|Nobody told me} how to $goal[.]",
    "{Help me|Please help me|I need help to|I need your help to|Can you help me} $goal[.]",
    "{What's|What is} the {best|easiest|quickest|right|proper} way to $goal?",
    "$goal{?|: how?|, how does that work?|, how do I do that?|, possible?}",
    "{How 2|howto|how do you|steps to|command to} $goal",
]
THING = [
    "{Tell me|Tell me something|Can you tell me} about $thing[.]",
    "{I have a question about|A question about|Question about|I need help with|Help with|Help me with|Info on|More on|Something on} $thing[.]",
    "{What about|How about|What's with|What's up with|And} $thing?",
    "{What can you tell me|What do you know|What should I know} about $thing?",
    "{How does $thing work|How is it with $thing|Please explain $thing}[?]",
    "$thing?",
]
TROUBLE = [
    "$trouble{.||!}",
    "$trouble{, what now|, what can I do|, what do I do|, any idea|, how do I fix that|. What is wrong|. What does that mean|. Help|, can you help}?",
    "{Help|Help!|Hm,|Hmm,|Argh,|Ugh,|Oh no,|Sorry, but|So,|Weird:} $trouble[.]",
    "{What does it mean when|What do I do when|What should I do if|What can I do if|What if} $trouble?",
    "{I have a problem:|It's not working:|Problem:|Strange:|Something is off:} $trouble[.]",
]
AFTER = {
    "goal": [
        "{And|Ok, and|Great, and|Thanks. And|Good. And|Okay. And now,} {how do I|how can I|how to} $goal?",
        "{What if I want to|And if I want to|And what do I do to|Can I also|And can I} $goal?",
    ],
    "thing": ["{And|What about|How about|And what about|Ok, and} $thing?"],
    "trouble": ["{But|Hm,|Now|Ok, but|I tried, but} $trouble[.]", "{And if|And what if|What if} $trouble?"],
}
WHERE = [
    "{Where|In which file|On which page} {is that written|can I read that|does it say so|is that documented|can I read more|do I find that}[ in the docs]?",
    "{Is that|Is this} {documented|in the docs} somewhere?",
    "{Source|Link|More details|Where do you have that from|Tell me more|More about it|Do the docs say so}[?]",
]
WHERE_ANSWERS = [
    "{It is in|See|That is in|You find it in|Read} $page{.| of the project.| in the project's folder.}",
    "$page {has it|tells more|says more about it}.",
]
SHORTER = [
    "{Shorter|Shorter please|Too long|In one line|In short|Briefly|In one sentence|Make it shorter|Can you say that shorter|The short version|tl;dr|tldr|Just the command|Only the essence}[ please][?|.]",
]
SURE = [
    "{Are you sure|Are you certain}[ about that]?",
    "{Really|Is that right|Sure|Is that true|Do you know that for sure}?",
]
SURE_ANSWERS = [
    "Yes, {that is how|so} $page has it.",
    "{Yes|Yes, I am}: it is in $page. {You can check it there|Please check there if in doubt}.",
]
AGAIN = [
    "{Say that again|Once more|Again please|Can you repeat that|Repeat that|What did you say|Pardon|Sorry, what|Come again|Please repeat your answer|I did not get that, say it again|What was that}[?|.|, please]",
]
OTHERS = (
    "nginx|Apache|Ollama|vLLM|LM Studio|Docker|Kubernetes|Photoshop|Word|Excel|Firefox|Chrome|Windows|my printer|my router|"
    "Postgres|MySQL|Redis|Git|VS Code|Vim|WordPress|Minecraft|Steam|Blender|GIMP|OBS|Spotify|Slack|Zoom|Discord|Telegram|"
    "WhatsApp|Gmail|Outlook|Home Assistant|Plex|Jellyfin|Nextcloud|Grafana|Prometheus|Caddy|Traefik|llama.cpp|Django|Node|"
    "npm|pip|Ubuntu|my phone|my TV|my car radio|Android|an iPhone|PyTorch|Jupyter|Terraform|Ansible|Jenkins|GitLab"
).split("|")
OTHER_ASK = [
    "{How do I|How can I|How to|Can you tell me how to|I want to|What's the command to} {start|install|stop|update|configure|restart|uninstall|set up|speed up|fix|debug|back up} $other?",
    "{How do I|How can I|Where do I} {change|set} the {port|password|theme|data folder|language|log level|settings} {of|in|for} $other?",
    "{Where|In which folder} does $other {keep|store} its {data|logs|settings|models|files}?",
    "{What|Which} port does $other use?",
    "$other {does not start|is slow|crashes|shows an error|says the port is in use|won't open}[, what now|. Help][?|.]",
    "{Does $other have an API|Can $other use a GPU|Can $other run offline|Can $other read GGUF files}?",
]
OTHER_ANSWERS = [
    "{I know only Duologue|Duologue is all I know about}; {for $other please see its own documentation|$other is beyond me}.",
    "That is about $other, {and I only know my way around Duologue|and I know only Duologue}. {Its own manual will tell|A larger model may know: `duologue serve --model FILE.gguf`}.",
    "{Sorry|I am sorry}, $other is beyond me: I can help with Duologue only.",
]
UNKNOWN = [
    ("{What is $x[ for]|What does $x do|Can you explain $x}?", "setting"),
    ("{Is there|Does it have} a {flag|setting|option} {called|named} $x?", "setting"),
    ("{What happens|What does it do} when I {set|use|give} $x?", "setting"),
    ("What {is the {address|endpoint|path} $x|does the {address|endpoint|path} $x do}?", "address"),
    ("What {does the {error|code|error code} $x mean|is {the error|the code} $x}?", "code"),
    ("{I get|It says|The server says} $x{, what now?|.|. What is that?}", "code"),
    ("What {does {the command |}`duologue $w` do|is {the command |}`duologue $w`[ for]}?", "command"),
]
UNKNOWN_ANSWERS = {
    "setting": [
        "{I know no $x|There is no $x that I know of|$x is unknown to me}. `duologue serve --help` lists the flags, and docs/running.md all settings.",
        "I do not know $x. {All settings are in|The table of settings is in} docs/running.md.",
    ],
    "address": ["I know no address $x. The addresses are in docs/running.md and docs/protocols.md."],
    "code": [
        "I do not know {the code |}$x. All codes are in docs/errors.md.",
        "$x is none that I know; docs/errors.md lists them all.",
    ],
    "command": [
        "I know no such command. `duologue --help` lists those there are.",
        "There is no `duologue $w` that I know of; `duologue --help` lists the commands.",
    ],
}
FEATURES = (
    "Anthropic's API|the Realtime API|embeddings|avatars|video|Windows support|several machines|live video|video calls|"
    "a camera in calls|screen sharing|workers on other machines|the Responses API|an avatar|a talking head"
).split("|")


def draw(random: Random) -> Scene:
    """A question for help, often with one or two follow-ups."""
    kind = random.choices(["topic", "name", "unknown", "other"], [64, 20, 6, 10])[0]
    if kind == "unknown":
        return Scene("guide", [unknown_turn(random)])
    if kind == "other":
        return Scene("guide", [other_turn(random)])
    turns = [lookups.turn(random)] if kind == "name" else _topic_turns(random)
    return Scene("guide", turns)


def fills(random: Random) -> dict[str, str]:
    """The slots with the user's own words, and the snippets."""
    feature = random.choice(FEATURES)
    return {
        **SNIPPETS,
        "port": port(random),
        "file": model_file(random),
        "url": address(random),
        "folder": folder(random),
        "domain": domain(random),
        "user": _user(random),
        "model": random.choice(MODEL_NAMES)
        if random.random() < 0.7
        else f"{words.invent_word(random)}-{random.randint(1, 70)}b",
        "small": feature,
        "feature": capital(feature),
    }


def _user(random: Random) -> str:
    """A user name as typed in a terminal, long enough not to be the beginning of another word."""
    name = ""
    while len(name) < 4:
        name = words.name(random)
    return name.lower() if random.random() < 0.6 else name


GIVEN = ("port", "file", "url", "folder", "domain", "model", "user")
"""Slots with the user's own words, which the answer repeats."""
MODEL_NAMES = "qwen3-4b qwen3-8b qwen3-0.6b qwen3-1.7b qwen3-14b qwen3.5-4b qwen3.5-9b gemma-4-e2b gemma-4-e4b gemma-4-12b ministral-3-8b gpt-oss-20b".split()
TOPICS = list(INQUIRIES)
NEXT = {
    "what": ["start", "needs", "licence", "model", "not yet", "privacy"],
    "start": ["port given", "port given", "stop", "page", "model given", "first", "port taken", "expose"],
    "first": ["start", "needs", "stop"],
    "page": ["port given", "expose", "login", "unreachable", "page missing"],
    "port": ["port given", "port given", "port taken", "config", "port zero"],
    "port given": ["port given", "port given", "port taken", "expose", "data given"],
    "port taken": ["port given", "stop", "port zero"],
    "stop": ["start", "restart", "after restart", "cancel"],
    "model": ["model given", "setup", "pull", "load", "gpu", "slow", "upstream", "models where", "workers"],
    "model given": ["model given", "model broken", "slow", "context", "gpu", "models where", "config"],
    "setup": ["pull", "models list", "model broken", "not yet"],
    "voice": ["call", "dictation", "read out", "voice missing", "voice languages", "voice private"],
    "call": ["interrupt", "hold", "microphone", "not heard", "call typing", "mute", "call ended"],
    "microphone": ["https", "trust", "voice missing", "not heard"],
    "not heard": ["recogniser", "voice languages", "microphone", "hold"],
    "recogniser": ["speaker", "voice remote", "voice languages", "slow"],
    "read out": ["voices", "speaker", "dictation"],
    "voices": ["speaker", "imitate", "read out"],
    "listen": ["subtitles", "transcription api", "recogniser"],
    "speech api": ["transcription api", "voices", "voice socket"],
    "models page": ["load", "download page", "unload", "admin page", "models where"],
    "load": ["load forgotten", "unload", "load sizes", "load refused", "chat model", "load api"],
    "unload": ["load", "no model", "models rm", "memory"],
    "load refused": ["unload", "load sizes", "memory"],
    "download page": ["load", "pull broken", "models api", "models rm"],
    "workers": ["load", "chat model", "aliases", "worker restart"],
    "pull": ["download page", "models where", "pull given", "models rm", "pull broken", "models list"],
    "pull given": ["pull given", "pull broken", "models where", "slow"],
    "upstream": ["upstream given", "upstream key", "upstream model", "upstream down"],
    "upstream given": ["upstream given", "upstream key", "upstream model", "upstream down", "workers"],
    "expose": ["key", "https", "trust", "people", "insecure", "host refused", "login", "proxy"],
    "https": ["trust", "trust iphone", "trust android", "certificate", "proxy", "insecure"],
    "trust": ["trust iphone", "trust android", "trust computer", "certificate"],
    "proxy": ["proxy given", "base path", "proxies", "host refused", "origin"],
    "base path": ["proxy", "proxies", "say elsewhere"],
    "people": ["key given", "key list", "admin", "disable", "privacy", "queue"],
    "admin": ["role given", "disable", "last admin", "admin page"],
    "role": ["role given", "admin", "disable given"],
    "disable": ["disable given", "enable given", "key revoke", "last admin"],
    "keys page": ["key given", "role", "disable", "key revoke"],
    "admin page": ["worker restart", "metrics", "queue", "keys page"],
    "key": ["key given", "key sending", "key list", "key revoke", "key first", "login", "expose", "admin"],
    "key given": ["key given", "key list", "key revoke given", "login", "admin"],
    "key list": ["key revoke", "key revoke given", "key lost"],
    "key revoke": ["key revoke given", "key list", "key all", "key lost"],
    "key lost": ["key revoke", "key given", "login"],
    "api": [
        "curl",
        "python",
        "javascript",
        "streaming",
        "key sending",
        "tools api",
        "socket",
        "conversation api",
    ],
    "python": ["streaming", "tools api", "thinking", "javascript"],
    "curl": ["python", "streaming", "key sending"],
    "socket": ["cancel", "queue", "thinking", "tools api"],
    "thinking": ["thinking off", "effort", "thinking first", "thoughts open", "slow", "cancel"],
    "queue": ["slots", "queue full", "people"],
    "data": ["data given", "chats", "backup", "data taken", "models where", "postgres"],
    "data given": ["data given", "port given", "chats"],
    "chats": [
        "search",
        "export",
        "backup",
        "temporary",
        "devices",
        "tab closed",
        "privacy",
        "delete chat",
        "postgres",
    ],
    "tab closed": ["devices", "after restart", "meanwhile", "continue"],
    "meanwhile": ["hurry", "cancel", "tab closed"],
    "after restart": ["continue", "tab closed", "backup"],
    "devices": ["expose", "tab closed", "login"],
    "search": ["folders", "archive", "title", "export", "chats lost"],
    "folders": ["tags", "archive", "pins", "many chats", "list"],
    "archive": ["search", "undelete", "many chats"],
    "export": ["import", "backup", "search"],
    "import": ["import broken", "export", "search"],
    "backup": ["backup given", "restore", "postgres", "export"],
    "backup given": ["restore", "backup given"],
    "temporary": ["privacy", "delete chat", "chats"],
    "delete chat": ["undelete", "temporary", "folders"],
    "edit": ["branches", "edit reply", "continue", "chat model", "delete chat"],
    "compact": ["gauge", "context", "too long"],
    "gauge": ["compact", "context"],
    "tools": ["mcp", "built in", "approvals", "tools api", "mcp given"],
    "built in": ["tools in chat", "built in off", "mcp", "search", "private addresses"],
    "mcp": [
        "prompts",
        "resources",
        "server off",
        "mcp given",
        "mcp command",
        "mcp file",
        "approvals",
        "mcp broken",
        "mcp login",
    ],
    "mcp given": ["mcp given", "mcp broken", "mcp login", "approvals"],
    "mcp command": ["mcp file", "mcp broken", "approvals"],
    "approvals": ["approvals fewer", "approvals late", "tools", "devices"],
    "files": ["paste", "documents", "images", "files large", "files kept"],
    "keyboard": ["palette", "shortcuts change", "enter key", "search"],
    "palette": ["keyboard", "shortcuts change", "search"],
    "page settings": ["theme", "page language", "shortcuts change", "page settings kept", "ui defaults"],
    "theme": ["text size", "page language", "page settings kept"],
    "drafts": ["tab closed", "devices", "meanwhile", "browser traces"],
    "app": ["server away", "https", "page outdated"],
    "code blocks": ["preview", "maths", "diagrams", "copying"],
    "documents": ["images", "files large", "files kept"],
    "postgres": ["backup", "chats", "storage"],
    "privacy": ["chats", "temporary", "logs", "offline", "people"],
    "health": ["metrics", "logs", "doctor"],
    "logs": ["verbose", "request id", "privacy"],
    "trouble": ["doctor", "port taken", "model broken", "logs", "not found"],
    "worker died": ["memory", "logs", "model failed"],
    "config": ["precedence", "environment", "settings"],
    "licence": ["code", "version", "what"],
}
"""Topics that people tend to ask about next."""
WEIGHTS = [inquiry.weight for inquiry in INQUIRIES.values()]


def topic_turn(random: Random, name: str, slots: dict[str, str], *, later: bool = False) -> Turn:
    """A question about the topic `name`, and its answer."""
    return _turn(random, FACTS[name], _question(random, INQUIRIES[name], slots, later=later), slots)


def _topic_turns(random: Random) -> list[Turn]:
    name = random.choices(TOPICS, WEIGHTS)[0]
    slots = fills(random)
    fact = FACTS[name]
    turns = [_turn(random, fact, _question(random, INQUIRIES[name], slots), slots)]
    chance = random.random()
    if chance < 0.1:
        turns.append(_about_answer(random, fact, turns[0].assistant, slots))
    elif chance < 0.3:
        near = NEXT.get(name)
        other = random.choice(near) if near and random.random() < 0.7 else random.choices(TOPICS, WEIGHTS)[0]
        slots = fills(random)
        turns.append(
            _turn(random, FACTS[other], _question(random, INQUIRIES[other], slots, later=True), slots)
        )
        if random.random() < 0.2:
            turns.append(_about_answer(random, FACTS[other], turns[1].assistant, slots))
    return turns


def _question(random: Random, inquiry: Inquiry, slots: dict[str, str], *, later: bool = False) -> str:
    """A wording of the question; `later` if it follows another question."""
    forms = [
        (kind, wording)
        for kind, wordings in (
            ("goal", inquiry.goals),
            ("thing", inquiry.things),
            ("trouble", inquiry.troubles),
        )
        for wording in wordings
    ]
    if inquiry.asks and (not forms or (not later and random.random() < 0.35)):
        return _begun(pick(random, list(inquiry.asks), **slots), slots)
    kind, wording = random.choice(forms)
    request = say(random, wording, **slots)
    if later and inquiry is INQUIRIES.get("port given") and random.random() < 0.5:
        return pick(
            random,
            ["{And|What about|Or|Ok, and} {on|with} port $port?", "{And on|Rather|No,} $port[?]"],
            **slots,
        )
    frames = AFTER[kind] if later else {"goal": GOAL, "thing": THING, "trouble": TROUBLE}[kind]
    return _begun(pick(random, frames, **{kind: request}), slots)


def _begun(text: str, slots: dict[str, str]) -> str:
    """The text with a capital, unless it begins with a name that must stay lower case."""
    inputs = tuple(slots[name] for name in GIVEN)
    return f"What about {text}" if text.startswith(inputs) else capital(text)


def _turn(random: Random, fact: Fact, user: str, slots: dict[str, str]) -> Turn:
    pattern = random.choice(fact.answers)
    answer = say(random, pattern, **slots)
    brief = say(random, fact.brief, **slots)
    thought = pick(
        random,
        ["{The user asks about|This is about|A question about} $subject. $brief"],
        subject=fact.subject,
        brief=brief,
    )
    copies = any(f"${name}" in pattern and slots[name] in answer for name in GIVEN)
    return Turn(user, answer, thought, exact=copies)


def _about_answer(random: Random, fact: Fact, answer: str, slots: dict[str, str]) -> Turn:
    """A turn about the answer before: its source, shorter, again, or whether the model is sure."""
    kind = random.choice(["where", "shorter", "sure", "again"])
    if kind == "where":
        return Turn(
            pick(random, WHERE), pick(random, WHERE_ANSWERS, page=fact.page), f"That stands in {fact.page}."
        )
    if kind == "shorter":
        return Turn(pick(random, SHORTER), say(random, fact.brief, **slots), "The user wants it shorter.")
    if kind == "sure":
        return Turn(
            pick(random, SURE),
            pick(random, SURE_ANSWERS, page=fact.page),
            f"It stands in {fact.page}, so I am sure.",
        )
    return Turn(pick(random, AGAIN), answer, "The user wants to hear it again. I repeat my last answer.")


def other_turn(random: Random) -> Turn:
    """The same kind of question about other software."""
    other = random.choice(OTHERS) if random.random() < 0.7 else words.invent_word(random).capitalize()
    user = capital(pick(random, OTHER_ASK, other=other))
    answer = pick(random, OTHER_ANSWERS, other=other.replace("my ", "your "))
    return Turn(
        user,
        capital(answer),
        f"This is about {other}, not about Duologue. I say that I do not know.",
        exact=True,
    )


def unknown_turn(random: Random) -> Turn:
    """A question about a name of the right form that Duologue does not have."""
    pattern, kind = random.choice(UNKNOWN)
    first, second = words.invent_word(random), words.invent_word(random)
    shapes = {
        "setting": [
            f"--{first}",
            f"--{first}-{second}",
            f"{first}_{second}",
            f"DUOLOGUE_{first.upper()}",
            f"{first}.{second}",
        ],
        "address": [f"/{first}", f"/api/{first}", f"/v1/{first}", f"/v1/{first}/{second}", f"/ws/{first}"],
        "code": [
            f"{first}_{second}",
            f"{first}_failed",
            f"{first}_refused",
            f"no_{first}",
            f"{first}_missing",
        ],
        "command": [first],
    }
    name = random.choice(shapes[kind])
    user = capital(say(random, pattern, x=name, w=first))
    answer = capital(pick(random, UNKNOWN_ANSWERS[kind], x=f"`{name}`", w=first))
    return Turn(user, answer, "I know no such name, and I say so.", exact=True)
