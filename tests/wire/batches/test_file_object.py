"""Files as clients send and get them."""

import msgspec
import pytest

from duologue.errors import BadRequest, Unsupported
from duologue.values.batches.stored_batch import StoredFile
from duologue.wire.batches.file_object import FileList, FileObject, file_fields, purpose_of

FILE = StoredFile("file-1", "ada", "batch", "a.jsonl", 10, 1_700_000_000_900, 1_700_000_100_000)


def test_the_form_says_what_a_file_is_for_and_until_when():
    assert file_fields({"purpose": "batch"}).expires_after is None
    fields = file_fields(
        {"purpose": "user_data", "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}
    )
    assert fields.expires_after is not None
    assert fields.expires_after.seconds == 3600
    written = file_fields({"purpose": "batch", "expires_after": '{"anchor": "created_at", "seconds": 7200}'})
    assert written.expires_after is not None
    assert written.expires_after.seconds == 7200


@pytest.mark.parametrize(
    ("form", "param"),
    [
        ({}, "purpose"),
        ({"purpose": "fun"}, "purpose"),
        ({"purpose": "batch", "expires_after": "soon"}, "expires_after"),
        ({"purpose": "batch", "expires_after[anchor]": "created_at"}, "expires_after.seconds"),
        (
            {"purpose": "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "5"},
            "expires_after.seconds",
        ),
        (
            {"purpose": "batch", "expires_after[anchor]": "now", "expires_after[seconds]": "3600"},
            "expires_after.anchor",
        ),
    ],
)
def test_what_is_wrong_is_named(form, param):
    with pytest.raises(BadRequest) as caught:
        file_fields(form)
    assert caught.value.param == param


def test_a_purpose_that_nothing_here_serves_is_refused():
    with pytest.raises(Unsupported) as caught:
        file_fields({"purpose": "fine-tune"})
    assert caught.value.param == "purpose"


def test_a_file_is_written_as_openai_writes_it():
    assert msgspec.to_builtins(FileObject.of(FILE)) == {
        "id": "file-1",
        "object": "file",
        "bytes": 10,
        "created_at": 1_700_000_000,
        "filename": "a.jsonl",
        "purpose": "batch",
        "status": "processed",
        "expires_at": 1_700_000_100,
    }
    assert FileObject.of(msgspec.structs.replace(FILE, expires=0)).expires_at is None


def test_a_page_tells_whether_there_are_more():
    page = FileList.of([FILE, FILE], 1)
    assert (len(page.data), page.has_more, page.first_id, page.last_id) == (1, True, "file-1", "file-1")
    empty = FileList.of([], 1)
    assert (empty.data, empty.has_more, empty.first_id) == ([], False, None)


def test_a_list_has_one_purpose_or_all():
    assert (purpose_of(""), purpose_of("vision")) == ("", "vision")
    with pytest.raises(BadRequest):
        purpose_of("fun")
