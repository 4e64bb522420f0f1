import pytest

from duologue.text.speech.mapped_text import MappedText
from duologue.text.speech.strip_markup import replace_code_blocks, strip_markup


def bare(text: str, language: str = "en") -> str:
    made = MappedText(text)
    strip_markup(made, language)
    return made.text.strip()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("**bold** and *italic* and ***both***", "bold and italic and both"),
        ("__bold__ and _italic_, snake_case", "bold and italic, snake_case"),
        ("2 * 3 and a*b*c", "2 * 3 and a*b*c"),
        ("~~gone~~", "gone"),
        ("half a **bold", "half a bold"),
        ("`code` and ``a`` and `", "code and a and"),
        ('[a link](https://a.b/c_(d)?e "title") here', "a link here"),
        ("![a picture](x.png)", "a picture"),
        ("[text][ref] and more[^1].", "text and more."),
        ("[^1]: the note", "the note"),
        ("[ref]: https://a.b", ""),
        ("<b>bold</b> <br/> a < b", "bold"),
        ("fish &amp; chips &lt;3", "fish & chips <3"),
        ("<!-- hidden -->shown", "shown"),
        ("<https://a.b/c>", "https://a.b/c"),
        (r"\*not\* \_it\_", "not it"),
        ("# Title", "Title."),
        ("### What? ###", "What?"),
        ("> quoted\n> more", "quoted more"),
        ("- one\n- two\n* three", "one. two. three."),
        ("- [x] done", "done."),
        ("1. one\n2) two.", "1, one. 2, two."),
        ("---", ""),
        ("one\ntwo", "one two"),
        ("One\nTwo", "One. Two"),
        ("one\n\ntwo", "one. two"),
    ],
)
def test_marks_say_nothing_and_what_they_mark_is_kept(written, said):
    assert " ".join(bare(written).split()).startswith(said)
    assert bool(said) == bool(bare(written))


def test_a_table_is_read_row_by_row():
    assert bare("| a | b |\n|---|:-:|\n| c | d. |") == "a, b.\n\nc, d."


def test_each_block_of_code_is_named_once():
    assert bare("Look:\n```python\nx = 1\n```\nand\n~~~\ny\n~~~") == "Look:\na code block.\nand a code block."
    assert bare("```\nunfinished", "de") == "ein Codeblock."
    assert bare("```python") == "a code block."
    assert bare("``` not ``` one") == "not  one"


def test_code_in_other_languages_has_a_name_too():
    made = MappedText("```\nx\n```")
    replace_code_blocks(made, "xx")
    assert made.text == "a code block.\n"
