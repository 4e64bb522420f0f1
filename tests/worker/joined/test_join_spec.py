"""What a joined worker is told in its environment."""

import pytest

from duologue.errors import StartFailed
from duologue.wire.machines.join_protocol import MachineDevice
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.join_spec import JoinSpec, read_key, take_join_spec

SPEC = JoinSpec(
    "https://gateway:8006",
    "the-key",
    LoadSpec("w", "scripted"),
    fingerprints=("a" * 64, "b" * 64),
    insecure_http=True,
    machine="attic",
    placed="place-1",
    devices=(MachineDevice("cuda:0", memory=7),),
    drain_s=3.0,
    retry_s=4.0,
    state_fd=9,
)


def test_the_environment_says_all_of_it_and_is_left_without_the_key():
    environ = SPEC.environment() | {"PATH": "/bin"}
    assert take_join_spec(environ) == SPEC
    assert environ == {"PATH": "/bin"}


def test_little_is_enough(tmp_path):
    (tmp_path / "key").write_text("the-key\n")
    environ = {
        "DUOLOGUE_JOIN_URL": "https://gateway",
        "DUOLOGUE_JOIN_KEY_FILE": str(tmp_path / "key"),
        "DUOLOGUE_WORKER_LOAD_SPEC": '{"worker": "w", "engine": "scripted"}',
    }
    spec = take_join_spec(environ)
    assert (spec.key, spec.load_spec.worker) == ("the-key", "w")
    assert spec.machine


@pytest.mark.parametrize(
    "broken",
    [
        {"DUOLOGUE_WORKER_LOAD_SPEC": "no"},
        {"DUOLOGUE_JOIN_KEY": ""},
        {"DUOLOGUE_JOIN_DRAIN_S": "soon"},
        {"DUOLOGUE_JOIN_FINGERPRINT": "abc"},
    ],
)
def test_what_cannot_be_read_is_a_sentence(broken):
    with pytest.raises(StartFailed):
        take_join_spec(SPEC.environment() | broken)


def test_a_missing_load_spec_is_named():
    with pytest.raises(StartFailed, match="DUOLOGUE_WORKER_LOAD_SPEC"):
        take_join_spec({"DUOLOGUE_JOIN_KEY": "k"})


def test_a_key_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(StartFailed, match="cannot be read"):
        read_key("", tmp_path / "none")
