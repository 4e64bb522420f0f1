"""The lip error in a real Chromium: when a mouth is drawn open or closed, against when its sound is audible. Used by `bench_lips.py`.

The other end of a call is played here: tones and silences of random length, and a mouth that is open exactly during the tones. A second worklet
behind the page's player notes the rendered sample at which each tone begins and ends, and the browser's output clock
(`getOutputTimestamp`) says when that sample is audible. A mouth is drawn open when the dark inside of Mira's mouth is seen on her canvas,
looked for after each frame's script. What is drawn is on the screen with the next refresh, up to 17 ms later, which is not in the figures.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from playwright.sync_api import WebSocketRoute, sync_playwright

from bench_face import BROWSERS, BUILT, RATE, SWITCHES, preferred, slowed, with_voice
from load import duologue

SHORTEST, LONGEST = 0.14, 0.34
"""Seconds of a tone or silence."""
SEARCHED = 130.0
"""Milliseconds around a sound in which its mouth is sought: less than the shortest sound."""
RAMP = RATE // 100
"""Samples before and after an edge in which the mouth opens or closes: it is halfway exactly there."""

LISTENER = """class Listener extends AudioWorkletProcessor {
  constructor() { super(); this.loud = false; this.quiet = 0; }
  process([[sound]]) {
    if (sound) for (let at = 0; at < sound.length; at++) {
      const isLoud = Math.abs(sound[at]) > 0.02;
      this.quiet = isLoud ? 0 : this.quiet + 1;
      if (isLoud && !this.loud) this.port.postMessage([true, (currentFrame + at) / sampleRate]);
      // A tone passes through zero: it is over after 3 ms, counted from their beginning.
      const isOver = this.loud && this.quiet > 0.003 * sampleRate;
      if (isOver) this.port.postMessage([false, (currentFrame + at - this.quiet) / sampleRate]);
      this.loud = isLoud || (this.loud && !isOver);
    }
    return true;
  }
}
registerProcessor('listener', Listener);"""

WATCH = (
    """(() => {
  window.sounds = []; window.mouths = []; window.latencies = [];
  const connect = AudioWorkletNode.prototype.connect;
  let clock = null;
  AudioWorkletNode.prototype.connect = function (to, ...rest) {
    const context = this.context;
    // The player has no input; the microphone, which has one, also leads there.
    if (to === context.destination && this.numberOfInputs === 0 && clock === null) {
      clock = context;
      const code = URL.createObjectURL(new Blob([LISTENER], { type: 'text/javascript' }));
      context.audioWorklet.addModule(code).then(() => {
        const listener = new AudioWorkletNode(context, 'listener');
        connect.call(this, listener);
        // It is silent, but what leads nowhere is not run.
        connect.call(listener, context.destination);
        window.listening = true;
        listener.port.onmessage = ({ data: [isLoud, at] }) => {
          const { contextTime, performanceTime } = context.getOutputTimestamp();
          window.sounds.push([isLoud, performanceTime + (at - contextTime) * 1000]);
          window.latencies.push(context.outputLatency * 1000);
        };
      });
    }
    return connect.call(this, to, ...rest);
  };
  const asked = requestAnimationFrame.bind(window);
  let wasOpen = false;
  const isOpen = (canvas) => {
    const [x, y, side] = [canvas.width * 0.3, canvas.height * 0.54, canvas.width * 0.4].map(Math.round);
    const { data } = canvas.getContext('2d').getImageData(x, y, side, Math.round(side * 0.6));
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (Math.abs(data[at] - 0x6b) < 14 && Math.abs(data[at + 1] - 0x1f) < 14 && Math.abs(data[at + 2] - 0x2b) < 14) count++;
    window.mostOpen = Math.max(window.mostOpen ?? 0, count);
    return count > window.mostOpen / 3;
  };
  window.requestAnimationFrame = (callback) => asked((now) => {
    callback(now);
    const drawn = performance.now();
    const canvas = document.querySelector('dialog canvas.ready');
    if (!canvas || !canvas.width || !clock) return;
    const open = isOpen(canvas);
    if (open !== wasOpen) window.mouths.push([open, drawn]);
    wasOpen = open;
  });
})()"""
).replace("LISTENER", json.dumps(LISTENER))


def scene(seconds: float) -> tuple[bytes, list[list[int]]]:
    """Sound and mouth: tones with an open mouth, silences with a closed one."""
    chance = random.Random(3)
    pcm, keys = array("h"), [[0, 0, 0, 0, 0, 0]]
    opened = False
    while len(pcm) < seconds * RATE:
        length = int(chance.uniform(SHORTEST, LONGEST) * RATE)
        begin = len(pcm)
        loudness = 9000 if opened else 0
        pcm.extend(
            round(loudness * math.sin(2 * math.pi * 440 * at / RATE + 1)) if loudness else 0
            for at in range(length)
        )
        opened = not opened
        edge = begin + length
        keys += [
            [edge - RAMP, 0 if opened else 90, 0, 0, 0, 0],
            [edge + RAMP, 90 if opened else 0, 0, 0, 0, 0],
        ]
    return pcm.tobytes(), keys


def other_end(seconds: float) -> Callable[[WebSocketRoute], None]:
    pcm, keys = scene(seconds)

    def answer(socket: WebSocketRoute) -> None:
        def hear(message: str | bytes) -> None:
            if not isinstance(message, str) or json.loads(message)["type"] != "start":
                return
            for said in (
                {"type": "status", "state": "speaking"},
                {"type": "audio_start", "reply_id": 1, "chunk_id": 0},
                {"type": "mouth", "reply_id": 1, "keys": keys},
            ):
                socket.send(json.dumps(said | {"epoch": 0}))
            for at in range(0, len(pcm), 2 * RATE):
                socket.send(pcm[at : at + 2 * RATE])

        socket.on_message(hear)

    return answer


def offsets(
    sounds: Sequence[tuple[bool, float]], mouths: Sequence[tuple[bool, float]], opens: bool
) -> list[float | None]:
    """Milliseconds from each beginning (or end) of a sound to the nearest mouth of the kind; None without one near it."""
    drawn = [at for is_open, at in mouths if is_open == opens]
    found: list[float | None] = []
    for _, at in (sound for sound in sounds if sound[0] == opens):
        place = bisect_left(drawn, at)
        near = min((value - at for value in drawn[max(0, place - 1) : place + 1]), key=abs, default=math.inf)
        found.append(near if abs(near) <= SEARCHED else None)
    return found


def measure_page(seconds: float, throttle: float) -> tuple[dict[str, list[float | None]], dict[str, float]]:
    """The offsets in ms of opening and closing mouths, and figures of the run."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None or not BUILT.exists():
        raise SystemExit("install the package `chromium`, and run `make web`")
    with duologue("--engine", "scripted") as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        # Light, since the colour of the mouth is looked for; the listener's worklet comes from no server.
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme="light", bypass_csp=True
        )
        page = context.new_page()
        page.add_init_script(WATCH)
        page.route("**/api/capabilities", with_voice)
        page.route("**/api/settings", lambda route: preferred(route, "mira"))
        page.route_web_socket("**/ws/voice", other_end(seconds))
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_role("button", name="Call", exact=True).click()
        page.locator("dialog canvas.ready").first.wait_for()
        page.wait_for_function("() => window.listening")
        slowed(page, throttle)
        page.wait_for_timeout((seconds + 1) * 1000)
        sounds: Any = page.evaluate("() => window.sounds")
        mouths: Any = page.evaluate("() => window.mouths")
        latencies: list[float] = page.evaluate("() => window.latencies")
        browser.close()
    # The face may have come after the first sounds, and the first of them says how far open is.
    begin = mouths[2][1] + SEARCHED if len(mouths) > 2 else math.inf
    sounds = [sound for sound in sounds if begin < sound[1] < mouths[-1][1] - SEARCHED]
    kinds = {"opens": offsets(sounds, mouths, True), "closes": offsets(sounds, mouths, False)}
    return kinds, {"output latency": sum(latencies) / max(1, len(latencies))}
