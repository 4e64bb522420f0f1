"""Positions of text, sound and pictures, as the models were trained with them."""

from duologue.engines.qwen_omni.prompt.rope_positions import line_positions, picture_positions


def test_text_goes_on_by_one_on_all_axes() -> None:
    line = line_positions(5, 3)
    assert line.times == line.rows == line.columns == (5, 6, 7)
    assert line.next == 8


def test_a_picture_stands_at_one_time_and_spans_its_rows_and_columns() -> None:
    picture = picture_positions(10, 2, 3)
    assert picture.times == (10,) * 6
    assert picture.rows == (10, 10, 10, 11, 11, 11)
    assert picture.columns == (10, 11, 12, 10, 11, 12)
    assert picture.next == 13, "behind the largest number in it, not behind its last token"


def test_a_high_picture_is_followed_behind_its_rows() -> None:
    assert picture_positions(0, 9, 2).next == 9
