"""A clip with sound as frames: time and memory; and what eight chats notice of an upload of 200 MB, and of a video that is read.

    python bench/bench_media.py [--seconds 60] [--upload-mb 200]

The clip has 720p, 30 frames a second, and is made first. Then a server plays scripts to eight chats, and the longest silence inside a
reply is taken: alone, beside the upload, and beside a request with the clip.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from array import array
from fractions import Fraction
from pathlib import Path
from typing import Any

from load import free_port, wait_ready

CHATS = 8
SILENCE_TARGET = 0.2
"""Seconds."""


def clip(seconds: int) -> bytes:
    """A moving picture of 720p and a tone, as H.264 and AAC in MP4."""
    import av
    from PIL import Image

    shades = Image.linear_gradient("L").resize((1280, 720)).convert("RGB")
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as file:
        shown = file.add_stream("libx264", rate=30, options={"preset": "ultrafast", "crf": "28"})
        shown.width, shown.height, shown.pix_fmt = 1280, 720, "yuv420p"
        heard = file.add_stream("aac", rate=48_000)
        heard.layout = "mono"
        tone = array("f", [0.1 * ((at // 50) % 2) for at in range(48_000)]).tobytes()
        pictures: list[Any] = [shades.rotate(angle * 3) for angle in range(10)]
        frames = [av.VideoFrame.from_image(picture) for picture in pictures]  # type: ignore[no-untyped-call]
        for second in range(seconds):
            sound = av.AudioFrame(format="flt", layout="mono", samples=48_000)
            sound.planes[0].update(tone)
            sound.sample_rate, sound.pts = 48_000, second * 48_000
            file.mux(heard.encode(sound))
            for number in range(30):
                frame = frames[number // 3]
                frame.pts, frame.time_base = second * 30 + number, Fraction(1, 30)
                file.mux(shown.encode(frame))
        for stream in (shown, heard):
            file.mux(stream.encode(None))
    return buffer.getvalue()


def peak_mb(pid: int) -> int:
    """The most memory a process has had; 0 once it has ended."""
    try:
        after = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2]
    except OSError:
        return 0
    return int(after.split()[0]) // 1024 if after else 0


async def frames_of(data: bytes) -> None:
    """Read the clip in a decoder process, watching its memory."""
    from duologue.decoder.service import close, decode, decode_stream
    from duologue.media.videos import VideoReading, measure_video, read_moments

    started = time.perf_counter()
    measured = await decode(measure_video, data)
    print(
        f"measured {measured.seconds:.1f} s of {measured.width}x{measured.height} in {time.perf_counter() - started:.2f} s"
    )
    started, first, count, size, sound, peak = time.perf_counter(), 0.0, 0, 0, 0, 0
    async with decode_stream(read_moments, data, VideoReading(64, 0.6, 30)) as moments:
        async for moment in moments:
            first = first or time.perf_counter() - started
            count, size, sound = count + 1, size + len(moment.picture), sound + len(moment.samples)
            for child in children():
                peak = max(peak, peak_mb(child))
    whole = time.perf_counter() - started
    print(
        f"{count} frames ({size // 1024} KB) and {sound / 64_000:.0f} s of sound: first {first:.2f} s, all {whole:.2f} s, "
        f"at most {peak} MB"
    )
    close()


def children() -> list[int]:
    """The children of the fork server, which is a child of this process."""
    found: list[int] = []
    for server in _children(os.getpid()):
        found += _children(server)
    return found


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


async def chats(port: int, until: asyncio.Event) -> float:
    """The longest silence, in seconds, inside the replies of eight chats."""
    from websockets.asyncio.client import connect

    async def talk() -> float:
        longest = 0.0
        async with connect(f"ws://127.0.0.1:{port}/ws/chat") as socket:
            while not until.is_set():
                text = "/pace 20\n/repeat 100 word "
                await socket.send(json.dumps({"messages": [{"role": "user", "content": text}]}))
                last = 0.0
                while (kind := json.loads(await socket.recv())["type"]) != "done":
                    now = time.perf_counter()
                    if kind == "chunk":
                        longest = max(longest, now - last) if last else longest
                        last = now
        return longest

    return max(await asyncio.gather(*(talk() for _ in range(CHATS))))


async def beside(port: int, name: str, work: list[str]) -> None:
    """Run a client in a process of its own among the chats."""
    over = asyncio.Event()
    talking = asyncio.create_task(chats(port, over))
    await asyncio.sleep(1)
    started = time.perf_counter()
    if work:
        process = await asyncio.create_subprocess_exec(*work, stdout=subprocess.PIPE)
        answer, _ = await process.communicate()
        name += f" ({time.perf_counter() - started:.1f} s, {answer.decode().strip()})"
    else:
        await asyncio.sleep(5)
    over.set()
    longest = await talking
    verdict = "" if longest <= SILENCE_TARGET else f"  over {SILENCE_TARGET * 1000:.0f} ms"
    print(f"{name}: longest silence {longest * 1000:.0f} ms{verdict}")


def neighbours(data: bytes, upload_mb: int) -> None:
    """A server among whose chats files are sent."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        options = json.dumps({"kind": "chat", "modalities": ["text", "image", "audio"]})
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
        environment |= {"DUOLOGUE_OPTIONS": options, "DUOLOGUE_VOICE__ENABLED": "false"}
        command = ["serve", "--engine", "scripted", "--port", str(port), "--data", folder]
        server = subprocess.Popen(
            [sys.executable, "-m", "duologue", *command],
            env=environment | {"DUOLOGUE_SUPERVISE": "false"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            wait_ready(f"{url}/ready", server)
            large, body = Path(folder) / "large.bin", Path(folder) / "body.json"
            large.write_bytes(os.urandom(upload_mb * 2**20))
            video = f"data:video/mp4;base64,{base64.b64encode(data).decode()}"
            part = {"type": "video_url", "video_url": {"url": video}}
            body.write_text(json.dumps({"messages": [{"role": "user", "content": [part]}]}))
            post = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "120"]
            upload = [*post, "--data-binary", f"@{large}", f"{url}/api/blobs?name=large.bin"]
            ask = [*post, "-H", "content-type: application/json", "--data-binary", f"@{body}"]
            asyncio.run(beside(port, "eight chats alone", []))
            asyncio.run(beside(port, f"beside an upload of {upload_mb} MB", upload))
            asyncio.run(beside(port, "beside a request with the clip", [*ask, f"{url}/v1/chat/completions"]))
            print(f"the gateway's memory: at most {peak_mb(server.pid)} MB")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--upload-mb", type=int, default=200)
    arguments = parser.parse_args()
    started = time.perf_counter()
    data = clip(arguments.seconds)
    print(
        f"a clip of {arguments.seconds} s, {len(data) / 2**20:.1f} MB, made in {time.perf_counter() - started:.1f} s"
    )
    asyncio.run(frames_of(data))
    neighbours(data, arguments.upload_mb)


if __name__ == "__main__":
    main()
