"""What is read of a model's folder."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.engines.decoding.model_folder import ends_of, place_of, read_json, read_template, stored_bytes
from duologue.engines.devices import parse_device
from duologue.errors import StartFailed


def test_a_template_is_read_from_where_models_keep_it(tmp_path: Path) -> None:
    tokenizer = SimpleNamespace(chat_template="of the tokenizer")
    assert read_template(tmp_path, tokenizer) == "of the tokenizer"
    assert read_template(tmp_path, SimpleNamespace()) == ""
    (tmp_path / "chat_template.json").write_text('{"chat_template": "of the processor"}')
    assert read_template(tmp_path, tokenizer) == "of the processor"
    (tmp_path / "chat_template.jinja").write_text("of its own file")
    assert read_template(tmp_path, tokenizer) == "of its own file"


def test_the_weights_are_their_files(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(bytes(7))
    (tmp_path / "b.bin").write_bytes(bytes(5))
    (tmp_path / "c.json").write_bytes(bytes(100))
    assert stored_bytes(tmp_path) == 12


def test_a_reply_ends_with_the_tokens_of_the_settings_and_of_the_tokenizer() -> None:
    tokenizer = SimpleNamespace(eos_token_id=5, pad_token_id=None)
    assert ends_of({}, tokenizer) == {5}
    assert ends_of({"eos_token_id": 7}, tokenizer) == {5, 7}
    assert ends_of({"eos_token_id": [7, 8]}, SimpleNamespace(eos_token_id=5, pad_token_id=9)) == {5, 7, 8, 9}


def test_what_is_no_json_object_reads_as_an_empty_one(tmp_path: Path) -> None:
    assert read_json(tmp_path / "missing.json") == {}
    (tmp_path / "list.json").write_text("[1]")
    assert read_json(tmp_path / "list.json") == {}
    (tmp_path / "object.json").write_text('{"a": 1}')
    assert read_json(tmp_path / "object.json") == {"a": 1}


def test_a_model_goes_to_the_card_if_there_is_one() -> None:
    def torch(cards: int) -> SimpleNamespace:
        return SimpleNamespace(
            cuda=SimpleNamespace(is_available=lambda: cards > 0, device_count=lambda: cards)
        )

    assert place_of(torch(0), parse_device("auto")) == "cpu"
    assert place_of(torch(2), parse_device("auto")) == "cuda:0"
    assert place_of(torch(2), parse_device("cuda:1")) == "cuda:1"
    assert place_of(torch(2), parse_device("cpu")) == "cpu"
    with pytest.raises(StartFailed):
        place_of(torch(0), parse_device("cuda"))
