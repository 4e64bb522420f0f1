"""Approval questions as they are spoken, the caller's yes or no, and the sentences a call says by itself.

Owns their wording in each language of the page; calls in other languages get English. A yes or no is understood in each of them. Pure. Used by `Call` and `CallReplies`.
"""

from __future__ import annotations

import re

import msgspec

from duologue.values.conversations import Approval

LOST = {
    "en": "Sorry, I lost the thread for a moment. Please go on.",
    "de": "Entschuldigung, ich war kurz weg. Bitte weiter.",
    "fr": "Pardon, j'ai perdu le fil un instant. Continuez, s'il vous plaît.",
    "es": "Perdón, he perdido el hilo un momento. Continúa, por favor.",
}
SORRY = {
    "en": "Sorry, I cannot answer that right now.",
    "de": "Entschuldigung, das kann ich gerade nicht beantworten.",
    "fr": "Désolé, je ne peux pas répondre à cela pour le moment.",
    "es": "Lo siento, ahora mismo no puedo responder a eso.",
}
DELETED = {
    "en": "This conversation was deleted, so I hang up now. Goodbye.",
    "de": "Diese Unterhaltung wurde gelöscht, darum lege ich jetzt auf. Tschüss.",
    "fr": "Cette conversation a été supprimée, alors je raccroche. Au revoir.",
    "es": "Esta conversación se ha eliminado, así que cuelgo. Adiós.",
}

_TOOL = {
    "en": "May I use {tool}{server}{gist}?",
    "de": "Darf ich {tool}{server}{gist} benutzen?",
    "fr": "Puis-je utiliser {tool}{server}{gist} ?",
    "es": "¿Puedo usar {tool}{server}{gist}?",
}
_OF = {"en": " of {server}", "de": " von {server}", "fr": " de {server}", "es": " de {server}"}
_WITH = {"en": ", with {gist}", "de": ", mit {gist},", "fr": ", avec {gist}", "es": ", con {gist}"}
_FORM = {
    "en": "{server} needs to know something. Please look at the screen.",
    "de": "{server} möchte etwas wissen. Bitte sieh auf den Bildschirm.",
    "fr": "{server} a besoin d'un renseignement. Regardez l'écran, s'il vous plaît.",
    "es": "{server} necesita saber algo. Mira la pantalla, por favor.",
}
_LINK = {
    "en": "{server} asks you to open a page. Please look at the screen.",
    "de": "{server} bittet dich, eine Seite zu öffnen. Bitte sieh auf den Bildschirm.",
    "fr": "{server} vous demande d'ouvrir une page. Regardez l'écran, s'il vous plaît.",
    "es": "{server} te pide que abras una página. Mira la pantalla, por favor.",
}
_AND = {"en": " and ", "de": " und ", "fr": " et ", "es": " y "}

MAX_VALUE = 60
"""Characters of a spoken argument."""
MAX_ARGUMENTS = 2
"""Arguments that are spoken; the screen shows all of them."""


def _phrases(phrases: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in phrases.split(","))


_YES = _phrases(
    "yes, yeah, yep, yup, sure, ok, okay, yes please, yes do it, do it, go ahead, please do, of course, yes go ahead, "
    "yes you may, you may, yes sure, yes of course, sure go ahead, alright, all right, yes yes, yes okay, okay yes, okay do it, "
    "ja, jawohl, jep, klar, ja klar, ja bitte, gerne, gern, ja gerne, ja gern, mach das, ja mach das, mach es, ja mach es, "
    "na klar, aber ja, ja okay, okay ja, in ordnung, ja in ordnung, einverstanden, darfst du, ja darfst du, das darfst du, "
    "tu das, ja tu das, ja ja, ja sicher, sicher, "
    "oui, ouais, oui oui, oui bien sûr, bien sûr, oui s'il vous plaît, oui s'il te plaît, oui vas y, vas y, allez y, oui allez y, "
    "d'accord, oui d'accord, volontiers, "
    "sí, si, sí sí, sí claro, claro, claro que sí, sí por favor, vale, sí vale, de acuerdo, sí de acuerdo, adelante, sí adelante, "
    "hazlo, sí hazlo, dale, sí dale, por supuesto, está bien, sí está bien"
)
_NO = _phrases(
    "no, nope, no thanks, no thank you, don't, do not, please don't, no don't, no please don't, don't do it, no don't do it, "
    "no way, never, better not, rather not, not now, no not now, no no, no stop, cancel, "
    "nein, nee, nö, nein danke, lieber nicht, nein lieber nicht, bitte nicht, nein bitte nicht, lass das, nein lass das, "
    "lass es, auf keinen fall, niemals, jetzt nicht, nein jetzt nicht, noch nicht, nein nein, abbrechen, "
    "non, non merci, non non, pas maintenant, non pas maintenant, surtout pas, jamais, annule, annulez, "
    "no gracias, mejor no, no mejor no, ahora no, no ahora no, no lo hagas, no no lo hagas, de ninguna manera, nunca, cancela, "
    "no cancela, cancelar"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WORD_BOUNDARY = re.compile(r"[_\-./]+|(?<=[a-z])(?=[A-Z])")


def wording(language: str) -> str:
    """The language in which a call in `language` (BCP 47) says sentences of its own."""
    primary = language.lower().replace("_", "-").partition("-")[0]
    return primary if primary in _TOOL else "en"


def parse_consent(text: str) -> bool | None:
    """True for yes, False for no, None where the words, taken together, are neither. In all languages: callers mix them, and no
    yes in one is a no in another."""
    words = " ".join(word.replace("’", "'") for word in _WORD.findall(text.lower()))
    return True if words in _YES else False if words in _NO else None


def question(approval: Approval, language: str) -> str:
    """One short sentence: which tool, and its first arguments."""
    language = wording(language)
    server = "" if approval.server == "builtin" else _spoken(approval.server)
    if approval.kind != "tool":
        about = {"form": _FORM, "link": _LINK}[approval.kind][language]
        return about.format(server=server or _spoken(approval.tool) or "The tool")
    gist = _gist(approval.arguments, language)
    return _TOOL[language].format(
        tool=_spoken(approval.tool),
        server=_OF[language].format(server=server) if server else "",
        gist=_WITH[language].format(gist=gist) if gist else "",
    )


def _spoken(name: str) -> str:
    """A program's name as people say it: `send_mail` -> "send mail"."""
    return " ".join(_WORD_BOUNDARY.sub(" ", name).split()).lower()


def _gist(arguments: str, language: str) -> str:
    """The first arguments that can be spoken."""
    try:
        values = msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError:
        return ""
    if not isinstance(values, dict):
        return ""
    phrases = [
        f"{_spoken(name)} {_value(value)}"
        for name, value in values.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip()
    ]
    return _AND[language].join(phrases[:MAX_ARGUMENTS])


def _value(value: str | float) -> str:
    text = " ".join(str(value).split())
    if len(text) <= MAX_VALUE:
        return text
    return text[:MAX_VALUE].rpartition(" ")[0] or text[:MAX_VALUE]
