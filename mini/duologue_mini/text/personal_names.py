"""Names people give themselves: known, invented, nicknames, now and then in another script."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.text import words
from duologue_mini.text.phrases import say

FAR_NAMES = "Пётр Оксана Ζωή Λέων 小明 美咲 지우 민준 أمل ليلى דוד नेहा Łucja Štěpán Željko Åsa Øyvind Ñandú Zoë Çağla Müge François João Siân".split()
NICKNAMES = (
    "xX_$w_Xx|$w99|mr_$w|$W42|the$w|$w-$v|$W von $V|Dr $W|little $w|O'$W|$W-$V|$w.$v|Mc$W|$W the $a".split(
        "|"
    )
)


def name(random: Random) -> str:
    """A person's name: known, invented, a nickname, now and then in another script."""
    chance = random.random()
    if chance < 0.04:
        return random.choice(FAR_NAMES)
    if chance < 0.12:
        first, second = words.invent_word(random), words.invent_word(random)
        return say(
            random,
            random.choice(NICKNAMES),
            w=first,
            v=second,
            W=first.capitalize(),
            V=second.capitalize(),
            a=random.choice(words.ADJECTIVES),
        )
    return f"{words.name(random)} {words.name(random)}" if chance < 0.2 else words.name(random)
