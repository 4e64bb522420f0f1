"""The likely sounds of a written word, for voices that tell when a word sounds and not how it is pronounced.

Called by `sessions/speech`, whose mouths follow these sounds where an engine reports none, and by engines that know the sounds of a word and
not their times. It is a guess by rules for the commonest spellings:
what counts is that lips close where a "p" is written and open for its vowels; a dictionary would be many times as large. Languages without
rules of their own are read as they are spelt. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from duologue.values.mouth import Phone

# Rules are tried in the order of their table: a regular expression, ">", and its sounds with commas between them.
_ANY = """
    tch>tʃ sch>ʃ ch>tʃ sh>ʃ ph>f ck>k qu>k,w ng>ŋ oo>u ee>i ou>u
    a>a b>b c>k d>d e>e f>f g>ɡ h>h i>i j>j k>k l>l m>m n>n o>o p>p q>k r>r s>s t>t u>u v>v w>v x>k,s y>i z>z
    ä>ɛ ö>ø ü>y å>o æ>æ ø>ø œ>œ ß>s ç>s ñ>ɲ š>ʃ ş>ʃ č>tʃ ž>ʒ ř>r,ʒ ğ> ı>ɯ þ>θ ð>ð đ>d ł>w
    а>a б>b в>v г>ɡ ґ>ɡ д>d е>e ё>o є>e ж>ʒ з>z и>i і>i ї>i й>j к>k л>l м>m н>n о>o п>p р>r с>s т>t у>u ў>w ф>f х>x ц>ts
    ч>tʃ ш>ʃ щ>ɕ ъ> ы>ɨ ь> э>e ю>u я>a
    ου>u ει>i οι>i αι>e μπ>b ντ>d γκ>ɡ τσ>ts τζ>dz αυ>a,v ευ>e,v
    α>a β>v γ>ɣ δ>ð ε>e ζ>z η>i θ>θ ι>i κ>k λ>l μ>m ν>n ξ>k,s ο>o π>p ρ>r σ>s ς>s τ>t υ>i φ>f χ>x ψ>p,s ω>o
