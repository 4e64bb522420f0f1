"""The fields that the requests of Ollama's API share."""

from __future__ import annotations

import base64

import pytest
from tests.support.sample_files import drawing, encoded

from duologue.errors import BadRequest
from duologue.values.messages import ImagePart
from duologue.values.requests import OutputFormat
from duologue.wire.ollama.ollama_fields import OllamaReplyBody, own_name, picture
from duologue.wire.validation import validate

PICTURE = encoded(drawing(4, 4), "PNG")


def body(**fields: object) -> OllamaReplyBody:
    return validate(OllamaReplyBody, {"model": "mini", **fields})


def test_options_are_the_sampling_of_the_request() -> None:
    options = {
        "num_predict": 12,
        "temperature": 0,
        "top_k": 40.0,
        "top_p": 0.9,
        "min_p": 0.05,
        "typical_p": 0.7,
        "repeat_penalty": 1.1,
        "repeat_last_n": 64,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.25,
        "mirostat": 1,
        "mirostat_tau": 4.0,
        "mirostat_eta": 0.2,
        "seed": 7,
        "stop": ["\n", "user:"],
    }
    read = body(options=options)
    sampling = read.sampled()
    assert (sampling.max_tokens, sampling.temperature, sampling.top_k) == (12, 0.0, 40)
    assert (sampling.top_p, sampling.min_p, sampling.typical_p) == (0.9, 0.05, 0.7)
    assert (sampling.repetition_penalty, sampling.repetition_window) == (1.1, 64)
    assert (sampling.presence_penalty, sampling.frequency_penalty) == (0.5, 0.25)
    assert (sampling.mirostat, sampling.mirostat_tau, sampling.mirostat_eta) == (1, 4.0, 0.2)
    assert (sampling.seed, read.options.stop) == (7, ["\n", "user:"])
    assert read.options.ignored(4096) == ()


@pytest.mark.parametrize("number", [0, -1, -2])
def test_no_limit_is_no_limit(number: int) -> None:
    assert body(options={"num_predict": number}).sampled().max_tokens is None


def test_what_a_model_was_loaded_with_is_named_as_ignored() -> None:
    read = body(options={"num_gpu": 33, "num_thread": 4, "num_keep": 5, "penalize_newline": True})
    assert sorted(read.options.ignored(0)) == [
        "options.num_gpu",
        "options.num_keep",
        "options.num_thread",
        "options.penalize_newline",
    ]


@pytest.mark.parametrize(("context", "named"), [(4096, ("options.num_ctx",)), (8192, ()), (0, ())])
def test_a_larger_context_than_the_model_has_is_named_as_ignored(
    context: int, named: tuple[str, ...]
) -> None:
    assert body(options={"num_ctx": 8192}).options.ignored(context) == named


@pytest.mark.parametrize(
    ("format", "kept"),
    [
        (None, None),
        ("", None),
        ("json", OutputFormat("json_object", param="format")),
        (
            {"type": "object"},
            OutputFormat("json_schema", schema={"type": "object"}, param="format"),
        ),
    ],
)
def test_a_format_is_json_or_a_schema(format: object, kept: OutputFormat | None) -> None:
    assert body(format=format).output_format() == kept


@pytest.mark.parametrize(
    ("think", "asked"),
    [
        (None, (None, None)),
        (True, (True, None)),
        (False, (False, None)),
        ("low", (True, "low")),
        ("high", (True, "high")),
    ],
)
def test_thinking_is_on_off_or_a_level(think: object, asked: tuple[bool | None, str | None]) -> None:
    assert body(think=think).thinking() == asked


@pytest.mark.parametrize(
    ("keep_alive", "unloads"),
    [
        *[(None, False), (0, True), (0.0, True), ("0", True), ("0s", True), ("5m", False), (-1, False)],
        *[("-1", False), ("1h30m", False), ("24h", False), ("", False)],
    ],
)
def test_a_duration_of_zero_unloads(keep_alive: object, unloads: bool) -> None:
    assert body(keep_alive=keep_alive).unloads is unloads


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"format": "xml"}, 'format must be "json" or a JSON schema.'),
        ({"format": {"type": "strin"}}, "format has the type 'strin'"),
        ({"think": "very"}, 'think must be true, false, "low", "medium" or "high".'),
        ({"keep_alive": "soon"}, "keep_alive must be a number of seconds"),
        ({"keep_alive": True}, "keep_alive must be a number of seconds"),
        ({"options": {"temperature": -1}}, "options.temperature must be a number from 0 to 100."),
        ({"options": {"top_k": 1.5}}, "options.top_k must be a whole number"),
        ({"options": 3}, "options must be an object."),
        ({"top_logprobs": 99, "logprobs": True}, "top_logprobs must be a whole number from 0 to 20."),
        ({"stream": "no"}, "stream must be true or false."),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadRequest) as refused:
        body(**fields)
    assert refused.value.message.startswith(sentence)


def test_logprobs_are_asked_for_with_their_alternatives() -> None:
    assert body().sampled().logprobs is None
    assert body(logprobs=True).sampled().logprobs == 0
    assert body(logprobs=True, top_logprobs=3).sampled().logprobs == 3
    with pytest.raises(BadRequest, match="top_logprobs requires logprobs"):
        body(top_logprobs=3).sampled()


def test_a_picture_is_base64_or_a_data_url() -> None:
    text = base64.b64encode(PICTURE).decode()
    for given in (text, f"data:image/png;base64,{text}"):
        assert picture(given, "images[0]") == ImagePart(PICTURE, "image/png")
    with pytest.raises(BadRequest, match=r"images\[0\] is not valid base64"):
        picture("https://example.org/a.png", "images[0]")


def test_ignored_fields_have_their_names_here() -> None:
    names = [own_name(name) for name in ("repetition_penalty", "top_k", "keep", "options.num_gpu")]
    assert names == ["options.repeat_penalty", "options.top_k", "keep", "options.num_gpu"]
