import { describe, expect, it } from "vitest";

import { FRAME_SAMPLES, Framer } from "../../../src/voice/audio/framer";

function spoken(framer: Framer, rate: number, seconds: number, value = 0.5) {
  const frames = [];
  for (let at = 0; at < rate * seconds; at += 128) frames.push(...framer.push([new Float32Array(128).fill(value)], 128));
  return frames;
}

describe("what a microphone hears", () => {
  it.each([16000, 44100, 48000])("at %i Hz becomes fifty frames of 20 ms a second", (rate) => {
    const frames = spoken(new Framer(rate), rate, 2);
    expect(frames.every(({ pcm }) => pcm.length === FRAME_SAMPLES)).toBe(true);
    expect(Math.abs(frames.length - 100)).toBeLessThanOrEqual(1);
    expect(frames.at(-1)!.pcm[0]).toBeCloseTo(16384, -2);
    expect(frames.at(-1)!.level).toBeCloseTo(0.5, 2);
  });

  it("is silence while muted, so that time keeps counting", () => {
    const framer = new Framer(48000);
    framer.muted = true;
    const frames = spoken(framer, 48000, 1);
    expect(Math.abs(frames.length - 50)).toBeLessThanOrEqual(1);
    expect(frames.every(({ pcm, level }) => level === 0 && pcm.every((value) => value === 0))).toBe(true);
    framer.muted = false;
    expect(spoken(framer, 48000, 1).at(-1)!.level).toBeGreaterThan(0.4);
  });

  it("is one channel of two", () => {
    const framer = new Framer(16000);
    const left = new Float32Array(FRAME_SAMPLES).fill(0.5);
    const [frame] = framer.push([left, new Float32Array(FRAME_SAMPLES)], FRAME_SAMPLES);
    expect(frame!.pcm[0]).toBe(8192);
  });

  it("is silence where the microphone gives nothing for a moment", () => {
    const [frame] = new Framer(16000).push([], FRAME_SAMPLES);
    expect(frame!.level).toBe(0);
  });
});
