import { describe, expect, it } from "vitest";

import { loudness, SampleAligner, toFloat32, toInt16 } from "../../../src/voice/audio/samples";

describe("samples", () => {
  it("are cut off where they are louder than can be", () => {
    expect([...toInt16(Float32Array.of(0, 1, -1, 2, -2, 0.5))]).toEqual([0, 32767, -32768, 32767, -32768, 16384]);
  });

  it("come back as they were", () => {
    const whole = Int16Array.of(0, 1, -1, 32767, -32768, 1234);
    expect(toInt16(toFloat32(whole))).toEqual(whole);
  });

  it("have a loudness", () => {
    expect(loudness(new Float32Array(0))).toBe(0);
    expect(loudness(Float32Array.of(0.5, -0.5))).toBeCloseTo(0.5);
  });
});

it("puts samples together from bytes that were cut anywhere", () => {
  const bytes = Uint8Array.of(1, 0, 255, 255, 0, 128, 7, 0);
  for (const piece of [1, 2, 3, 5, 8]) {
    const whole = new SampleAligner();
    const out: number[] = [];
    for (let at = 0; at < bytes.length; at += piece) out.push(...whole.push(bytes.subarray(at, at + piece)), ...whole.push(new Uint8Array(0)));
    expect(out).toEqual([1, -1, -32768, 7]);
  }
});
