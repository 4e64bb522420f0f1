"""A page of the documentation is cut at its headings."""

from duologue.gateway.help.sections import HelpSection, sections

PAGE = """# Running

How it starts.

## Ports

Port `8006`. See [keys](#keys) and [the site](https://example.org).

```sh
# not a heading
```

## Empty

### `keys`

One for each person.
"""


def test_each_section_has_its_page_its_title_and_the_text_to_the_next_heading():
    assert list(sections(PAGE)) == [
        HelpSection("Running", "Running", "How it starts."),
        HelpSection(
            "Running",
            "Ports",
            "Port `8006`. See keys and [the site](https://example.org).\n\n```sh\n# not a heading\n```",
        ),
        HelpSection("Running", "keys", "One for each person."),
    ]


def test_text_before_the_first_title_belongs_to_no_page():
    assert list(sections("badge\n\n# Title\n\ntext")) == [HelpSection("Title", "Title", "text")]
    assert list(sections("")) == []


def test_a_paragraph_is_one_line_and_blocks_stay_as_they_are():
    page = "# T\n\none\ntwo\n\n- a\n  b\n- c\n\n| x |\n|---|\n| y |\n\n```sh\nd\ne\n```\nafter"
    (section,) = sections(page)
    assert section.text == "one two\n\n- a b\n- c\n\n| x |\n|---|\n| y |\n\n```sh\nd\ne\n```\nafter"
