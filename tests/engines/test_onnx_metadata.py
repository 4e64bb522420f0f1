import io

from duologue.engines.onnx_metadata import onnx_metadata


def number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(which: int, data: bytes) -> bytes:
    return number(which << 3 | 2) + number(len(data)) + data


def entry(key: str, value: str) -> bytes:
    return field(14, field(1, key.encode()) + field(2, value.encode()))


HEAD = number(1 << 3) + number(9) + field(2, b"maker")


def read(data: bytes) -> dict[str, str]:
    return onnx_metadata(io.BytesIO(data))


def test_properties_are_read_and_the_network_is_skipped():
    graph = field(7, b"\xff" * 100_000)
    told = HEAD + graph + entry("model_type", "sense_voice_ctc") + field(8, b"") + entry("empty", "")
    assert read(told) == {"model_type": "sense_voice_ctc", "empty": ""}


def test_a_large_value_is_read_whole():
    assert read(HEAD + entry("neg_mean", "1.5," * 5000))["neg_mean"] == "1.5," * 5000


def test_what_is_no_such_file_has_no_properties():
    for data in (b"", b"not a model at all", b"\xff" * 50, b"\0" * 50, field(14, b"\xff\xff")):
        assert read(data) == {}
