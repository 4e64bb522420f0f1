"""What spans say: numbers and names by the conventions, and nothing that anybody wrote."""

import pytest

from duologue.tracing import attributes
from duologue.values.events import Done, Timings, Usage
from duologue.values.messages import user
from duologue.values.requests import ChatRequest, Sampling


def test_the_names_are_those_of_the_conventions():
    conventions = pytest.importorskip(
        "opentelemetry.semconv._incubating.attributes.gen_ai_attributes",
        reason="the extra `tracing` is not installed",
    )
    from opentelemetry.semconv.attributes import http_attributes

    known = {
        value
        for module in (conventions, http_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    ours = {
        value
        for name, value in vars(attributes).items()
        if name.isupper() and isinstance(value, str) and value.startswith(("gen_ai.", "http."))
    }
    assert len(ours) > 15
    assert ours <= known
    operations = {item.value for item in conventions.GenAiOperationNameValues}
    assert {"chat", "embeddings", "execute_tool"} <= operations


def test_a_request_is_described_by_its_numbers():
    request = ChatRequest(
        (user("a secret"),), model="m", sampling=Sampling(max_tokens=7, temperature=0.0), stop=("secret",)
    )
    told = attributes.of_request(request, "chat", 2, "id-1")
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "duologue",
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 7,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.choice.count": 2,
        "duologue.request_id": "id-1",
        "duologue.kind": "chat",
    }


def test_an_end_is_described_by_its_reason_and_its_tokens():
    done = Done("length", Usage(input=9, output=3, cached=4), Timings(first=250.0))
    assert attributes.of_end(done) == {
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.response.time_to_first_chunk": 0.25,
    }
    assert attributes.of_end(Done("stop")) == {"gen_ai.response.finish_reasons": ["stop"]}
