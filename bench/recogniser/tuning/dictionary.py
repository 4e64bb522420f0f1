"""Pronunciations: pocketsphinx's own dictionary, and the words and variants it lacks."""

from collections import defaultdict
from pathlib import Path

ADDITIONS = """
capitalise     K AE P AH T AH L AY Z
ChatGPT        CH AE T JH IY P IY T IY
couscous       K UW S K UW S
Duologue       D UW AH L AO G
Duologue       D UW OW L AO G
Duologue       D Y UW AH L AO G
exactly        EH G Z AE K T L IY
excuse         EH K S K Y UW Z
excuse         EH K S K Y UW S
explain        EH K S P L EY N
GGUF           JH IY JH IY Y UW EH F
GPT            JH IY P IY T IY
GPU            JH IY P IY Y UW
hiya           HH AY Y AH
HTTPS          EY CH T IY T IY P IY EH S
lowercase      L OW ER K EY S
Maja           M AY AH
maths          M AE TH S
MCP            EH M S IY P IY
Ollama         OW L AA M AH
Priya          P R IY AH
ramen          R AA M AH N
summarise      S AH M ER AY Z
Tallinn        T AA L IH N
uppercase      AH P ER K EY S
vLLM           V IY EH L EH L EH M
Yara           Y AA R AH
yeah           Y EH AH
Yuki           Y UW K IY
Yusuf          Y UW S UH F
"""


def pronunciations(file: Path) -> dict[str, list[str]]:
    """The pronunciations of each word (lower case); `file` is the dictionary that belongs to the acoustic model."""
    sounds_of: defaultdict[str, list[str]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        word, _, sounds = line.partition(" ")
        sounds_of[word.partition("(")[0]].append(sounds.strip())
    for line in ADDITIONS.strip().splitlines():
        word, sounds = line.split(None, 1)
        sounds_of[word.lower()].append(sounds.strip())
    return dict(sounds_of)


def spellings() -> dict[str, str]:
    """The spelling of the added words, by their lower case."""
    return {line.split()[0].lower(): line.split()[0] for line in ADDITIONS.strip().splitlines()}


def lines(words: list[str], sounds_of: dict[str, list[str]]) -> list[str]:
    """The dictionary of these words in pocketsphinx's format."""
    entries = []
    for word in sorted(words):
        for number, sounds in enumerate(dict.fromkeys(sounds_of[word.lower()]), 1):
            entries.append(f"{word}({number}) {sounds}" if number > 1 else f"{word} {sounds}")
    return entries
