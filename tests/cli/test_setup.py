"""`duologue setup`: what is shown, asked and done."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.cli import model_commands, setup
from duologue.cli.doctor import Finding
from duologue.cli.setup import SettingLocation, SetupOptions, Terminal, set_up
from duologue.config import Settings
from duologue.errors import BadRequest, ModelNotFound, Problem
from duologue.gateway.models.download_journal import FILE
from duologue.models.fit import Hardware

GB = 10**9
NO_WISH = SetupOptions()


class Person:
    """Answers what the test wrote, and remembers what was asked and said."""

    def __init__(self, *answers: str, terminal: bool = True) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.output = io.StringIO()
        self.asides = io.StringIO()
        self.talk = Terminal(self.output, self.asides, self._answer if terminal else None)

    def _answer(self, question: str) -> str:
        self.asked.append(question)
        if not self._answers:
            raise EOFError
        return self._answers.pop(0)

    @property
    def heard(self) -> str:
        return self.output.getvalue()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
def file(settings: Settings) -> Path:
    return settings.data / "duologue.yaml"


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "probe_hardware", lambda folder: Hardware(4, 8 * GB, 100 * GB))
    monkeypatch.setattr(setup, "check_gpu", lambda settings: iter(()))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been downloaded; it is called `M` then."""
    names: list[str] = []

    def fetch(name: str, *rest: object) -> SimpleNamespace:
        names.append(name)
        return SimpleNamespace(name="M")

    monkeypatch.setattr(model_commands, "fetch", fetch)
    return names


@pytest.fixture
def run(settings: Settings) -> Callable[..., None]:
    def call(
        person: Person, wish: SetupOptions = NO_WISH, place: SettingLocation | None = None, **changes: object
    ) -> None:
        changed = settings.model_copy(update=changes)
        set_up(changed, place or SettingLocation(None, {}), wish, person.talk)

    return call


def test_a_server_goes_on_with_what_a_killed_setup_left(run, settings, monkeypatch) -> None:
    left: list[str] = []

    def fetch(name: str, *rest: object) -> SimpleNamespace:
        left.append((settings.data / FILE).read_text())
        return SimpleNamespace(name="M")

    monkeypatch.setattr(model_commands, "fetch", fetch)
    run(Person("", ""))
    assert '"what":"qwen3-4b"' in left[0]
    assert '"use":true' in left[0]
    assert not (settings.data / FILE).exists()


def test_enter_takes_the_proposal_and_writes_the_setting(run, fetched, file) -> None:
    person = Person("", "")
    run(person)
    assert fetched == ["qwen3-4b"]
    assert file.read_text() == "model: M\n"
    assert person.heard.startswith("This machine: 4 cores, 8.0 GB of memory free")
    assert "* proposed: qwen3-4b, about 2.5 GB, Apache-2.0." in person.heard
    assert person.heard.endswith("Start the server with `duologue serve`, or restart a running one.\n")


def test_another_name_is_taken_and_a_wrong_one_asked_again(run, fetched) -> None:
    person = Person("qwen-3-8b", "qwen3-8b", "y")
    run(person)
    assert fetched == ["qwen3-8b"]
    assert "Did you mean 'qwen3-8b'?" in person.heard


@pytest.mark.parametrize("answers", [("no",), ("N",), ()])
def test_no_downloads_nothing(run, fetched, file, answers) -> None:
    person = Person(*answers)
    run(person)
    assert fetched == []
    assert not file.exists()
    assert "duologue-mini stays the default" in person.heard


def test_a_model_can_be_fetched_without_writing_the_setting(run, fetched, file) -> None:
    person = Person("", "n")
    run(person)
    assert fetched == ["qwen3-4b"]
    assert not file.exists()
    assert "`duologue serve --model M`" in person.heard


def test_yes_asks_nothing(run, fetched, file) -> None:
    person = Person()
    run(person, SetupOptions(yes=True))
    assert (person.asked, fetched, file.read_text()) == ([], ["qwen3-4b"], "model: M\n")


def test_a_named_model_is_taken_without_a_terminal(run, fetched, file) -> None:
    run(Person(terminal=False), SetupOptions(model="ministral-3-3b"))
    assert (fetched, file.read_text()) == (["ministral-3-3b"], "model: M\n")


def test_without_a_terminal_and_a_word_nothing_happens(run, fetched) -> None:
    with pytest.raises(BadRequest, match="--yes"):
        run(Person(terminal=False))
    assert fetched == []


@pytest.mark.parametrize(
    "wish", [SetupOptions(dry_run=True), SetupOptions(dry_run=True, model="qwen3-8b", yes=True)]
)
def test_a_dry_run_only_says_what_it_would_do(run, fetched, file, wish) -> None:
    person = Person()
    run(person, wish)
    assert f"Would download {wish.model or 'qwen3-4b'} into" in person.heard
    assert (fetched, file.exists(), person.asked) == ([], False, [])


def test_a_wrong_name_is_told_before_anything_is_asked(run, fetched) -> None:
    with pytest.raises(ModelNotFound):
        run(Person(), SetupOptions(model="qwen4-4b", dry_run=True))


def test_a_machine_too_small_keeps_what_it_has(run, fetched, monkeypatch) -> None:
    monkeypatch.setattr(setup, "probe_hardware", lambda folder: Hardware(1, GB // 2, 100 * GB))
    person = Person()
    run(person)
    assert fetched == []
    assert "duologue-mini stays the default" in person.heard
    assert "--upstream URL" in person.heard


def test_a_slow_proposal_is_called_slow(run, fetched, monkeypatch) -> None:
    monkeypatch.setattr(setup, "probe_hardware", lambda folder: Hardware(0, 4 * GB, 100 * GB))
    person = Person("no")
    run(person)
    assert "It will be slow here." in person.heard


def test_a_card_the_engine_cannot_use_is_told(run, fetched, monkeypatch) -> None:
    finding = Finding("warning", "gpu", "NVIDIA L4; but the installed xllamacpp is the CPU build.")
    monkeypatch.setattr(setup, "check_gpu", lambda settings: iter((finding,)))
    person = Person("no")
    run(person)
    assert "NVIDIA L4" in person.heard


def test_the_file_in_use_is_the_one_that_is_written(run, fetched, file, tmp_path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("port: 9000\nmodel: old\n")
    run(Person("", ""), place=SettingLocation(mine, {}), model="old")
    assert mine.read_text() == "port: 9000\nmodel: M\n"
    assert not file.exists()


def test_a_setting_that_says_so_already_is_not_written(run, fetched, file) -> None:
    person = Person("")
    run(person, model="M")
    assert not file.exists()
    assert len(person.asked) == 1


def test_a_variable_that_wins_is_told(run, fetched) -> None:
    person = Person("", "")
    run(person, place=SettingLocation(None, {"DUOLOGUE_MODEL": "other"}), model="other")
    assert "DUOLOGUE_MODEL is set" in person.heard


@pytest.mark.parametrize("changes", [{"engine": "scripted"}, {"workers": ({"name": "w"},)}])
def test_settings_that_one_line_cannot_change_are_left_alone(run, fetched, file, changes) -> None:
    person = Person("")
    run(person, **changes)
    assert not file.exists()
    assert "add `model: M` in the right place" in person.heard


def test_a_failed_download_writes_nothing(run, file, monkeypatch) -> None:
    def fail(*arguments: object) -> None:
        raise Problem("huggingface.co cannot be reached.")

    monkeypatch.setattr(model_commands, "fetch", fail)
    with pytest.raises(Problem, match="cannot be reached"):
        run(Person("", ""))
    assert not file.exists()
