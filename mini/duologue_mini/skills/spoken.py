"""Skill: plain, short, speakable replies when the system prompt says they are read aloud.

Scenes of other skills, with their answers turned into speech.
"""

import re
from dataclasses import replace
from random import Random

from duologue_mini.conversation import short_exchanges
from duologue_mini.scene import Scene, Turn
from duologue_mini.skills import (
    arithmetic,
    farewells,
    greetings,
    identity,
    reading,
    recall,
    rewriting,
    stories,
)
from duologue_mini.system_prompts import roles
from duologue_mini.text.phrases import pick
from duologue_mini.text.requests import loose
from duologue_mini.text.speech import sayable, to_speech

SYSTEMS = [
    "{Your|The} {reply|answer|response|text} {will be|is|gets} {read aloud|spoken|read out|read out loud|spoken aloud|turned into speech}[ by a voice][.]",
    "{Your|All your} {replies|answers} {will be|are} {read aloud|spoken|read out loud|turned into speech|sent to a speaker}[ to the user][.]",
    "You are a {voice assistant|voice bot|speaking assistant|voice on the phone|talking clock|telephone assistant}. {Speak plainly|Use short sentences|No Markdown|Avoid symbols}[.]",
    "{Answer|Reply|Respond} {for the ear|as spoken words|in spoken style|as if you were speaking|the way people speak|as speech}[: no {Markdown|symbols|lists}, {numbers in words|short sentences}][.]",
    "{The user|The person} {hears|listens to|will hear} {you|your answers}[ through a speaker| on the phone]. {Write|Use} {no Markdown|no symbols|plain words|plain speech}[.]",
    "{This is a|You are on a} {voice call|phone call|spoken conversation|voice chat}. {Speak|Answer} {naturally|briefly|in plain words}[.]",
    "{No Markdown, no symbols|Do not use Markdown or symbols|No formatting}; {write|say} numbers {in|as} words. {The answer is spoken|It will be spoken}[.]",
    "{Write|Phrase} {everything|your reply} so that {it can be spoken|a voice can read it|it sounds right aloud|text to speech can read it}[.]",
    "{Text to speech|TTS|Voice mode|Speech output} is on[.|: {be brief|plain words only|no symbols}.]",
    "{Keep it short|Be brief|Be short} and {speakable|easy to say aloud|fit for speech}. {No lists|No tables|No code}[, no symbols][.]",
]
SILENT = re.compile(
    r"case|capital|caps|letters|bullet|quote|quotation|line|bold|italic|hyphen|dash|numbered|underscore|slash|spaces|heading|code|number |semicolon|arrow|plus sign|bracket|star|\bdots|commas|JSON",
    re.I,
)


def draw(random: Random) -> Scene:
    """A speech prompt around a scene of another skill."""
    kinds = [_talk, _small, _sums, _read, _memory_scene, _rewriting_scene, _tale]
    system = pick(random, SYSTEMS)
    if random.random() < 0.25:
        parts = [roles.role(random).system.replace("\n", ". "), system]
        system = " ".join(part.rstrip(".") + "." for part in random.sample(parts, 2))
    elif random.random() < 0.3:
        system = f"You are a helpful assistant. {system}"
    scene = random.choices(kinds, [10, 14, 20, 20, 14, 9, 8])[0](random)
    if scene.system:
        gap = random.choice([" ", "\n", "\n\n"])
        system = f"{system}{gap}{scene.system}" if random.random() < 0.5 else f"{scene.system}{gap}{system}"
    return Scene("spoken", [_as_speech(turn) for turn in scene.turns], system=system)


def _as_speech(turn: Turn) -> Turn:
    """The turn with its answers as speech."""
    after = to_speech(turn.after_thought) if turn.after_thought else None
    thought = f"{turn.thought}\nIt is read aloud: words only."
    return replace(turn, assistant=to_speech(turn.assistant), after_thought=after, thought=thought)


def _speakable(scene: Scene, longest: int = 400) -> bool:
    answers = [to_speech(turn.assistant) for turn in scene.turns]
    return all(sayable(answer) and 0 < len(answer) <= longest for answer in answers)


def _numbers(scene: Scene) -> bool:
    """Whether an answer holds digits."""
    return any(letter.isdigit() for turn in scene.turns for letter in turn.assistant)


def _talk(random: Random) -> Scene:
    scene = random.choices([greetings, farewells, identity], [5, 3, 4])[0].draw(random)
    has_large_numbers = any("million" in turn.assistant or not _speakable(scene) for turn in scene.turns)
    return _talk(random) if has_large_numbers else scene


def _small(random: Random) -> Scene:
    exchanges = [short_exchanges.any_act(random) for _ in range(random.choices([1, 2, 3], [6, 3, 1])[0])]
    turns = [
        Turn(loose(random, act.user), act.answer, "I answer in a short sentence.", True) for act in exchanges
    ]
    return Scene("acts", turns)


def _sums(random: Random) -> Scene:
    while True:
        scene = arithmetic.draw(random)
        if _speakable(scene, 220):
            return scene


def _read(random: Random) -> Scene:
    while True:
        scene = reading.draw(random)
        if _speakable(scene) and (_numbers(scene) or random.random() < 0.4):
            return scene


def _memory_scene(random: Random) -> Scene:
    while True:
        scene = recall.draw(random)
        if len(scene.turns) <= 6 and _speakable(scene) and (_numbers(scene) or random.random() < 0.3):
            return scene


def _rewriting_scene(random: Random) -> Scene:
    while True:
        scene = rewriting.draw(random)
        if not any(SILENT.search(turn.user) for turn in scene.turns) and _speakable(scene):
            return scene


def _tale(random: Random) -> Scene:
    while True:
        scene = stories.draw(random)
        if _speakable(scene, 700):
            return scene
