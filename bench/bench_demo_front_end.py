"""Try the pages of the MiniCPM-o demo, unmodified, against a running server, and print what works.

    python bench/bench_demo_front_end.py [--server http://127.0.0.1:8006] [--demo FOLDER] [--only TEXT] [--headed]

Without `--demo` its repository is cloned into a temporary folder, which takes a network. Its pages are served by a small proxy that
passes everything else to the server; Chromium has a camera and a microphone of its own, into which the server's voice asks a
question every few seconds. Only the pages' own requests are made: nothing of that repository is part of this one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Error, sync_playwright

from demo_front_end.features import FEATURES
from demo_front_end.proxy import serving

REPOSITORY = "https://github.com/OpenBMB/MiniCPM-o-Demo"
QUESTION = "What can you do?"


@contextmanager
def demo(folder: Path | None) -> Iterator[Path]:
    """The demo's folder `static`."""
    if folder is not None:
        yield folder / "static"
        return
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", REPOSITORY, temporary], check=True)
        yield Path(temporary) / "static"


def microphone(server: str, file: Path) -> None:
    """What the browser hears, over and over: three seconds of silence, the question, and time for an answer."""
    body = {"model": "tts", "input": QUESTION, "response_format": "pcm"}
    pcm = httpx.post(f"{server}/v1/audio/speech", json=body, timeout=120).raise_for_status().content
    with wave.open(str(file), "wb") as sound:
        sound.setparams((1, 2, 24_000, 0, "NONE", ""))
        sound.writeframes(bytes(3 * 48_000) + pcm + bytes(12 * 48_000))


def tried(browser: Browser, url: str, only: str) -> Iterator[tuple[str, str, str, str]]:
    """Each feature: its page, its name, whether it works, and a remark."""
    listed = httpx.get(f"{url}/api/apps").json()
    left_out = {app["route"]: app["reason"]["message"] for app in listed["unavailable"]}
    for path, name, feature in FEATURES:
        if only and only not in f"{path} {name}":
            continue
        if path in left_out:
            # The page itself goes back to the first one then.
            yield path, name, "-", f"left out: {left_out[path]}"
            continue
        context = browser.new_context(
            permissions=["camera", "microphone"], viewport={"width": 1400, "height": 950}
        )
        page = context.new_page()
        try:
            yield path, name, "works", feature(page, url)
        except (Error, AssertionError) as error:
            yield path, name, "FAILS", str(error).strip().splitlines()[0][:120]
        finally:
            context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--server", default="http://127.0.0.1:8006")
    parser.add_argument("--demo", type=Path, help="a folder with the demo's repository")
    parser.add_argument("--only", default="", help="only features whose page or name contains this")
    parser.add_argument("--headed", action="store_true")
    options = parser.parse_args()
    missing: list[str] = []
    failed = 0
    with (
        demo(options.demo) as static,
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
    ):
        sound = Path(folder) / "question.wav"
        microphone(options.server, sound)
        flags = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
        flags += [
            f"--use-file-for-fake-audio-capture={sound}",
            "--autoplay-policy=no-user-gesture-required",
            "--no-sandbox",
        ]
        executable = next(
            (path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), None
        )
        browser = playwright.chromium.launch(
            headless=not options.headed, args=flags, executable_path=executable
        )
        with serving(static, options.server, missing) as url:
            print(f"{'page':15} {'feature':28} {'':6} remark")
            for path, name, verdict, remark in tried(browser, url, options.only):
                failed += verdict == "FAILS"
                print(f"{path:15} {name:28} {verdict:6} {remark}", flush=True)
        browser.close()
    print("addresses that the server does not have: " + (", ".join(missing) or "none"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
