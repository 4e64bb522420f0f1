"""`duologue setup voice`: choose a voice pack, download it, and have the next start of the server use it.

Works with a terminal, where it asks, and without one, where flags decide. A running server does the same in its voice settings,
without a restart.
"""

from __future__ import annotations

import anyio
from msgspec import Struct

from duologue.cli import model_commands
from duologue.cli.progress import Display, watch_on
from duologue.cli.setup import NO, Terminal
from duologue.config import Settings
from duologue.decoder import service as decoder
from duologue.errors import BadRequest, Problem
from duologue.gateway.models.download_journal import PACKS_FILE, DownloadJournal, JournalEntry
from duologue.gateway.speech.pack_download import download_archive, missing_archives, unpack_archive
from duologue.gateway.speech.turn_end_download import download_turn_end
from duologue.gateway.workers.load_specs import names_engine
from duologue.models import installed_packs
from duologue.models.hub.http import HubConnection
from duologue.models.hub.repository import gigabytes
from duologue.models.voice_packs import PACKS, VoicePack, find_pack


class VoiceSetupOptions(Struct, frozen=True):
    """The flags. `pack`: use this one. `yes`: accept the proposal. `dry_run`: change and download nothing."""

    pack: str = ""
    yes: bool = False
    dry_run: bool = False


def set_up_voice(settings: Settings, options: VoiceSetupOptions, terminal: Terminal, language: str) -> None:
    """Propose, ask, download and remember. `language` is the tag of the user's. Raises Problem."""
    voice = settings.voice
    if names_engine(voice.recogniser) and names_engine(voice.speaker):
        raise BadRequest(
            "The settings name voice.recogniser and voice.speaker, which stay in use whichever pack is chosen. Remove them "
            "to use a voice pack."
        )
    terminal.say(pack_table(settings))
    pack = find_pack(options.pack) if options.pack else _choose(proposed(language), options, terminal)
    if pack is None:
        return
    if options.dry_run:
        missing = sum(archive.size for archive in missing_archives(pack, settings.data))
        terminal.say(f"Would download {gigabytes(missing)} for the voice pack {pack.name}, and use it.")
        return
    journal = DownloadJournal(settings.data / PACKS_FILE)
    # The same journal as the page writes: a server resumes what this process leaves unfinished.
    with journal.holding(JournalEntry(pack.name, use=True)):
        _install(pack, settings, terminal)
    installed_packs.choose_pack(settings.data, pack.name)
    terminal.say(
        f"The voice pack {pack.name} is used from the next start on. Start the server with `duologue serve`, or restart a "
        "running one; or choose the pack in its voice settings."
    )


def pack_table(settings: Settings) -> str:
    """The voice packs, and which are here."""
    chosen = installed_packs.chosen_pack(settings.data)
    here = installed_packs.installed_packs(settings.data)
    rows = [("", "PACK", "SIZE", "RECOGNISER", "VOICE", "LICENCES", "INSTALLED")]
    for pack in PACKS:
        rows.append(
            (
                "*" if pack == chosen else "",
                pack.name,
                gigabytes(pack.size),
                pack.recogniser.does,
                pack.speaker.does,
                " and ".join(dict.fromkeys(archive.licence for archive in pack.archives)),
                "yes" if pack in here else "",
            )
        )
    return model_commands.table(rows)


def proposed(language: str) -> VoicePack:
    """The first pack for a language, else the first of all."""
    main = language.partition("-")[0].lower()
    return next((pack for pack in PACKS if pack.languages[0] == main), PACKS[0])


def _choose(pack: VoicePack, options: VoiceSetupOptions, terminal: Terminal) -> VoicePack | None:
    """The pack to use; None for none. Raises BadRequest without a terminal and without a flag that decides."""
    if options.yes or options.dry_run:
        return pack
    if terminal.ask is None:
        raise BadRequest(
            f"There is no terminal to ask on. Pass --yes to accept the pack {pack.name}, --pack NAME for another one, or "
            "--dry-run to see what would be done."
        )
    while True:
        answer = terminal.answer(f"Which one? Enter for {pack.name}, another name, or `no`: ")
        if answer.lower() in NO:
            terminal.say("Nothing was downloaded; the voice stays as it is.")
            return None
        try:
            return find_pack(answer) if answer else pack
        except Problem as problem:
            terminal.say(problem.message)


def _install(pack: VoicePack, settings: Settings, terminal: Terminal) -> None:
    """Download and unpack what is missing."""
    display = watch_on(terminal.asides)
    try:
        with model_commands.connect(display.say) as connection:
            for archive in missing_archives(pack, settings.data):
                path = download_archive(
                    connection, archive, settings.data, display, releases=settings.voice.packs_url
                )
                display.say(f"{archive.name}: unpacking")
                anyio.run(unpack_archive, path, archive, settings.data)
            if settings.voice.turn_end.brought_by_packs:
                _add_turn_end(pack, settings, connection, display)
    finally:
        decoder.close()


def _add_turn_end(pack: VoicePack, settings: Settings, connection: HubConnection, display: Display) -> None:
    """Download the one part that a pack works without."""
    if pack.turn_end is None or installed_packs.turn_end_file(pack, settings.data) is not None:
        return
    try:
        download_turn_end(connection, pack.turn_end, settings.data, display)
    except Problem as problem:
        display.say(f"{pack.turn_end.file} is left out, so turns end by their words alone: {problem.message}")
