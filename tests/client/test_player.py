"""A caller's loudspeaker: every sample of a reply sounds once, in order, and the server is told exactly which did."""

from array import array
from itertools import pairwise

import pytest

from duologue.client.player import BUFFER, HOLD_FADE, REPORT_EVERY, RISE, Player

STEP = 480


def ramp(start: int, count: int) -> bytes:
    """Samples that say where they belong."""
    return array("h", [1000 + (at % 20_000) for at in range(start, start + count)]).tobytes()


def started(reply: int = 1, chunk: int = 0, epoch: int = 0) -> dict:
    return {"type": "audio_start", "reply_id": reply, "chunk_id": chunk, "epoch": epoch}


def ended(reply: int = 1, epoch: int = 0) -> dict:
    return {"type": "audio_end", "reply_id": reply, "epoch": epoch}


def a_player(count: int = 48_000, *, holds: bool = True) -> Player:
    """One that has all of a reply."""
    player = Player(holds=holds)
    player.take(started())
    for at in range(0, count, 4_800):
        player.receive_audio(ramp(at, min(4_800, count - at)))
    player.take(ended())
    return player


def heard(player: Player, steps: int) -> array:
    return array("h", b"".join(player.play(STEP) for _ in range(steps)))


def told(player: Player) -> list[int]:
    marks = [message["samples"] for message in player.reports]
    player.reports.clear()
    return marks


def test_nothing_that_comes_is_silence():
    assert Player().play(STEP) == bytes(2 * STEP)


def test_every_sample_sounds_once_and_in_order():
    sound = heard(a_player(9_600), 21)
    assert list(sound[RISE:9_600]) == list(array("h", ramp(0, 9_600))[RISE:])
    assert not any(sound[9_600:])


def test_a_beginning_waits_for_a_little_more():
    player = Player()
    player.take(started())
    player.receive_audio(ramp(0, BUFFER // 2))
    assert not any(heard(player, 1))
    player.receive_audio(ramp(BUFFER // 2, BUFFER))
    assert any(heard(player, 1))


def test_the_server_is_told_every_200_ms_and_at_the_end():
    player = a_player(12_000)
    heard(player, 26)
    marks = told(player)
    assert marks[-1] == 12_000
    assert [later - earlier for earlier, later in pairwise(marks[:-1])] == [REPORT_EVERY]


def test_a_held_reply_fades_out_and_goes_on_from_the_held_sample():
    player = a_player()
    heard(player, 20)
    player.take({"type": "pause", "reply_id": 1})
    faded = heard(player, 3)
    at = player.played[1]
    assert at == 20 * STEP + HOLD_FADE
    assert told(player)[-1] == at
    assert not any(faded[HOLD_FADE:])
    assert not any(heard(player, 10))
    player.take({"type": "resume", "reply_id": 1})
    again = heard(player, 2)
    assert list(again[RISE:]) == list(array("h", ramp(at, 2 * STEP))[RISE:])


def test_a_reply_that_is_resumed_while_it_fades_loses_nothing():
    player = a_player()
    heard(player, 20)
    player.take({"type": "pause", "reply_id": 1})
    player.play(100)
    player.take({"type": "resume", "reply_id": 1})
    again = array("h", player.play(STEP))
    assert list(again[RISE:]) == list(array("h", ramp(20 * STEP + 100, STEP))[RISE:])


def test_a_reply_held_before_it_began_waits():
    player = Player()
    player.take(started())
    player.take({"type": "pause", "reply_id": 1})
    player.receive_audio(ramp(0, 9_600))
    assert not any(heard(player, 5))
    player.take({"type": "resume", "reply_id": 1})
    assert any(heard(player, 5))


def test_an_interrupted_reply_is_dropped_and_the_next_one_sounds():
    player = a_player()
    heard(player, 10)
    player.take({"type": "interrupt", "reply_id": 1, "epoch": 1})
    assert not any(heard(player, 2)[STEP:])
    assert told(player)[-1] == player.played[1] < 12 * STEP
    player.take(started(2, 10, epoch=1))
    player.receive_audio(ramp(0, 9_600))
    assert any(heard(player, 5))
    assert player.stale == []


def test_what_comes_of_an_interrupted_reply_is_stale():
    player = a_player()
    player.take({"type": "interrupt", "reply_id": 1, "epoch": 1})
    assert not player.receive_audio(ramp(0, 480))
    assert not player.take({"type": "caption", "reply_id": 1, "epoch": 1, "words": []})
    assert not player.take(started(2, 12, epoch=0))
    assert player.stale == ["sound", "caption", "audio_start"]
    assert player.take({"type": "transcript", "text": "stop", "epoch": 0, "final": True})


def test_the_callers_own_interruption_names_what_was_heard():
    player = a_player()
    heard(player, 11)
    said = player.interrupt()
    assert said["reply_id"] == 1
    assert said["last_chunk_id"] == 1
    assert said["samples"] <= 11 * STEP
    player.receive_audio(ramp(0, 480))
    assert player.stale == [], "what was on its way when the caller interrupted is no fault of the server's"


def test_an_interruption_by_frame_names_the_last_one_begun():
    player = a_player()
    assert player.interrupt(by_chunk=True) == {"type": "interrupt", "last_chunk_id": -1}
    assert Player().interrupt() == {"type": "interrupt"}


def test_a_client_of_few_words_tells_nothing_and_never_holds():
    player = a_player(holds=False)
    heard(player, 10)
    player.take({"type": "pause", "reply_id": 1})
    assert any(heard(player, 10)[-STEP:])
    assert not player.reports
    assert player.played[1] == 20 * STEP


def test_a_reply_that_runs_dry_is_a_gap_and_goes_on_where_it_was():
    player = Player()
    player.take(started())
    player.receive_audio(ramp(0, 2 * BUFFER))
    heard(player, 8)
    assert player.current == 1
    player.receive_audio(ramp(2 * BUFFER, 9_600))
    sound = heard(player, 4)
    assert list(sound[RISE:]) == list(array("h", ramp(2 * BUFFER, len(sound)))[RISE:])
    [gap] = player.gaps
    assert gap.at == 2 * BUFFER
    assert 3 * STEP <= gap.samples <= 5 * STEP


def test_a_reply_that_runs_dry_is_told_to_its_last_sample():
    player = Player()
    player.take(started())
    player.receive_audio(ramp(0, 2 * BUFFER))
    heard(player, 8)
    assert told(player) == [2 * BUFFER]


def test_what_is_said_while_a_reply_waits_sounds_between():
    player = Player()
    player.take(started(1))
    player.receive_audio(ramp(0, 4_800))
    heard(player, 12)
    player.take(started(2, 1))
    player.receive_audio(ramp(15_000, 4_800))
    player.take(ended(2))
    between = heard(player, 12)
    assert list(between[RISE:4_800]) == list(array("h", ramp(15_000, 4_800))[RISE:])
    player.take(started(1, 2))
    player.receive_audio(ramp(4_800, 4_800))
    player.take(ended(1))
    rest = heard(player, 12)
    assert list(rest[RISE:4_800]) == list(array("h", ramp(4_800, 4_800))[RISE:])
    assert player.played == {1: 9_600, 2: 4_800}
    assert player.gaps == []
    assert player.stale == []


@pytest.mark.parametrize("count", [1, 37, 480, 7_000])
def test_it_does_not_matter_in_what_pieces_it_is_asked_for(count: int):
    whole, pieces = a_player(9_600), a_player(9_600)
    there = b"".join(pieces.play(count) for _ in range(9_600 // count + 1))
    assert whole.play(9_600) == there[: 2 * 9_600]
