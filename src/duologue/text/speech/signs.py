"""Addresses, emoji and stray signs in text for speech, in any language.

Web addresses are reduced to their host; emoji and signs without a spoken form are removed. Used by `normalise`.
"""

from __future__ import annotations

import re

from duologue.text.speech.mapped_text import MappedText, Replacement
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


def spell_addresses(text: MappedText, language: str) -> None:
    """Spell out mail addresses, host names and file names; reduce web addresses to their host."""
    dot, at = (f" {table.get(language, table['en'])} " for table in (DOT, AT))
    signs = {"_": UNDERSCORE, "-": DASH, "+": {"en": "plus", "de": "plus"}}

    def spelled(part: str) -> str:
        for sign, table in signs.items():
            part = part.replace(sign, f" {table.get(language, table['en'])} ")
        return part.replace(".", dot)

    def address(match: re.Match[str]) -> Replacement:
        return f"{spelled(match[1])}{at}{match[2].replace('.', dot)}"

    def host(match: re.Match[str]) -> Replacement:
        name = (match[1] or match[2]).rstrip(".,;!?")
        ends = re.search(r"[.,;:!?)]*$", match[0])
        return name.replace(".", dot) + (ends[0] if ends else "")

    def name(match: re.Match[str]) -> Replacement:
        return match[0].replace(".", dot)

    if "@" in text.text:
        text.rewrite(_EMAIL, address)
    text.rewrite(_URL, host)
    if "." in text.text:
        text.rewrite(_NAME, name)


def remove_emoji(text: MappedText) -> None:
    """Remove emoji and emoticons."""
    text.rewrite(_EMOJI, " ")
    text.rewrite(_FACES, "")


def remove_stray_signs(text: MappedText) -> None:
    """Remove signs without a spoken form, then the spaces and punctuation left over."""
    for pattern, replacement in (*STRAY, *TIDY):
        text.rewrite(pattern, replacement)
