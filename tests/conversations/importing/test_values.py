from hashlib import sha256

from duologue.conversations.importing.values import ImportedFiles, derived_id, missing_file, quoted_title
from duologue.values.conversations import AudioContent, DocumentContent, ImageContent, VideoContent


def test_ids_are_the_same_at_every_import_and_others_for_others():
    assert derived_id("ann", "x", "1") == derived_id("ann", "x", "1")
    assert len({derived_id("ann", "x", "1"), derived_id("bob", "x", "1"), derived_id("ann", "y", "1")}) == 3


def test_a_file_is_taken_in_once_and_stands_in_the_message_by_its_hash():
    files = ImportedFiles()
    kinds = {
        "image/png": ImageContent,
        "audio/wav": AudioContent,
        "video/mp4": VideoContent,
        "": DocumentContent,
    }
    for mime, kind in kinds.items():
        content = files.add(b"bytes", "name", mime)
        assert isinstance(content, kind)
        assert content.blob == sha256(b"bytes").hexdigest()
    assert len(files.files) == 1
    assert files.add(b"%PDF", "a.pdf", "application/pdf", "pages").given == "pages"


def test_what_is_not_there_is_named():
    assert "a.pdf" in missing_file("a.pdf").text
    assert quoted_title("") == "A conversation without a title"
