"""What is sent to which kind of server."""

from duologue.engines.openai_remote.server_kinds import FIELDS, KINDS, VERBS, server_kind
from duologue.values.requests import Sampling


def test_a_server_of_unknown_kind_gets_what_all_of_them_take() -> None:
    for name in ("", "other", "something new"):
        kind = server_kind(name)
        assert kind.fields == FIELDS
        assert kind.verbs == VERBS


def test_llama_server_has_names_of_its_own() -> None:
    fields = server_kind("llamacpp").fields
    assert fields["repetition_penalty"] == "repeat_penalty"
    assert fields["dry_base"] == "dry_base"


def test_another_duologue_takes_every_parameter_under_its_own_name() -> None:
    fields = server_kind("duologue").fields
    assert fields.keys() == set(Sampling.__struct_fields__) - {"length_penalty"}
    assert all(
        name == sent for name, sent in fields.items() if name != "logprobs" and name != "repetition_penalty"
    )
    assert fields["repetition_penalty"] == "repetition_penalty"


def test_a_call_is_forced_and_a_message_continued_only_where_that_is_known_to_work() -> None:
    assert "tool_choice" in server_kind("openai").verbs
    assert "continue" not in server_kind("openai").verbs
    assert {"tool_choice", "continue"} <= set(server_kind("vllm").verbs)
    assert "tool_choice" not in server_kind("ollama").verbs
    assert "tool_choice" not in server_kind("tabbyapi").verbs, "accepted there, and nothing is forced"
    assert {"tool_choice", "continue"} <= set(server_kind("sglang").verbs)


def test_every_kind_says_how_it_does_what_it_says_it_can() -> None:
    for name, kind in KINDS.items():
        assert kind.fields.keys() <= set(Sampling.__struct_fields__), name
        assert ("continue" in kind.verbs) == bool(kind.continues), name
        assert ("thinking" in kind.verbs) == bool(kind.switch), name
        assert ("logprobs" in kind.verbs) == ("logprobs" in kind.fields), name
