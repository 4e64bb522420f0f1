"""What was made of media, as fields of an answer."""

from duologue.values.events import Fitted, FittingNote
from duologue.values.speech import TranscribedPart
from duologue.wire.fitting_notes import fitted_fields


def test_only_what_there_is_has_a_field() -> None:
    assert fitted_fields(Fitted()) == {}
    said = fitted_fields(Fitted((TranscribedPart(0, 1, "hi"),)))
    assert said == {"transcripts": [{"message": 0, "part": 1, "text": "hi"}]}
    note = FittingNote("messages[0].content[0]", "video", "frames", 4, 3.5)
    assert fitted_fields(Fitted((), (note,)))["fitted"] == [
        {"where": "messages[0].content[0]", "kind": "video", "became": "frames", "count": 4, "seconds": 3.5}
    ]
