"""Questions about Duologue find the section that answers them."""

import pytest

from duologue.gateway.help.search import (
    FOUND,
    PAGES,
    PROGRAMMERS_PAGES,
    HelpSearch,
    match_expression,
    shipped,
)
from duologue.gateway.help.sections import HelpSection


@pytest.fixture(scope="module")
def search() -> HelpSearch:
    return HelpSearch()


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("How do I use another model?", {"Another server as the model", "Other models"}),
        ("How do I get a better model?", {"Getting a better model"}),
        ("How do I reach it from my phone?", {"HTTPS"}),
        ("Can I talk to you by voice?", {"Voice", "Voices and recognisers"}),
        ("How do I start a voice call?", {"Voice"}),
        ("How do I make a backup?", {"Conversations and backups"}),
        ("https certificate", {"HTTPS"}),
        ("run it behind nginx", {"Behind a proxy, or under a path"}),
        ("which keyboard shortcuts are there", {"The page"}),
        ("How do I add users?", {"Access and keys", "Adding and changing users", "Keys: /api/keys"}),
        ("tool servers", {"Tools", "Tool servers: /api/mcp"}),
        ("what port does it use", {"Ports and the data folder"}),
        ("prometheus metrics", {"Monitoring"}),
        ("use Ollama as the model", {"Another server as the model"}),
        ("disk_full", {"Downloads of models"}),
    ],
)
def test_a_question_finds_its_section_among_the_first_three(search, question, titles):
    found = [section.title for section in search.find(question)[:3]]
    assert titles & set(found), found


def test_every_page_is_there_and_has_sections():
    assert {section.page for section in shipped()} >= {"Models", "Running Duologue"} | PROGRAMMERS_PAGES
    assert len({section.page for section in shipped()}) == len(PAGES)


def test_stems_and_beginnings_of_words_are_found():
    search = HelpSearch(
        [HelpSection("P", "Voices", "Recognisers write down speech."), HelpSection("P", "Other", "x")]
    )
    assert [section.title for section in search.find("recogniser")] == ["Voices"]
    assert [section.title for section in search.find("spee")] == ["Voices"]


def test_a_title_weighs_more_than_the_text():
    pages = [HelpSection("P", "Other", "backup backup backup"), HelpSection("P", "Backup", "how it is done")]
    assert HelpSearch(pages).find("backup")[0].title == "Backup"


@pytest.mark.parametrize("question", ["", "?!", '"', "AND OR NOT", "a* OR NEAR(b)", "x" * 300, "the", "( )"])
def test_nothing_a_person_types_is_an_error(search, question):
    assert len(search.find(question)) <= FOUND


def test_common_words_count_only_where_there_are_no_others():
    assert match_expression("How do I make a backup?") == '"backup" OR "backup"*'
    assert match_expression("how do I") == '"how" OR "do" OR "i" OR "i"*'
    assert match_expression("...") == ""
