"""The speed of a model file on this machine: tokens per second and time to the first token.

Run nothing else meanwhile.
"""

from pathlib import Path
from random import Random
from statistics import median

from duologue_mini.evaluation.chat_model import ChatModel
from duologue_mini.text import words

PROMPT_TOKENS = 2000
ROUNDS = 3


def measure(path: Path, threads: int = 2) -> dict[str, float]:
    """Tokens per second of one chat, and seconds to the first token after 2,000 tokens of prompt, uncached and cached."""
    model = ChatModel(path, threads=threads)
    model.time_request(_prompt(0, 50), 8)
    cold = [model.time_request(_prompt(number, PROMPT_TOKENS), 1).seconds for number in range(1, ROUNDS + 1)]
    warm = [model.time_request(_prompt(ROUNDS, PROMPT_TOKENS) + "?", 1).seconds for _ in range(ROUNDS)]
    rates = []
    for number in range(ROUNDS):
        prompt = _prompt(100 + number, 60)
        first = model.time_request(prompt, 1)
        whole = model.time_request(prompt, 201)
        rates.append((whole.tokens - first.tokens) / whole.seconds)
    return {
        "tokens a second": round(median(rates), 1),
        "first token, cold": round(median(cold), 3),
        "first token, read before": round(median(warm), 3),
    }


def _prompt(seed: int, tokens: int) -> str:
    """The prompt of a chat, about `tokens` long."""
    random = Random(seed)
    text = " ".join(words.invent_word(random) for _ in range(tokens // 3))
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
