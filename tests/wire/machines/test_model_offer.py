"""What a gateway offers to workers on other machines, as JSON."""

from __future__ import annotations

import msgspec
import pytest

from duologue.wire.machines.model_offer import ModelOffer, OfferedFile, decode_offer, encode_offer

SHA = "0" * 64


def test_an_offer_comes_back_as_it_was() -> None:
    offer = ModelOffer(
        "mini", "llama", files=(OfferedFile("model", "mini.gguf", 7, SHA),), options={"slots": 2}
    )
    assert decode_offer(encode_offer(offer)) == offer


@pytest.mark.parametrize("name", ["../mini.gguf", "a/b", "..", ".hidden", "", "a\\b", "a\nb"])
def test_a_file_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_offer(encode_offer(ModelOffer("mini", "llama", files=(OfferedFile("model", name, 7, SHA),))))


def test_a_hash_is_a_hash() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_offer(
            encode_offer(ModelOffer("mini", "llama", files=(OfferedFile("model", "m", 7, "../" + SHA[3:]),)))
        )
