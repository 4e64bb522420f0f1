"""What the recogniser's language model and judgement are made with."""

import re
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

# The tuner draws its sentences from the generators of the bundled model.
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "mini"))

from recogniser.tuning import dictionary, ngrams
from recogniser.tuning.sentences import BENCH, TESTS, benchmark_sentences, draw_corpus, read_sentences
from recogniser.tuning.spoken_form import spoken_form
from recogniser.tuning.spoken_phrases import draw_phrase

SENTENCES = [
    "what time is it",
    "what time is it",
    "what day is it",
    "tell me the time",
    "tell me a story",
    "it is time",
]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("What's 7 x 8?", "What's seven times eight"),
        ("What is 1,250 + 30 - 4", "What is one thousand two hundred fifty plus thirty minus four"),
        ("Wake me at 06:45!", "Wake me at six forty five"),
        ("the code 0071", "the code zero zero seven one"),
        ("on the 3rd, please", "on the third please"),
        ("a well-known 'word'", "a well known word"),
    ],
)
def test_typed_text_is_put_into_spoken_words(typed, words):
    assert spoken_form(typed) == words


@pytest.mark.parametrize("typed", ["print(f'{x}')", "http://host/v1", "two\nlines", "naïve"])
def test_text_that_cannot_be_spoken_is_left_out(typed):
    assert spoken_form(typed) is None


def chance(model: ngrams.Ngrams, *words: str) -> float:
    if words in model.chances[len(words) - 1]:
        return model.chances[len(words) - 1][words]
    return model.backoffs[len(words) - 2].get(words[:-1], 1.0) * chance(model, *words[1:])


@pytest.mark.parametrize("before", [(), ("what",), ("<s>", "tell"), ("is", "it"), ("never", "seen")])
def test_the_probabilities_of_all_words_after_any_history_add_up_to_one(before):
    model = ngrams.estimate(SENTENCES)
    words = {word for line in SENTENCES for word in line.split()} | {ngrams.END}
    assert sum(chance(model, *before, word) for word in words) == pytest.approx(1.0)


def test_the_model_is_written_as_arpa():
    lines = "\n".join(ngrams.estimate(SENTENCES).lines())
    counts = {int(order): int(count) for order, count in re.findall(r"ngram (\d)=(\d+)", lines)}
    sections: dict[int, int] = defaultdict(int)
    order = 0
    for line in lines.splitlines():
        if match := re.match(r"\\(\d)-grams:", line):
            order = int(match[1])
        elif "\t" in line:
            sections[order] += 1
    assert counts == dict(sections)
    assert lines.endswith("\\end\\")


def test_a_word_may_have_several_pronunciations(tmp_path):
    file = tmp_path / "dictionary"
    file.write_text("a AH\na(2) EY\ntime T AY M\n")
    known = dictionary.pronunciations(file)
    assert dictionary.lines(["time", "a", "maths"], known) == [
        "a AH",
        "a(2) EY",
        "maths M AE TH S",
        "time T AY M",
    ]


def test_no_slot_is_left_in_a_spoken_phrase():
    random = Random(3)
    for _ in range(2_000):
        text = draw_phrase(random)
        assert "$" not in text
        assert spoken_form(text), text


def test_no_benchmark_sentence_is_learned():
    words = {word for line in benchmark_sentences() for word in line.split()}
    known = dict.fromkeys(words | {"what", "is", "it"}, ())
    lines, _ = draw_corpus(known, scenes=300, talk=3_000)
    assert lines.lines
    assert not benchmark_sentences() & {line.lower() for line in lines.lines}


def test_a_rare_word_is_learned_from_a_phrase_and_not_from_a_drawn_dialogue():
    known = dict.fromkeys(
        ["hang", "on", "please", "wait", "hold", "just", "a", "moment", "second", "excuse", "me", "one"], ()
    )
    lines, _ = draw_corpus(known, scenes=0, talk=20_000)
    # "Hang" occurs in two sentences only, but is not an invented word.
    assert {"hang on", "hang on please"} <= {*lines.lines}
    alone, _ = draw_corpus(dict.fromkeys(["xylophone"], ()), scenes=300, talk=0)
    assert alone.words == []


def test_the_benchmark_has_200_sentences_and_100_others_and_no_two_are_alike():
    in_domain, others = (read_sentences(BENCH / name) for name in TESTS[:2])
    assert (len(in_domain), len(others)) == (200, 100)
    every = [line.lower() for name in TESTS for line in read_sentences(BENCH / name)]
    assert len(set(every)) == len(every)
