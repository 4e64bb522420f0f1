import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { SoundCapture } from "../../src/capture/sound_capture.svelte";
import { voice as words } from "../../src/language/en/voice/voice";
import { MicrophoneError, type MicrophoneListener } from "../../src/voice/audio/microphone";
import { FakeClock } from "../clock";

let clock: FakeClock;
let listener: MicrophoneListener;
let on: boolean;
let refusal: MicrophoneError | null;
let sound: SoundCapture;

beforeEach(() => {
  [clock, on, refusal] = [new FakeClock(), false, null];
  const microphone = async (given: MicrophoneListener) => {
    if (refusal) throw refusal;
    [listener, on] = [given, true];
    return { device: "", setMuted: () => {}, stop: () => (on = false) };
  };
  sound = new SoundCapture({ microphone, clock, longest: 600 });
});

const hear = (frames: number) => {
  for (let frame = 0; frame < frames; frame++) listener.onFrame({ pcm: new Int16Array(320), level: 0.5 });
};

describe("a recording to attach", () => {
  it("is a WAV file of what was heard, and the microphone is off", async () => {
    await sound.press();
    hear(60);
    expect([sound.phase, sound.seconds, sound.volume, on]).toEqual(["recording", 1, 0.5, true]);
    await sound.press();
    expect([sound.phase, sound.taken?.size, sound.taken?.type, on]).toEqual(["taken", 44 + 60 * 640, "audio/wav", false]);
  });

  it("does not end when it is quiet, only when its time is over", async () => {
    await sound.press();
    hear(50 * 60);
    clock.pass(599_000);
    expect(sound.phase).toBe("recording");
    clock.pass(1000);
    expect([sound.phase, on]).toEqual(["taken", false]);
  });

  it("keeps what it has when the microphone is unplugged", async () => {
    await sound.press();
    hear(10);
    listener.onLost();
    expect(sound.taken?.size).toBe(44 + 6400);
  });

  it("says why there is no microphone, and can be tried again", async () => {
    refusal = new MicrophoneError("denied");
    await sound.press();
    expect([sound.phase, sound.problem]).toEqual(["idle", words().faults.denied]);
    refusal = null;
    await sound.press();
    expect([sound.phase, sound.problem]).toEqual(["recording", ""]);
  });

  it("can be thrown away, also while the microphone opens", async () => {
    const opening = sound.press();
    sound.discard();
    await opening;
    expect([sound.phase, on]).toEqual(["idle", false]);
    await sound.press();
    hear(5);
    sound.discard();
    expect([sound.phase, sound.seconds, sound.taken, on, clock.pending]).toEqual(["idle", 0, null, false, 0]);
  });
});
