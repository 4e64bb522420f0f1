"""The pictures of a duplex session: used where somebody sees them, otherwise refused once."""

from tests.gateway.duplex_server import MINI, SEEING
from tests.gateway.fake_seats import FakeGenerate, FakeSeats

from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.duplex.duplex_camera import DuplexCamera
from duologue.gateway.models.registry import ModelRegistry
from duologue.values.messages import ImagePart
from duologue.values.requests import ModelCard

PICTURE = ImagePart(b"x")


class Session:
    def __init__(self, *cards: ModelCard) -> None:
        self.seen: list[ImagePart] = []
        self.used: list[ModelCard] = []
        services = CallServices(
            FakeSeats(),  # type: ignore[arg-type]
            FakeGenerate(),
            ModelRegistry(lambda: cards, {}),
        )
        self.camera = DuplexCamera(services, self.used.append)

    def takes(self) -> str | None:
        problem = self.camera.take(PICTURE, self.seen.append)
        return None if problem is None else problem.code


def test_a_model_that_sees_is_shown_every_picture():
    session = Session(SEEING)
    session.camera.prepare(SEEING, may_change=False)
    assert (session.takes(), session.takes()) == (None, None)
    assert session.seen == [PICTURE, PICTURE]


def test_a_model_that_does_not_is_shown_none_and_the_client_is_told_once():
    session = Session(MINI, SEEING)
    session.camera.prepare(MINI, may_change=False)
    assert (session.takes(), session.takes()) == ("modality_unsupported", None)
    assert session.seen == []
    session.camera.prepare(MINI, may_change=False)
    assert session.takes() == "modality_unsupported", "a session that begins anew is told again"


def test_where_the_client_named_no_model_one_that_sees_takes_over():
    session = Session(MINI, SEEING)
    session.camera.prepare(MINI, may_change=True)
    assert session.takes() is None
    assert (session.used, session.seen) == ([SEEING], [PICTURE])


def test_before_the_session_is_prepared_nothing_is_seen_yet():
    session = Session(MINI)
    assert not session.camera.sees
