"""`duologue transcribe`: a file goes to the server, its transcript to the output."""

import io
from pathlib import Path

import pytest
from tests.support.ports import free_port

from duologue.cli.transcribe import Recording, print_transcript
from duologue.client.http import Client
from duologue.errors import BadRequest, Problem


class Server(Client):
    """Writes down how long what it was given is."""

    async def transcribe(self, data: bytes, name: str, **fields: str) -> str:
        return f"{name} {len(data)} {sorted(fields.items())}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memo.wav"
    path.write_bytes(b"RIFF")
    return path


def test_the_transcript_goes_to_the_output(file: Path):
    output = io.StringIO()
    print_transcript(Recording(file, "srt", language="en"), Server(), output)
    assert output.getvalue() == "memo.wav 4 [('language', 'en'), ('response_format', 'srt')]\n"


def test_a_recording_asks_for_what_was_given_and_nothing_else(file: Path):
    assert Recording(file).fields() == {"response_format": "text"}
    assert Recording(file, "vtt", hint="Ada").fields() == {"response_format": "vtt", "prompt": "Ada"}


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path):
    with pytest.raises(BadRequest, match=r"nothing\.wav cannot be read: No such file"):
        print_transcript(Recording(tmp_path / "nothing.wav"), Server(), io.StringIO())


def test_an_unknown_format_is_a_sentence(file: Path):
    with pytest.raises(BadRequest, match="Unknown format 'pdf'"):
        print_transcript(Recording(file, "pdf"), Server(), io.StringIO())


def test_no_server_is_a_sentence_that_says_how_to_start_one(file: Path):
    with pytest.raises(Problem, match="duologue serve"):
        print_transcript(Recording(file), Client(f"http://127.0.0.1:{free_port()}"), io.StringIO())
