import { describe, expect, it } from "vitest";

import { Resampler } from "../../../src/voice/audio/resampler";

function sine(rate: number, hertz: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(rate * seconds) }, (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate));
}

function through(from: number, to: number, input: Float32Array, piece = input.length): Float32Array {
  const resampler = new Resampler(from, to);
  const out: number[] = [];
  for (let at = 0; at < input.length; at += piece) out.push(...resampler.push(input.subarray(at, at + piece)));
  out.push(...resampler.finish());
  return Float32Array.from(out);
}

/** Amplitude of a tone in a signal, without its ends; 0.5 is unchanged. */
function strength(sound: Float32Array, rate: number, hertz: number): number {
  const inside = sound.subarray(Math.floor(rate * 0.05), Math.floor(rate * 0.45));
  let [sine, cosine] = [0, 0];
  inside.forEach((value, at) => {
    sine += value * Math.sin((2 * Math.PI * hertz * at) / rate);
    cosine += value * Math.cos((2 * Math.PI * hertz * at) / rate);
  });
  return (2 * Math.hypot(sine, cosine)) / inside.length;
}

const loudest = (sound: Float32Array) => sound.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const ways = [
  [48000, 16000],
  [44100, 16000],
  [32000, 16000],
  [96000, 16000],
  [8000, 16000],
  [24000, 48000],
  [24000, 44100],
] as const;

describe.each(ways)("sound at %i Hz as sound at %i Hz", (from, to) => {
  it("lasts as long, to the sample", () => {
    const out = through(from, to, sine(from, 440, 0.5));
    expect(out.length).toBe(Math.ceil((from * 0.5 * to) / from));
  });

  it("keeps what speech is made of as it was", () => {
    for (const hertz of [120, 1000, 3000]) expect(strength(through(from, to, sine(from, hertz, 0.5)), to, hertz)).toBeCloseTo(0.5, 2);
  });

  it("keeps its time: a click stays where it was", () => {
    const click = new Float32Array(from / 10);
    click[from / 20] = 1;
    const out = through(from, to, click);
    const at = out.reduce((best, value, index) => (Math.abs(value) > Math.abs(out[best]!) ? index : best), 0);
    expect(Math.abs(at - to / 20)).toBeLessThanOrEqual(1);
  });

  it("lets a constant through unchanged", () => {
    const out = through(from, to, new Float32Array(from / 10).fill(0.25));
    expect(out[Math.floor(out.length / 2)]).toBeCloseTo(0.25, 4);
  });

  it("is the same however it is cut", () => {
    const input = sine(from, 700, 0.1);
    const whole = through(from, to, input);
    for (const piece of [1, 37, 128]) expect(through(from, to, input, piece)).toEqual(whole);
  });
});

describe("what does not fit into the lower rate", () => {
  it("has no audible aliasing", () => {
    for (const [from, hertz] of [[48000, 9500], [48000, 15000], [44100, 12000], [96000, 30000]] as const) {
      const out = through(from, 16000, sine(from, hertz, 0.5)).subarray(400, -400);
      expect(loudest(out)).toBeLessThan(0.0005);
    }
  });

  it("leaves no mirror image above, going up", () => {
    expect(strength(through(24000, 48000, sine(24000, 3000, 0.5)), 48000, 21000)).toBeLessThan(0.0005);
  });
});

it("hands sound of the right rate on as it is", () => {
  const input = sine(16000, 440, 0.01);
  expect(new Resampler(16000, 16000).push(input)).toBe(input);
});
