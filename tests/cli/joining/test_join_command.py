"""What `duologue worker` decides before it starts anything."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from duologue.cli.joining import join_command
from duologue.cli.joining.join_command import JoinFlags, _has_offered_adapters, as_offered, join
from duologue.cli.joining.joined_process import JoinedProcess
from duologue.errors import StartFailed, Unavailable
from duologue.models.placement import Card
from duologue.models.voice_packs import find_pack
from duologue.values.requests import ModelPreset
from duologue.wire.machines.model_offer import ModelOffer, OfferedAdapter, OfferedFile
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.exit_codes import DISMISSED, NOT_LET_IN
from duologue.worker.joined.fetched_model import FetchedModel
from duologue.worker.joined.join_spec import JoinSpec

FLAGS = JoinFlags("http://127.0.0.1:1", key="k", machine="attic")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[JoinSpec]:
    """The workers that would run."""
    specs: list[JoinSpec] = []

    async def keep(processes: list[JoinedProcess]) -> int:
        specs.extend(process.spec for process in processes)
        return 0

    monkeypatch.setattr(join_command, "keep", keep)
    monkeypatch.setattr(join_command, "list_cards", lambda: (Card(0, "A card", 7),))
    return specs


def run(flags: JoinFlags, tmp_path: Path, **settings: object) -> int:
    own = {"data": str(tmp_path), "engine": "scripted", **settings}
    return join(structs.replace(flags, settings=own), {}, io.StringIO())


def test_every_worker_of_the_settings_joins_with_the_devices_of_the_machine(
    started: list[JoinSpec], tmp_path: Path
) -> None:
    assert run(FLAGS, tmp_path, copies=2) == 0
    assert [spec.load_spec.worker for spec in started] == ["worker_0", "worker_0.2"]
    assert [device.name for device in started[0].devices] == ["cpu", "cuda:0"]
    assert started[0].machine == "attic"
    assert started[0].drain_s > 0


def test_workers_have_the_name_that_a_person_gives(started: list[JoinSpec], tmp_path: Path) -> None:
    run(structs.replace(FLAGS, name="left"), tmp_path, copies=2)
    assert [spec.load_spec.worker for spec in started] == ["left", "left.2"]


def test_the_voice_is_that_of_the_pack_in_use_on_this_machine(
    started: list[JoinSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = find_pack("german")
    monkeypatch.setattr(join_command, "chosen_pack", lambda data: pack if data == tmp_path else None)
    run(structs.replace(FLAGS, voice=True), tmp_path, **{"voice.enabled": True})
    [spec] = started
    speaker = spec.load_spec.options["speaker"]
    assert isinstance(speaker, dict)
    assert pack.speaker.name in str(speaker)


def test_the_key_may_be_in_the_environment(started: list[JoinSpec], tmp_path: Path) -> None:
    flags = structs.replace(FLAGS, key="", settings={"data": str(tmp_path), "engine": "scripted"})
    join(flags, {"DUOLOGUE_JOIN_KEY": "secret"}, io.StringIO())
    assert started[0].key == "secret"


@pytest.mark.parametrize(
    "wrong",
    [{"url": "gateway"}, {"key": ""}, {"fingerprints": ("abc",)}, {"url": "http://gateway.example"}],
)
def test_what_a_person_has_to_mend_is_told_before_anything_starts(
    started: list[JoinSpec], tmp_path: Path, wrong: dict[str, object]
) -> None:
    with pytest.raises(StartFailed):
        run(structs.replace(FLAGS, **wrong), tmp_path)
    assert not started


def test_a_server_out_of_reach_whose_model_is_wanted_is_told_in_a_sentence(
    started: list[JoinSpec], tmp_path: Path
) -> None:
    flags = structs.replace(FLAGS, url="https://127.0.0.1:1", fingerprints=("0" * 64,), serve="big")
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1 cannot be reached"):
        run(flags, tmp_path)
    assert not started


def test_tracing_without_its_extra_is_told_before_anything_starts(
    started: list[JoinSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(StartFailed, match=r"duologue\[tracing\]"):
        run(FLAGS, tmp_path, **{"tracing.enabled": True})
    assert not started


def test_an_offered_model_keeps_its_name_and_options_unless_this_machine_has_its_own(tmp_path: Path) -> None:
    offer = ModelOffer(
        "mini",
        "llama",
        options={"slots": 2, "context": 100},
        preset=ModelPreset(force_thinking=True),
        template="{{ x }}",
    )
    spec = LoadSpec("w", "llama", "file", {"model": "/m.gguf", "slots": 8, "context": None}, device="cuda:0")
    made = as_offered(spec, FetchedModel(offer, {}), tmp_path)
    assert made.model == "mini"
    assert made.options == {"slots": 8, "context": 100, "model": "/m.gguf"}
    assert made.device == "cuda:0"
    assert made.preset.force_thinking
    assert Path(made.template).read_text() == "{{ x }}"


def test_an_offered_model_has_the_adapters_that_it_has_at_the_gateway(tmp_path: Path) -> None:
    files = [OfferedFile("loras", name, 1, "0" * 64) for name in ("style.gguf", "tone.gguf")]
    offer = ModelOffer("mini", "llama", adapters=(OfferedAdapter(files[0], 0.5), OfferedAdapter(files[1])))
    served = FetchedModel(offer, {}, (Path("/by-hash/style.gguf"), Path("/by-hash/tone.gguf")))
    made = as_offered(LoadSpec("w", "llama", "file", {"model": "/m.gguf"}), served, tmp_path)
    assert made.options["loras"] == {"/by-hash/style.gguf": 0.5, "/by-hash/tone.gguf": 1.0}
    own = LoadSpec("w", "llama", "file", {"loras": {"/mine.gguf": 1.0}})
    assert as_offered(own, served, tmp_path).options["loras"] == {"/mine.gguf": 1.0}


class Refused(JoinedProcess):
    async def keep(self) -> int:
        return NOT_LET_IN


class Removed(JoinedProcess):
    async def keep(self) -> int:
        return DISMISSED


class Running(JoinedProcess):
    async def keep(self) -> int:
        await anyio.sleep_forever()
        return 0


def test_one_worker_that_is_not_let_in_ends_all_of_them() -> None:
    spec = JoinSpec("http://127.0.0.1:1", "k", LoadSpec("w", "scripted"))
    assert anyio.run(join_command.keep, [Running(spec, "info:text"), Refused(spec, "info:text")]) == 1


def test_a_worker_that_an_admin_removed_leaves_the_others_alone() -> None:
    spec = JoinSpec("http://127.0.0.1:1", "k", LoadSpec("w", "scripted"))
    removed, refused = Removed(spec, "info:text"), Refused(spec, "info:text")
    assert anyio.run(join_command.keep, [removed, removed]) == 0
    assert anyio.run(join_command.keep, [removed, refused]) == 1


def test_only_a_worker_without_adapters_of_its_own_fetches_those_of_the_gateway(tmp_path: Path) -> None:
    offered = {str(tmp_path / "by-hash" / "ab" / "style.gguf"): 1.0}
    assert _has_offered_adapters(LoadSpec("w", "llama", "m"), tmp_path)
    assert _has_offered_adapters(LoadSpec("w", "llama", "m", {"loras": offered}), tmp_path)
    assert not _has_offered_adapters(LoadSpec("w", "llama", "m", {"loras": {"/mine.gguf": 1.0}}), tmp_path)


def test_a_second_signal_ends_the_workers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr("duologue.cli.joining.join_command.os._exit", codes.append)

    async def obey() -> None:
        scope = anyio.CancelScope()

        async def signals() -> AsyncIterator[signal.Signals]:
            yield signal.SIGINT
            assert (scope.cancel_called, codes) == (True, [])
            yield signal.SIGINT

        await join_command._obey(signals(), scope)

    anyio.run(obey)
    assert codes == [1]