"""
_RULES = {
    "en": """
        ^the$>ð,ə ^a$>ə ^an$>æ,n ^i$>aɪ ^i(?=')>aɪ ^to$>t,u ^do$>d,u ^of$>ə,v ^you>j,u ^are$>ɑ,ɹ ^was$>w,ʌ,z ^one$>w,ʌ,n
        ^two$>t,u ^who$>h,u ^have$>h,æ,v ^said$>s,ɛ,d ^your$>j,ɔ,ɹ ^my$>m,aɪ ^by$>b,aɪ ^why$>w,aɪ ^some$>s,ʌ,m ^come$>k,ʌ,m
        (?<=^.)e$>i (?<=^..)e$>i (?<=^.)o$>oʊ
        tion>ʃ,ə,n sion>ʒ,ə,n tch>tʃ eigh>eɪ ough>oʊ augh>ɔ igh>aɪ gh> ^kn>n ^wr>ɹ wh>w th>θ sh>ʃ ch>tʃ ph>f ck>k qu>k,w ng>ŋ
        a(?=[bcdfgklmnpstvz]e[sd]?$)>eɪ i(?=[bcdfgklmnpstvz]e[sd]?$)>aɪ o(?=[bcdfgklmnpstvz]e[sd]?$)>oʊ
        u(?=[bcdfgklmnpstvz]e[sd]?$)>u
        ee>i ea>i oo>u ou>aʊ ow>oʊ oa>oʊ oi>ɔɪ oy>ɔɪ ai>eɪ ay>eɪ au>ɔ aw>ɔ ew>u ie>i ei>eɪ ey>i er>ɚ ir>ɚ ur>ɚ ar>ɑ,ɹ or>ɔ,ɹ
        all>ɔ,l c(?=[eiy])>s g(?=e)>dʒ j>dʒ (?<=[aeiou].)e(?=s?$)> (?<=[aeiou]..)e(?=s?$)>
        a>æ e>ɛ i>ɪ o>ɑ u>ʌ y(?=[aeiou])>j y>i r>ɹ w>w
    """,
    "de": """
        ^ich$>ɪ,ç tsch>tʃ sch>ʃ chs>k,s (?<=[aou])ch>x ch>ç ^st>ʃ,t ^sp>ʃ,p ck>k pf>pf tz>ts ph>f th>t qu>k,v ng>ŋ
        ie>i ei>aɪ ai>aɪ eu>ɔɪ äu>ɔɪ au>aʊ ee>e oo>o aa>a (?<=[aeiouäöü])h(?![aeiouäöü])>
        er$>ɐ e$>ə en$>ə,n el$>ə,l e>ɛ i>ɪ u>ʊ ä>ɛ ö>ø ü>y y>y v>f w>v z>ts s(?=[aeiouäöü])>z r>ʁ j>j
    """,
    "fr": """
        eaux?>o aux?>o oux?>u oi>w,a ain(?![aeiouyn])>ɛ̃ ein(?![aeiouyn])>ɛ̃ ai>ɛ ei>ɛ œu>ø eu>ø
        [ae][nm](?![aeiouyéèênmh])>ɑ̃ o[nm](?![aeiouyéèênmh])>ɔ̃ [iy][nm](?![aeiouyéèênmh])>ɛ̃ un(?![aeiouyéèênmh])>œ̃
        ill>j ch>ʃ ph>f gn>ɲ qu>k gu(?=[eiéè])>ɡ th>t ^et$>e ^est$>ɛ ^les$>l,e ^des$>d,e ^un$>œ̃
        c(?=[eiyéè])>s g(?=[eiyéè])>ʒ ç>s j>ʒ h> (?<=..)er$>e (?<=.)ez$>e (?<=..)es?$> (?<=..)[sxtdpz]$> (?<=...)[td]s$>
        é>e è>ɛ ê>ɛ â>ɑ ô>o û>y î>i e>ə u(?=[ié])>ɥ u>y y>i w>w r>ʁ
    """,
    "es": """
        ch>tʃ ll>ʝ qu>k gu(?=[eiéí])>ɡ g(?=[eiéí])>x j>x c(?=[eiéí])>θ z>θ h> ñ>ɲ ^b>b ^v>b b>β v>β (?<=m)[bv]>b
        y$>i y>ʝ u(?=[aeoáéó])>w ü>w x>k,s w>w
    """,
    "it": """
        sci(?=[aou])>ʃ sc(?=[eiéè])>ʃ ch>k gh>ɡ ci(?=[aou])>tʃ c(?=[eiéè])>tʃ gi(?=[aou])>dʒ g(?=[eiéè])>dʒ gli>ʎ,i gn>ɲ qu>k,w
        z>ts h> u(?=[aeio])>w j>j
    """,
    "pt": """
        ão>ɐ̃,ʊ õe>o,ɪ ch>ʃ lh>ʎ nh>ɲ qu(?=[eiéê])>k qu>k,w gu(?=[eiéê])>ɡ c(?=[eiéê])>s g(?=[eiéê])>ʒ ç>s j>ʒ x>ʃ rr>ʁ ^r>ʁ ss>s
        (?<=[aeiou])s(?=[aeiou])>z ei>e,ɪ ou>o h> (?<=.)o(?=s?$)>u (?<=..)e(?=s?$)>ɪ
    """,
    "nl": """
        sch>s,x ch>x oe>u ui>œ,ʏ ij>ɛ,ɪ ei>ɛ,ɪ eu>ø ou>ʌ,ʊ au>ʌ,ʊ ie>i oo>o ee>e aa>a uu>y ng>ŋ tj>tʃ sj>ʃ
        (?<=..)en$>ə (?<=.)e$>ə ^de$>d,ə g>ɣ w>ʋ j>j u>ʏ e>ɛ o>ɔ a>ɑ i>ɪ y>i
    """,
    "pl": """
        szcz>ʃ,tʃ sz>ʃ cz>tʃ rz>ʒ ch>x dź>dʑ dż>dʒ dz>dz dzi(?=[aeouąęó])>dʑ si(?=[aeouąęó])>ɕ ci(?=[aeouąęó])>tɕ
        ni(?=[aeouąęó])>ɲ zi(?=[aeouąęó])>ʑ ś>ɕ ź>ʑ ż>ʒ ć>tɕ ń>ɲ ł>w w>v y>ɨ c>ts ó>u ą>ɔ,n ę>ɛ,n h>x e>ɛ o>ɔ j>j
    """,
}
_CONSONANTS, _VOWELS = "tksnlx", "aieou"
"""For scripts without rules: a syllable for each sign. None of these consonants closes the lips, as most signs do not."""
_LONG = frozenset("aɑæɔoeiuøyɐɒœ")
_BRIEF = frozenset("pbtdkɡɾlrɹjwʔhɲn")
_FULL, _SHORT_VOWEL, _CONSONANT, _STOP = 14, 9, 12, 11
"""How long sounds last beside each other: full vowels, others, fricatives and nasals, and stops and glides. Chosen by the lip error of espeak's
words (bench/bench_lips.py)."""


@cache
def _reader(language: str) -> tuple[re.Pattern[str], tuple[tuple[str, ...], ...]]:
    """One expression of all rules of a language, and the sounds of each of its groups."""
    rules = [rule.rpartition(">") for rule in f"{_RULES.get(language, '')} {_ANY}".split()]
    whole = "|".join(f"({pattern})" for pattern, _, _ in rules)
    return re.compile(whole), tuple(tuple(filter(None, sounds.split(","))) for _, _, sounds in rules)


@lru_cache(maxsize=4096)
def letter_sounds(word: str, language: str = "") -> tuple[str, ...]:
    """The likely sounds of a word, in letters of the International Phonetic Alphabet. `language`: a BCP 47 tag; "": read as spelt."""
    main = language.lower().replace("_", "-").partition("-")[0]
    pattern, sounds_of = _reader(main if main in _RULES else "")
    text = unicodedata.normalize("NFC", word).lower().strip(".,;:!?…\"'()[]«»“”„‘’")
    sounds: list[str] = []
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        found: tuple[str, ...]
        if match is not None and match.lastindex is not None and match.end() > at:
            found, at = sounds_of[match.lastindex - 1], match.end()
        else:
            found, at = _sign(text[at], pattern, sounds_of), at + 1
        # Doubled letters are one sound.
        sounds += [sound for sound in found if not sounds or sounds[-1] != sound]
    return tuple(sounds)


def _sign(sign: str, pattern: re.Pattern[str], sounds_of: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The sounds of a sign in no rule: those of the letter below its accents, or some syllable; none of what is no letter."""
    plain = unicodedata.normalize("NFD", sign)[0]
    if plain != sign and (match := pattern.match(plain)) is not None and match.lastindex is not None:
        return sounds_of[match.lastindex - 1]
    if not sign.isalnum():
        return ()
    number = ord(sign)
    return (_CONSONANTS[number % len(_CONSONANTS)], _VOWELS[number // 6 % len(_VOWELS)])


def guessed_phones(word: str, start: int, end: int, language: str = "") -> tuple[Phone, ...]:
    """The likely phones of a word that sounds from sample `start` up to `end`."""
    return spread_sounds(letter_sounds(word, language), start, end)


def spread_sounds(sounds: Sequence[str], start: int, end: int) -> tuple[Phone, ...]:
    """Sounds of speech as phones from sample `start` up to `end`: vowels take longer than stops."""
    weights = [_length(sound) for sound in sounds]
    total, before = sum(weights), 0
    phones = []
    for sound, weight in zip(sounds, weights, strict=True):
        first = start + (end - start) * before // total
        before += weight
        last = start + (end - start) * before // total
        if first < last:
            phones.append(Phone(sound, first, last))
    return tuple(phones)


def _length(sound: str) -> int:
    if sound[0] in _LONG:
        return _FULL
    if sound[0] in "ɪɛəʊʌɚɨʏɯ":
        return _SHORT_VOWEL
    return _STOP if sound[0] in _BRIEF else _CONSONANT
