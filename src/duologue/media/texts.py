"""Text of any encoding, and whether a file is text at all.

Used by `sniff` and for attached text files. Owns byte order marks, the guess of an encoding, and line ends. Pure. What
guesses, which is slow, is for a decoder process: `read_text`, and `is_text` unless `is_plain` knows already.
"""

from __future__ import annotations

import codecs

from msgspec import Struct

from duologue.decoder.job import decoder_job

SAMPLE = 65_536
"""Bytes that an encoding is guessed from; guessing is far slower than decoding."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: the mark of little-endian UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Tab, line feed, form feed, carriage return, escape (in terminal logs), and backspace (in old manuals).
_USUAL = frozenset(b"\t\n\x0c\r\x1b\x08")
_CONTROLS = bytes(byte for byte in range(32) if byte not in _USUAL) + b"\x7f"
_MOST_CONTROLS = 0.002
_OLD = (
    *("cp1252", "cp1250", "cp1251", "koi8_r", "cp866", "cp1253", "cp1254", "cp1255", "cp1256", "mac_roman"),
    *("cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
)
"""Encodings in use before UTF-8, by the places they come from."""
# Letters that only one of two encodings uses: e-caron, u-ring, t-caron and the long Hungarian vowels of cp1250;
# the accents of French, Italian, Portuguese and the Nordic languages in cp1252.
_CENTRAL = b"\xec\xf9\x9d\xf5\xfb"
_WESTERN = b"\xe0\xe3\xe5\xe6\xe7\xea\xf1\xf2"


class ReadText(Struct, frozen=True):
    """The text of a file. `is_file`: the file is this text in UTF-8, byte by byte."""

    text: str
    is_file: bool


@decoder_job(preload=("charset_normalizer",))
def read_text(data: bytes) -> ReadText:
    """The text of a file of any encoding."""
    text, encoding = decode_text(data)
    return ReadText(text, encoding == "utf-8" and text.encode("utf-8", "replace") == data)


def is_text(data: bytes) -> bool:
    """Whether `data`, a whole file or its beginning, is text. An empty file is."""
    plain = is_plain(data)
    return _guess(data[:SAMPLE]) != "" if plain is None else plain


def is_plain(data: bytes) -> bool | None:
    """Whether `data` is text; None where only a guess of its encoding can tell."""
    sample = data[:SAMPLE]
    if not sample or _marked(sample) or _wide(sample):
        return True
    if b"\0" in sample:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > len(sample) * _MOST_CONTROLS:
        return False
    return True if _is_utf8(sample) else None


def decode_text(data: bytes) -> tuple[str, str]:
    """The text, with single line feeds and without a byte order mark, and the name of its encoding.

    What cannot be decoded becomes U+FFFD; no text is refused.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _tidy(data[len(mark) :].decode(encoding, "replace")), encoding
    sample = data[:SAMPLE]
    encoding = _wide(sample)
    if not encoding and _is_utf8(sample):
        # ISO-2022-JP is valid ASCII; only its escape sequences tell.
        encoding = "iso2022_jp" if b"\x1b$B" in sample or b"\x1b$@" in sample else "utf-8"
    encoding = encoding or _guess(sample) or "cp1252"
    return _tidy(data.decode(encoding, "replace")), encoding


def _marked(sample: bytes) -> bool:
    return any(sample.startswith(mark) for mark, _ in _MARKS)


def _is_utf8(sample: bytes) -> bool:
    """Whether a beginning is UTF-8; its last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark, by the zero in every other byte of Western text; "" for anything else."""
    pairs = len(sample) // 2
    if pairs < 2 or b"\0" not in sample:
        return ""
    even, odd = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even < 0.02 * pairs:
        return "utf-16-le"
    if even > 0.7 * pairs and odd < 0.02 * pairs:
        return "utf-16-be"
    return ""


def _guess(sample: bytes) -> str:
    """The most likely of the old encodings, "" when none decodes it."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_OLD)).best()
    if best is None:
        return ""
    # Short texts have too little to guess from; these are the confusions that tests found.
    if best.encoding in ("cp1250", "mac_roman") and _is_western(sample):
        return "cp1252"
    if best.encoding in ("cp949", "gb18030", "big5") and _is_kana(sample):
        return "euc_jp"
    if best.encoding == "cp1251" and _is_hebrew(sample):
        return "cp1255"
    return best.encoding


def _is_western(sample: bytes) -> bool:
    """Whether cp1252 gives words as well: no symbols between letters."""
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    inside = sum(
        not (middle.isalnum() or middle.isascii() or middle in "\u2019\u2018\u2013\u2014\u20ac\u2026\xa0\xad")
        for before, middle, after in zip(text, text[1:], text[2:], strict=False)
        if before.isalpha() and after.isalpha()
    )
    central, western = (sum(sample.count(byte) for byte in letters) for letters in (_CENTRAL, _WESTERN))
    return not inside and central <= western


def _is_kana(sample: bytes) -> bool:
    """Whether EUC-JP gives Japanese: kana are half of Japanese text and rare in any other."""
    try:
        text = codecs.getincrementaldecoder("euc_jp")().decode(sample)
    except UnicodeDecodeError:
        return False
    wide = [character for character in text if ord(character) > 0x2FFF]
    kana = sum("\u3041" <= character <= "\u30ff" for character in wide)
    return kana * 5 > len(wide)


def _is_hebrew(sample: bytes) -> bool:
    """Whether its high bytes are all letters of cp1255: Russian would use capitals and the letters after them."""
    high = [byte for byte in sample if byte >= 0xC0]
    return len(high) > 9 and all(0xE0 <= byte <= 0xFA for byte in high)


def _tidy(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "").removeprefix("\ufeff")
