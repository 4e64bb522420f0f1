"""How the recogniser's words are pronounced: the dictionary inside pocketsphinx, and what it lacks.

Owns the pronunciations of words that came up after that dictionary, and those it does not know of others. Knows no sentences.
"""

from collections import defaultdict
from pathlib import Path

LACKING = """
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
    """Of each word, in lower case, how it may be said; `file` is the dictionary of the recogniser's acoustic model."""
    known: defaultdict[str, list[str]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        word, _, sounds = line.partition(" ")
        known[word.partition("(")[0]].append(sounds.strip())
    for line in LACKING.strip().splitlines():
        word, sounds = line.split(None, 1)
        known[word.lower()].append(sounds.strip())
    return dict(known)


def written() -> dict[str, str]:
    """How the words that are lacking are written, by their lower case."""
    return {line.split()[0].lower(): line.split()[0] for line in LACKING.strip().splitlines()}


def lines(words: list[str], known: dict[str, list[str]]) -> list[str]:
    """The dictionary of these words, as pocketsphinx reads it."""
    made = []
    for word in sorted(words):
        for number, sounds in enumerate(dict.fromkeys(known[word.lower()]), 1):
            made.append(f"{word}({number}) {sounds}" if number > 1 else f"{word} {sounds}")
    return made
