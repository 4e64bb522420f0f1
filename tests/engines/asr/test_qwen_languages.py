from duologue.engines.asr.qwen_languages import LANGUAGES, name_of, tag_of


def test_a_language_is_known_by_its_tag_with_or_without_a_country():
    assert [name_of(tag) for tag in ("en", "de-AT", "pt_BR", "zh-HK", "cmn", "tl")] == [
        *("English", "German", "Portuguese", "Cantonese", "Chinese", "Filipino")
    ]


def test_a_language_it_does_not_know_has_no_name():
    assert [name_of(""), name_of("tlh")] == ["", ""]


def test_what_models_tell_becomes_a_tag():
    assert [
        tag_of(told) for told in ("English", "english", "<|zh|>", "en", "Chinese,English", "", "None")
    ] == [*("en", "en", "zh", "en", "zh", "", "")]


def test_the_way_back_leads_to_the_same_language():
    assert all(tag_of(name_of(tag)) == tag for tag in LANGUAGES)
