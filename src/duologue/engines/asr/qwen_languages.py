"""Qwen3-ASR's names for languages, whichever library runs it: `qwen` and `sherpa` look them up here. Pure."""

from __future__ import annotations

LANGUAGES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fil": "Filipino",
    "fr": "French",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "mk": "Macedonian",
    "ms": "Malay",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "yue": "Cantonese",
    "zh": "Chinese",
}


def name_of(tag: str) -> str:
    """The model's name of a BCP 47 tag; "" for an unknown language."""
    parts = tag.lower().replace("_", "-").split("-")
    if parts[0] == "zh" and "hk" in parts:
        return LANGUAGES["yue"]
    return LANGUAGES.get({"cmn": "zh", "tl": "fil"}.get(parts[0], parts[0]), "")


def tag_of(text: str) -> str:
    """The tag of a language as models write it (`English`, `<|en|>`, `en`; the first of several); "" if unknown."""
    bare = text.partition(",")[0].strip("<|> ")
    return next((tag for tag, name in LANGUAGES.items() if bare.lower() in (name.lower(), tag)), "")
