"""Addresses, emoji and stray signs in a text that is to be read aloud, in whatever language.

Owns what is said briefly (a web address is its host) and what is not said at all. Knows no numbers and no markup.
"""

from __future__ import annotations

import re

from duologue.text.speech.mapped_text import Made, Mapped
from duologue.text.speech.strip_markup import Rule

DOT = {"en": "dot", "de": "Punkt", "fr": "point", "es": "punto", "it": "punto", "pt": "ponto"}
AT = {"en": "at", "de": "ät", "fr": "arobase", "es": "arroba", "it": "chiocciola", "pt": "arroba"}
DASH = {"en": "dash", "de": "Bindestrich"}
UNDERSCORE = {"en": "underscore", "de": "Unterstrich"}

_EMAIL = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})")
_URL = re.compile(
    r"(?:https?|ftp|wss?)://(?:www\.)?([^\s/?#:()<>\"'`]{1,253})(?::\d{1,5})?(?:[/?#][^\s<>\"'`]{0,2000})?|\bwww\.([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})(?:/[^\s<>\"'`]{0,2000})?"
)
_NAME = re.compile(r"(?<![\w./@-])((?:[A-Za-z][\w-]{1,62}\.)+)([a-z][a-z0-9]{1,9})(?![\w@]|\.\w)")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\U0001fb00-\U0001fbff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25a0-\u25ff\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f]+"
)
_FACES = re.compile(r"(?<!\S)(?:[:;=8][-o']?[)(DPp/|\\]|<3|\^\^|[xX]D)(?!\S)")

_SPACE: Rule = (re.compile(r"\s+"), lambda match: None if match[0] == " " else " ")
STRAY: list[Rule] = [
    _SPACE,
    (re.compile(r"[“”„‟«»‹›\"「」『』《》]"), ""),
    (re.compile(r"[’‘‛`´](?=\w)"), "'"),
    (re.compile(r"[’‘‛`´]"), ""),
    (re.compile(r"\(\s?\)|\[\s?\]|\{\s?\}"), ""),
    (re.compile(r"(?<=\w)\s*[(\[{]\s*(?=\w)"), ", "),
    (re.compile(r"[)\]}](?=\s+\w)"), ","),
    (re.compile(r"[()\[\]{}]"), ""),
    (re.compile(r" ?(?:—| [–-]{1,3}(?= )|–(?= )|-{2,3}) ?"), ", "),
    (re.compile(r"(?<=\w)_+(?=\w)"), " "),
    (re.compile(r"(?<!\d)/|/(?!\d)"), " "),
    (re.compile(r"(?<=\w)[–‑](?=\w)"), "-"),
    (re.compile(r"(?<!\w)@(?=\w)"), "at "),
    (re.compile(r"[*_~^|<>#@\\=•·†‡™®¬¦¨¯´¸]+"), " "),
    (re.compile(r"(?<!\w)-+(?!\d)|-+(?!\w)"), ""),
]
TIDY: list[Rule] = [
    _SPACE,
    (re.compile(r" (?=[,.;:!?…](?:\s|$))"), ""),
    (re.compile(r"(?:[,;:] ?){2,}"), ", "),
    (re.compile(r"[,;:] ?(?=[.!?])"), ""),
    (re.compile(r"(?<=[.!?…])[ ]?[,;:](?=\s|$)"), ""),
    (re.compile(r"\.{2,}"), lambda match: "..." if match[0] != "..." else None),
    (re.compile(r"(?<=[!?:,;])\.(?!\.)"), ""),
    (re.compile(r"^[\s,;:.!?…]+(?=\w)"), ""),
    (re.compile(r"^[\s,;:.!?…-]+$|^\s+|\s+$"), ""),
]


def addresses(text: Mapped, language: str) -> None:
    """Mail addresses and names of hosts and files as they are said, web addresses by their host."""
    dot, at = (f" {table.get(language, table['en'])} " for table in (DOT, AT))
    signs = {"_": UNDERSCORE, "-": DASH, "+": {"en": "plus", "de": "plus"}}

    def spelled(part: str) -> str:
        for sign, table in signs.items():
            part = part.replace(sign, f" {table.get(language, table['en'])} ")
        return part.replace(".", dot)

    def address(match: re.Match[str]) -> Made:
        return f"{spelled(match[1])}{at}{match[2].replace('.', dot)}"

    def host(match: re.Match[str]) -> Made:
        name = (match[1] or match[2]).rstrip(".,;!?")
        ends = re.search(r"[.,;:!?)]*$", match[0])
        return name.replace(".", dot) + (ends[0] if ends else "")

    def name(match: re.Match[str]) -> Made:
        return match[0].replace(".", dot)

    if "@" in text.text:
        text.rewrite(_EMAIL, address)
    text.rewrite(_URL, host)
    if "." in text.text:
        text.rewrite(_NAME, name)


def without_emoji(text: Mapped) -> None:
    """Pictures say nothing aloud."""
    text.rewrite(_EMOJI, " ")
    text.rewrite(_FACES, "")


def tidied(text: Mapped) -> None:
    """Drop the signs that say nothing, and what that leaves behind."""
    for pattern, made in (*STRAY, *TIDY):
        text.rewrite(pattern, made)
