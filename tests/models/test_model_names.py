"""Names of models as other servers' clients write them."""

import pytest

from duologue.models.model_names import KnownName, find_similar


def known(*names: str) -> list[KnownName]:
    return [KnownName(name) for name in names]


DISK = known("Llama-3.2-3B-Instruct-Q4_K_M", "qwen3-4b", "Qwen3-30B-A3B-Q8_0", "gemma-3-4b-it-Q4_0")


@pytest.mark.parametrize(
    ("asked", "means"),
    [
        ("qwen3-4b", "qwen3-4b"),
        ("QWEN3-4B", "qwen3-4b"),
        ("qwen3-4b.gguf", "qwen3-4b"),
        ("qwen3-4b:latest", "qwen3-4b"),
        ("qwen3:4b", "qwen3-4b"),
        ("qwen3:4B", "qwen3-4b"),
        ("qwen3:30b", "Qwen3-30B-A3B-Q8_0"),
        ("qwen3:30b-a3b", "Qwen3-30B-A3B-Q8_0"),
        ("qwen3:30b-a3b-q8_0", "Qwen3-30B-A3B-Q8_0"),
        ("qwen3:30b-a3b-q4_K_M", ""),
        ("llama3.2:3b", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("llama3.2:latest", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("llama3.2", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("llama3", ""),
        ("llama3.2:1b", ""),
        ("llama3.2:3b-instruct-q4_K_M", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("llama-3.2-3b-instruct:q4_k_m", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("llama-3.2-3b-instruct:Q8_0", ""),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("https://huggingface.co/b/Llama-3.2-3B-Instruct-GGUF:latest", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("b/L-GGUF:Llama-3.2-3B-Instruct-Q4_K_M.gguf", "Llama-3.2-3B-Instruct-Q4_K_M"),
        ("gemma3:4b", "gemma-3-4b-it-Q4_0"),
        ("gemma3", "gemma-3-4b-it-Q4_0"),
        ("gpt-4.1", ""),
        ("", ""),
        (" ", ""),
        ("::", ""),
        ("qwen", ""),
        ("4b", ""),
    ],
)
def test_a_name_means_the_model_that_its_words_say(asked: str, means: str) -> None:
    assert find_similar(asked, DISK) == means


def test_a_size_is_left_out_only_where_there_is_one() -> None:
    assert find_similar("qwen3", known("qwen3-4b")) == "qwen3-4b"
    assert find_similar("qwen3", known("qwen3-4b", "qwen3-4b-q8_0")) == "qwen3-4b"
    assert find_similar("qwen3:latest", known("qwen3-4b", "qwen3-8b")) == ""


def test_of_several_quantisations_the_usual_one_is_meant_and_else_the_first() -> None:
    assert find_similar("qwen3:4b", known("qwen3-4b-q8_0", "qwen3-4b-q4_k_m")) == "qwen3-4b-q4_k_m"
    assert find_similar("qwen3:4b", known("qwen3-4b-q8_0", "qwen3-4b-q6_k")) == "qwen3-4b-q8_0"


def test_the_name_itself_goes_before_a_similar_one() -> None:
    assert find_similar("qwen3-4b", known("qwen3-4b-q4_k_m", "Qwen3-4B")) == "Qwen3-4B"


def test_the_name_of_a_file_means_its_model() -> None:
    one = KnownName("qwen3-4b", ("Qwen3-4B-Q4_K_M",))
    assert find_similar("hf.co/Qwen/Qwen3-4B-GGUF:Q4_K_M", [one]) == "qwen3-4b"


def test_names_of_connected_servers_keep_their_tags() -> None:
    assert find_similar("LLAMA3.1:8B", known("llama3.1:8b")) == "llama3.1:8b"
    assert find_similar("mistral", known("mistral:latest")) == "mistral:latest"


def test_a_name_in_another_script_is_compared_too() -> None:
    assert find_similar("модель:latest", known("Модель-Q4_K_M")) == "Модель-Q4_K_M"
    assert find_similar("другая", known("Модель")) == ""


def test_a_very_long_name_means_nothing() -> None:
    assert find_similar("a" * 100_000, known("a" * 100_000)) == ""
