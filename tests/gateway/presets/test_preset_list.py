"""The presets: each mode has some, and each has the shape that the demo's front end reads."""

from duologue.gateway.presets.preset_list import find, preset_lists, presets, sample_text

SAMPLE = {"data": None, "path": "voices/en", "name": "Duologue (en)", "duration": 0}


def test_every_mode_has_presets_with_ids_of_their_own():
    lists = preset_lists(lambda language: True)
    assert set(lists) == {"turnbased", "omni", "audio_duplex"}
    for rows in lists.values():
        assert [row["order"] for row in rows] == list(range(1, len(rows) + 1))
        assert len({row["id"] for row in rows}) == len(rows)
        assert all(row["name"] and row["description"] for row in rows)


def test_a_turn_based_preset_is_parts_around_a_sample():
    [row] = [row for row in preset_lists(lambda language: True)["turnbased"] if row["id"] == "companion_en"]
    assert [part["type"] for part in row["system_content"]] == ["text", "audio", "text"]
    assert row["system_content"][1] == {"type": "audio", **SAMPLE}
    assert "ref_audio" not in row


def test_a_duplex_preset_is_a_prompt_and_a_sample():
    for mode in ("omni", "audio_duplex"):
        row = preset_lists(lambda language: True)[mode][0]
        assert row["system_prompt"]
        assert row["ref_audio"] == SAMPLE


def test_a_language_without_a_voice_has_no_sample():
    lists = preset_lists(lambda language: language == "en")
    chinese = [row for rows in lists.values() for row in rows if row["id"].endswith("_zh")]
    assert chinese
    for row in chinese:
        assert "ref_audio" not in row
        assert all(part["type"] == "text" for part in row.get("system_content", ()))


def test_a_preset_is_found_by_its_mode_and_id():
    assert find("omni", "guide_en") in presets()
    assert find("turnbased", "guide_en") is None


def test_a_sample_is_in_its_voices_language_or_in_english():
    assert sample_text("zh-CN") != sample_text("en-GB") == sample_text("eo")
