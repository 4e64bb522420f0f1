"""Cutting a prompt where its tokens do not change: beside control markers."""

from __future__ import annotations

import random

from duologue.engines.llama.prompt.text_pieces import MOST_MARKERS, cutter, pieces, possible_markers

MARKERS = cutter(("<|im_start|>", "<|im_end|>", "<s>"))


def test_the_pieces_are_the_text() -> None:
    chance = random.Random(5)
    parts = ("<|im_start|>", "<|im_end|>", "<s>", "user", "\n", " ", "é", "<|im_", "start|>")
    for _ in range(300):
        text = "".join(chance.choices(parts, k=chance.randrange(60)))
        assert "".join(pieces(text, MARKERS, size=chance.randrange(1, 40))) == text


def test_a_piece_ends_behind_a_marker_that_no_white_space_follows() -> None:
    text = "<|im_start|>user\nhi<|im_end|>\n" * 100
    cut = list(pieces(text, MARKERS, size=200))
    assert len(cut) > 10
    assert all(piece.endswith("<|im_start|>") for piece in cut[:-1])
    assert all(200 <= len(piece) < 260 for piece in cut[:-1])


def test_a_text_without_markers_is_one_piece() -> None:
    assert list(pieces("words " * 9000, MARKERS, size=100)) == ["words " * 9000]
    assert list(pieces("<s>" * 900, None, size=100)) == ["<s>" * 900]
    assert list(pieces("", MARKERS)) == [""]


def test_markers_are_what_the_file_names_and_what_its_template_writes() -> None:
    template = "{{ '<|im_start|>' + role }}[INST] {{ '[/INST]</s><start_of_turn>' }} <div> a<b> {% if x %}[0]"
    found = possible_markers(template, ("</s>", "", "<|eot|>"))
    assert {"<|im_start|>", "[INST]", "[/INST]", "</s>", "<start_of_turn>", "<|eot|>"} <= set(found)
    assert "" not in found
    assert list(found) == sorted(found, key=lambda marker: (-len(marker), marker))


def test_a_text_full_of_half_markers_is_cut_in_linear_time() -> None:
    hostile = "<|im_start" * 100_000
    assert list(pieces(hostile, MARKERS, size=10)) == [hostile]


def test_of_a_template_that_is_made_of_markers_a_bounded_number_is_tried():
    template = "".join(f"<|m{number}|>" for number in range(100_000))
    markers = possible_markers(template, ("</s>",))
    assert len(markers) <= MOST_MARKERS + 1
    assert "</s>" in markers
