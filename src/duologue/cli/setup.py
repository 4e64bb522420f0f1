"""`duologue setup`: propose a model that fits this machine, download it and write it into the settings.

Works with a terminal, where it asks, and without one, where flags decide. `models/fit.py` decides what fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from duologue.cli import model_commands
from duologue.cli.doctor import check_gpu
from duologue.config import Settings
from duologue.config.file_editor import model_line, write_model
from duologue.config.loader import FILE_NAME
from duologue.engines.hardware import describe, probe_hardware
from duologue.errors import BadRequest, Problem
from duologue.gateway.models.download_journal import FILE, DownloadJournal, JournalEntry
from duologue.models.catalogue import BUNDLED
from duologue.models.fit import Hardware, fit_of, recommend
from duologue.models.hub import reference
from duologue.models.hub.repository import gigabytes
from duologue.models.recommended import RECOMMENDED, Recommended

NO = frozenset({"n", "no", "none", "q", "quit"})


class SetupOptions(Struct, frozen=True):
    """The flags. `model`: download this one. `yes`: accept the proposal. `dry_run`: change and download nothing."""

    model: str = ""
    yes: bool = False
    dry_run: bool = False


class SettingLocation(Struct, frozen=True):
    """Where the setting is written: the file in use (None: none yet), and the environment, which overrides it."""

    file: Path | None
    environ: Mapping[str, str]


class Terminal(Struct, frozen=True):
    """Where to print and ask. `ask` takes a question and returns the answer; None without a terminal."""

    output: TextIO
    asides: TextIO
    ask: Callable[[str], str] | None = None

    def say(self, text: str) -> None:
        self.output.write(text + "\n")
        self.output.flush()

    def answer(self, question: str) -> str:
        """The answer of the user; "no" at the end of input."""
        assert self.ask is not None
        try:
            return self.ask(question).strip()
        except EOFError:
            return "no"


def set_up(settings: Settings, location: SettingLocation, options: SetupOptions, terminal: Terminal) -> None:
    """Propose, ask, download and write the setting. Raises Problem."""
    folder = model_commands.models_folder(settings)
    hardware = probe_hardware(folder)
    terminal.say(f"This machine: {describe(hardware, folder)}.")
    for finding in check_gpu(settings):
        if finding.state != "ok":
            terminal.say(finding.text)
    proposed = recommend(RECOMMENDED, hardware)
    chosen = options.model or _choose(proposed, hardware, options, terminal)
    if not chosen:
        return
    reference.parse(chosen)
    if options.dry_run:
        terminal.say(
            f"Would download {chosen} into {folder}, and write the model into {_file(settings, location)}."
        )
        return
    journal = DownloadJournal(settings.data / FILE)
    # The same journal as the page writes: a server resumes what this process leaves unfinished.
    with journal.holding(JournalEntry(chosen, use=not _decides_otherwise(settings))):
        pulled = model_commands.fetch(chosen, settings, terminal.output, terminal.asides)
    _keep(pulled.name, settings, location, options, terminal)


def _choose(
    proposed: Recommended | None, hardware: Hardware, options: SetupOptions, terminal: Terminal
) -> str:
    """The model to download; "" for none. Raises BadRequest without a terminal and without a flag that decides."""
    terminal.say(f"\n{model_commands.available(hardware, proposed)}\n")
    if proposed is None:
        terminal.say(
            f"None of the recommended models fits, so {BUNDLED} stays the default. Try a smaller file (`duologue models pull "
            "OWNER/REPOSITORY`), or use another server: `duologue serve --upstream URL`."
        )
        return ""
    slow = " It will be slow here." if fit_of(proposed, hardware) == "slow" else ""
    terminal.say(
        f"* proposed: {proposed.name}, about {gigabytes(proposed.download_size)}, {proposed.licence}.{slow}"
    )
    if options.yes or options.dry_run:
        return proposed.name
    if terminal.ask is None:
        raise BadRequest(
            "There is no terminal to ask on. Pass --yes to accept the proposal, --model NAME for another model, or --dry-run "
            "to see what would be done."
        )
    return _ask_which(proposed, terminal)


def _ask_which(proposed: Recommended, terminal: Terminal) -> str:
    while True:
        answer = terminal.answer(f"Which one? Enter for {proposed.name}, another name, or `no`: ")
        if answer.lower() in NO:
            terminal.say(f"Nothing was downloaded; {BUNDLED} stays the default.")
            return ""
        try:
            reference.parse(answer or proposed.name)
        except Problem as problem:
            terminal.say(problem.message)
        else:
            return answer or proposed.name


def _decides_otherwise(settings: Settings) -> bool:
    """Whether the settings choose what answers in a way that one line cannot change."""
    return bool(settings.workers) or settings.engine in ("remote", "scripted")


def _file(settings: Settings, location: SettingLocation) -> Path:
    return location.file or settings.data / FILE_NAME


def _keep(
    name: str, settings: Settings, location: SettingLocation, options: SetupOptions, terminal: Terminal
) -> None:
    """Make `name` the default from the next start on if one line of the settings does it; otherwise say what to do."""
    file = _file(settings, location)
    start = "Start the server with `duologue serve`, or restart a running one."
    if _decides_otherwise(settings):
        what = "lists workers" if settings.workers else f"chooses the engine {settings.engine}"
        terminal.say(
            f"{file} {what}, so it was not changed. To use {name}, add `{model_line(name)}` in the right place."
        )
        return
    if settings.model != name:
        if terminal.ask is not None and not options.yes:
            answer = terminal.answer(
                f"Make {name} the default from the next start on? This writes {file}. [Y/n] "
            )
            if answer.lower() in NO:
                terminal.say(
                    f"The settings were not changed. To use it once: `duologue serve --model {name}`."
                )
                return
        write_model(file, name)
        terminal.say(f"Wrote `{model_line(name)}` to {file}.")
    if location.environ.get("DUOLOGUE_MODEL", name) not in ("", name):
        terminal.say("DUOLOGUE_MODEL is set and overrides the file: unset it or change it.")
        return
    terminal.say(start)
