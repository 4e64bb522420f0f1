"""Removes Markdown and HTML from text for speech.

A code block becomes "a code block", a link its text, a table its rows. Runs before the rules for numbers and signs. Every
rule is linear in the text: no pattern may backtrack over what it has matched.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from duologue.text.speech.mapped_text import MappedText, Replacement

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], Replacement | None] | Replacement]

CODE_BLOCK = {
    "en": "a code block",
    "de": "ein Codeblock",
    "fr": "un bloc de code",
    "es": "un bloque de código",
}

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(?:(?<=~)[^\n]*|[^`\n]*)(?:\n|\Z)", re.MULTILINE)
_SENTENCE = ".!?:;…。！？"

# Collapse whitespace first, so that no later rule scans a long run of it.
SPACE: list[Rule] = [
    (re.compile(r"(?<=[^\S\n])[^\S\n]+"), ""),
    (re.compile(r"(?<=\n)\s*\n"), "\n"),
]
# Inline markup.
INLINE: list[Rule] = [
    (re.compile(r"\\[*_`#~|]"), ""),
    (re.compile(r"<!--.{0,2000}?-->", re.DOTALL), " "),
    (re.compile(r"<((?:https?://|mailto:)?[^\s<>@]{1,200}(?:@|\.|//)[^\s<>]{1,300})>"), (1,)),
    (re.compile(r"<br\s{0,3}/?>", re.IGNORECASE), "\n"),
    (re.compile(r"</?[A-Za-z][\w:-]{0,40}(?:\s[^<>]{0,500})?/?>"), " "),
    (re.compile(r"&(?:[A-Za-z]{2,24}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});"), lambda match: _entity(match[0])),
    (re.compile(r"^[ \t]{0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]*\S{1,500}[^\n]*", re.MULTILINE), ""),
    (re.compile(r"\[\^[^\]\s]{1,60}\]:?"), ""),
    (
        re.compile(
            r"!?\[([^\[\]\n]{0,500})\]\((?:[^()\s]|\([^()\s]{0,100}\)){0,2000}(?:\s[^()\n]{0,200})?\)"
        ),
        (1,),
    ),
    (re.compile(r"!?\[([^\[\]\n]{1,500})\]\[[^\[\]\n]{0,100}\]"), (1,)),
    (re.compile(r"(`{1,4})([^`\n]{1,500})\1(?!`)"), (2,)),
    (re.compile(r"`+"), ""),
    (re.compile(r"~~"), ""),
    (re.compile(r"(?<![\w*])\*+(?=[^\s*])|(?<=[^\s*])\*+(?![\w*])|(?<=\w)\*\*+(?=\w)"), ""),
    (re.compile(r"(?<![^\W_])_+(?=[^\W_])|(?<=[^\W_])_+(?![^\W_])"), ""),
    (re.compile(r"\\([\\{}\[\]()+.!<>$-])"), (1,)),
]
# Markup at the beginning of a line.
LINES: list[Rule] = [
    (re.compile(r"^[ \t]{0,20}(?:>[ \t]?){1,20}", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})$", re.MULTILINE), ""),
    (
        re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+([^\n]*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE),
        lambda match: _line(match),
    ),
    (
        re.compile(r"^[ \t]{0,20}(?:[-*+•‣◦][ \t]+)(?:\[[ xX]\][ \t]+)?([^\n]*)", re.MULTILINE),
        lambda match: _line(match),
    ),
    (
        re.compile(r"^[ \t]{0,20}(\d{1,3})[.)][ \t]+([^\n]*)", re.MULTILINE),
        lambda match: _numbered(match),
    ),
]
_RULED = re.compile(r"^[ \t]*\|[ \t:|-]+$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|[^\n]*$", re.MULTILINE)
_BARS = re.compile(r"[ \t]*\|[ \t]*")
_BREAK = re.compile(r"(?<=[\w)%])[ \t]*\n\s*")


def strip_markup(text: MappedText, language: str) -> None:
    """Remove the markup, in place."""
    replace_code_blocks(text, language)
    rows = _ROW.search(text.text) is not None
    if rows:
        text.rewrite(_RULED, "")
    for pattern, replacement in (*SPACE, *LINES, *INLINE):
        text.rewrite(pattern, replacement)
    if rows:
        text.rewrite(_BARS, _bar)
    text.rewrite(_BREAK, _line_break)


def replace_code_blocks(text: MappedText, language: str) -> None:
    """Replace each code block by its name in `language`."""
    if "```" not in text.text and "~~~" not in text.text:
        return
    name = CODE_BLOCK.get(language, CODE_BLOCK["en"])
    blocks: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text.text):
        bare = match[0].strip(" \t>\n")
        if opened is None:
            opened = match.start(), match[1]
        elif set(bare) == {opened[1][0]} and len(bare) >= len(opened[1]):
            blocks.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        blocks.append((opened[0], len(text.text)))
    for begin, end in reversed(blocks):
        text.rewrite_range(begin, end, f"{name}.\n")


def _entity(text: str) -> str | None:
    character = html.unescape(text)
    return None if character == text else character.replace("\u00a0", " ")


def _ends(text: str) -> bool:
    return text.rstrip("\"'”’»)*_`~# \t")[-1:] in (*_SENTENCE, ",", "")


def _line(match: re.Match[str]) -> Replacement:
    """A heading or list item, ended like a sentence."""
    return (1,) if _ends(match[1]) else (1, ".")


def _numbered(match: re.Match[str]) -> Replacement:
    return (1, ", ", 2) if _ends(match[2]) else (1, ", ", 2, ".")


def _bar(match: re.Match[str]) -> str:
    """A bar between two cells becomes a comma; one at the end of a row ends the sentence."""
    whole, begin, end = match.string, match.start(), match.end()
    if begin == 0 or whole[begin - 1] == "\n":
        return ""
    if end == len(whole) or whole[end] == "\n":
        return "" if whole[begin - 1] in _SENTENCE else "."
    return ", "


def _line_break(match: re.Match[str]) -> Replacement:
    """A line break without punctuation ends the sentence, unless the line was only wrapped."""
    after = match.string[match.end() : match.end() + 1]
    if not after:
        return ""
    return " " if after.islower() and match[0].count("\n") == 1 else ". "
