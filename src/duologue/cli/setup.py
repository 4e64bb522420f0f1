"""`duologue setup`: from "what fits this machine?" to a server that answers with a better model.

Owns the conversation: what is shown, asked and then done, with a terminal or without. What fits is decided in the
models room, the download is the library's, the settings file is written by config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from duologue.cli import model_commands
from duologue.cli.doctor import check_gpu
from duologue.config import Settings
from duologue.config.reading import FILE_NAME
from duologue.config.writing import model_line, write_model
from duologue.engines.hardware import describe, probe_hardware
from duologue.errors import BadRequest, Problem
from duologue.models.catalogue import BUNDLED
from duologue.models.fit import Hardware, fit_of, recommend
from duologue.models.hub import reference
from duologue.models.hub.repository import gigabytes
from duologue.models.recommended import RECOMMENDED, Recommended

NO = frozenset({"n", "no", "none", "q", "quit"})


class Wish(Struct, frozen=True):
    """What was asked for by flags. `model`: this one. `yes`: ask nothing. `dry_run`: change and download nothing."""

    model: str = ""
    yes: bool = False
    dry_run: bool = False


class SettingLocation(Struct, frozen=True):
    """Where the setting goes: the file in use (None: none yet), and the environment, which wins over it."""

    file: Path | None
    environ: Mapping[str, str]


class Talk(Struct, frozen=True):
    """The person. `ask` takes a question and gives the answer; None where there is no terminal to ask on."""

    output: TextIO
    asides: TextIO
    ask: Callable[[str], str] | None = None

    def say(self, text: str) -> None:
        self.output.write(text + "\n")
        self.output.flush()

    def answer(self, question: str) -> str:
        """What a person answers; "no" when they end the input instead."""
        assert self.ask is not None
        try:
            return self.ask(question).strip()
        except EOFError:
            return "no"


def set_up(settings: Settings, place: SettingLocation, wish: Wish, talk: Talk) -> None:
    """Show, choose, download, and make the choice last. Raises Problem."""
    folder = model_commands.models_folder(settings)
    hardware = probe_hardware(folder)
    talk.say(f"This machine: {describe(hardware, folder)}.")
    for finding in check_gpu(settings):
        if finding.state != "ok":
            talk.say(finding.text)
    proposed = recommend(RECOMMENDED, hardware)
    chosen = wish.model or _choose(proposed, hardware, wish, talk)
    if not chosen:
        return
    reference.parse(chosen)
    if wish.dry_run:
        talk.say(f"Would download {chosen} into {folder}, and write the model into {_file(settings, place)}.")
        return
    pulled = model_commands.fetch(chosen, settings, talk.output, talk.asides)
    _keep(pulled.name, settings, place, wish, talk)


def _choose(proposed: Recommended | None, hardware: Hardware, wish: Wish, talk: Talk) -> str:
    """The model to download; "" for none. Raises BadRequest where nobody can be asked and nothing was said."""
    talk.say(f"\n{model_commands.available(hardware, proposed)}\n")
    if proposed is None:
        talk.say(
            f"None of the proposals fits, so {BUNDLED} stays. A smaller file may do (`duologue models pull "
            "OWNER/REPOSITORY`), or a server elsewhere that answers: `duologue serve --upstream URL`."
        )
        return ""
    slow = " It will be slow here." if fit_of(proposed, hardware) == "slow" else ""
    talk.say(f"* proposed: {proposed.name}, about {gigabytes(proposed.size)}, {proposed.licence}.{slow}")
    if wish.yes or wish.dry_run:
        return proposed.name
    if talk.ask is None:
        raise BadRequest(
            "There is no terminal to ask on. Say --yes to take the proposal, --model NAME for another, or --dry-run "
            "to only look."
        )
    return _ask_which(proposed, talk)


def _ask_which(proposed: Recommended, talk: Talk) -> str:
    while True:
        answer = talk.answer(f"Which one? Enter for {proposed.name}, another name, or `no`: ")
        if answer.lower() in NO:
            talk.say(f"Nothing was downloaded; {BUNDLED} stays.")
            return ""
        try:
            reference.parse(answer or proposed.name)
        except Problem as problem:
            talk.say(problem.message)
        else:
            return answer or proposed.name


def _file(settings: Settings, place: SettingLocation) -> Path:
    return place.file or settings.data / FILE_NAME


def _keep(name: str, settings: Settings, place: SettingLocation, wish: Wish, talk: Talk) -> None:
    """Make the next start answer with the model `name`, where that is one line in a file; else say what to do."""
    file = _file(settings, place)
    start = "Start the server: `duologue serve`. One that runs already must be started anew."
    if settings.workers or settings.engine in ("remote", "scripted"):
        what = "lists workers" if settings.workers else f"chooses the engine {settings.engine}"
        talk.say(
            f"{file} {what}, so it is left alone. To use {name}, write `{model_line(name)}` where it belongs."
        )
        return
    if settings.model != name:
        if talk.ask is not None and not wish.yes:
            answer = talk.answer(f"Answer with {name} from the next start on? This writes {file}. [Y/n] ")
            if answer.lower() in NO:
                talk.say(f"Left as it is. To use it once: `duologue serve --model {name}`.")
                return
        write_model(file, name)
        talk.say(f"`{model_line(name)}` is written to {file}.")
    if place.environ.get("DUOLOGUE_MODEL", name) not in ("", name):
        talk.say("But DUOLOGUE_MODEL is set, and wins over the file: unset it, or change it.")
        return
    talk.say(start)
